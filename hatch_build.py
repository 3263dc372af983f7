"""Build hook: compile the kernels where there is a C compiler, and install without them else."""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "driftfold/native/kernels.shared"


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles before a wheel or an editable install is made.

    A wheel gets variants for all levels of this machine's processor family, for it may be carried
    elsewhere; an editable install what this machine can run.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the library to what is built, or say why there is none."""
        if self.target_name != "wheel":
            return
        if os.environ.get("DRIFTFOLD_NATIVE", "").strip() == "0":
            self.app.display_warning("driftfold: DRIFTFOLD_NATIVE=0, so no kernels are compiled")
            return
        building = _building(Path(self.root))
        try:
            if version == "editable":
                if not building.up_to_date():
                    building.build(only=building.levels_here())
                return
            made = Path(tempfile.mkdtemp(prefix="driftfold-wheel-")) / "kernels.shared"
            building.build(made)
        except building.BuildError as error:
            self.app.display_warning(
                f"driftfold: {error}; installing without compiled kernels, which changes speed only"
            )
            return
        build_data["force_include"][str(made)] = INSIDE
        build_data["pure_python"] = False
        build_data["tag"] = building.platform_tag()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled for the wheel."""
        for path, inside in build_data["force_include"].items():
            if inside == INSIDE:
                Path(path).unlink(missing_ok=True)
                Path(path).parent.rmdir()


def _building(root: Path) -> ModuleType:
    """`driftfold.native.building`, without driftfold, whose dependencies may be absent."""
    path = root / "sim" / "driftfold" / "native" / "building.py"
    found = importlib.util.spec_from_file_location("driftfold_native_building", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # dataclasses look their module up
    found.loader.exec_module(module)
    return module
