"""Plug-ins: loaded when asked for, harmless when not used, clear when broken."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftfold import registry
from driftfold.errors import SpecError
from driftfold.registry import kinds
from driftfold.spec import digest, load_entry_points, load_plugins, load_spec, loaded_plugins

GOOD = '''
from dataclasses import dataclass
from driftfold.participation.base import Attendance, Participation
from driftfold.registry import register


class Nobody(Attendance):
    pass


@register("{kind}")
@dataclass(frozen=True)
class Odd(Participation):
    """Odd clients."""

    share: float = 0.5

    def attend(self, fleet):
        return Nobody()
'''


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Leave the registry and the modules as they were."""
    monkeypatch.syspath_prepend(str(tmp_path))
    load_spec("pca-synthetic")
    before = {name: dict(known) for name, known in registry._kinds.items()}
    modules = set(sys.modules)
    yield
    for name, known in before.items():
        registry._kinds[name].clear()
        registry._kinds[name].update(known)
    for name in set(sys.modules) - modules:
        if "plug" in name:
            del sys.modules[name]


def test_a_file_and_a_module_can_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "by_path.py").write_text(GOOD.format(kind="odd-path"))
    (tmp_path / "plug_by_name.py").write_text(GOOD.format(kind="odd-name"))
    load_plugins([str(tmp_path / "by_path.py"), "plug_by_name"])
    spec = load_spec(
        "pca-synthetic", overrides=["participation.kind=odd-path", "participation.share=0.25"]
    )
    assert spec.participation == kinds("participation")["odd-path"](share=0.25)
    assert {"driftfold_plugin_by_path", "plug_by_name"} <= set(loaded_plugins())


def test_a_plugin_that_is_not_used_changes_no_digest(tmp_path: Path) -> None:
    before = digest(load_spec("pca-synthetic"))
    (tmp_path / "plug_unused.py").write_text(GOOD.format(kind="unused"))
    load_plugins(["plug_unused"])
    assert digest(load_spec("pca-synthetic")) == before


def test_loading_twice_is_loading_once(tmp_path: Path) -> None:
    path = tmp_path / "plug_twice.py"
    path.write_text(GOOD.format(kind="twice"))
    load_plugins([str(path)])
    first = kinds("participation")["twice"]
    load_plugins([str(path)])
    assert kinds("participation")["twice"] is first


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("raise RuntimeError('no\\nway')", "RuntimeError: no way"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def (", "SyntaxError: "),
        (
            "import no_such_module_here",
            "ModuleNotFoundError: No module named 'no_such_module_here'",
        ),
        (GOOD.format(kind="bernoulli"), "SpecError: cannot register Odd as 'bernoulli'"),
        (GOOD.format(kind="half") + "\n1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
@pytest.mark.parametrize("by_path", [True, False])
def test_a_broken_plugin_is_named_with_its_cause_and_leaves_nothing(
    tmp_path: Path, text: str, cause: str, by_path: bool
) -> None:
    (tmp_path / "plug_broken.py").write_text(text)
    before = kinds("participation")
    name = str(tmp_path / "plug_broken.py") if by_path else "plug_broken"
    with pytest.raises(SpecError) as caught:
        load_plugins([name])
    assert str(caught.value).startswith(f"plug-in {name!r} failed as it was imported: {cause}")
    assert "\n" not in str(caught.value)
    assert kinds("participation") == before
    assert not [module for module in sys.modules if "plug_broken" in module]


def test_a_missing_plugin_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="plug-in 'plug_nowhere': no such module; install it"):
        load_plugins(["plug_nowhere"])
    with pytest.raises(SpecError, match=r"no such file: .*gone\.py"):
        load_plugins([str(tmp_path / "gone.py")])


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "plug_same.py").write_text("")
    load_plugins([str(tmp_path / "one" / "plug_same.py")])
    with pytest.raises(SpecError, match="loaded under the same name; rename one of them"):
        load_plugins([str(tmp_path / "two" / "plug_same.py")])


def test_entry_points_of_installed_distributions_are_loaded_on_request(tmp_path: Path) -> None:
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[driftfold.plugins]\nodd = plug_offered\n")
    (tmp_path / "plug_offered.py").write_text(GOOD.format(kind="offered"))
    assert "offered" not in kinds("participation")
    assert load_entry_points() == ["plug_offered"]
    assert "offered" in kinds("participation")
