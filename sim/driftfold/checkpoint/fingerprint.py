"""Fingerprint: on what software and processor a run's numbers were made.

The same specification gives the same bits on one machine with one set of packages. A run that is
resumed elsewhere goes on, but says so: its fingerprint names what differs.
"""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import driftfold
from driftfold.native import library


@dataclass(frozen=True)
class Fingerprint:
    """What the bits of a run may depend on beside its specification.

    >>> old = Fingerprint({"numpy": "2.1.0", "cpu": ["X86_V3"]})
    >>> old.changes(Fingerprint({"numpy": "2.2.0", "cpu": ["X86_V3"]}))
    ['numpy: 2.1.0 -> 2.2.0']
    >>> old.digest
    '1039197fb3a6e679'
    """

    facts: Mapping[str, Any]
    """Package versions, processor features and plug-in hashes; ready for JSON."""

    @property
    def digest(self) -> str:
        """Short digest of the facts, 16 hexadecimal digits."""
        text = json.dumps(dict(self.facts), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def changes(self, now: "Fingerprint") -> list[str]:
        """Say what differs from this fingerprint to the one `now`, a sentence part for each."""
        names = sorted(self.facts.keys() | now.facts.keys())
        pairs = [(name, self.facts.get(name), now.facts.get(name)) for name in names]
        return [f"{name}: {old} -> {new}" for name, old, new in pairs if old != new]


def take_fingerprint(
    plugins: Mapping[str, str] = MappingProxyType({}), packages: Iterable[str] = ()
) -> Fingerprint:
    """Return the fingerprint of this process.

    `plugins` has a hash of the source of each plug-in by name (`driftfold.spec.loaded_plugins`).
    `packages` names further distributions whose versions matter to the run, such as "torch"; they
    are not imported.

    >>> sorted(take_fingerprint().facts)
    ['blas', 'cpu', 'driftfold', 'kernels', 'numpy', 'plugins', 'python', 'system']
    """
    facts = dict(_machine())
    facts["plugins"] = dict(sorted(plugins.items()))
    for name in packages:
        facts[name] = _version(name)
    return Fingerprint(facts)


@cache
def _machine() -> Mapping[str, Any]:
    from threadpoolctl import threadpool_info  # 10 ms, and wanted at the start of a run only

    build: Any = np.show_config(mode="dicts")
    return {
        "driftfold": driftfold.__version__,
        "numpy": np.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": sorted(build["SIMD Extensions"]["found"]),
        # The library chooses its kernels by the processor, and they round differently.
        "kernels": library().identity,  # None for the plain form
        "blas": _blas([pool for pool in threadpool_info() if pool["user_api"] == "blas"]),
    }


def _blas(pools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe NumPy's library; others, such as SciPy's own, are loaded or not by chance."""
    numpys = [pool for pool in pools if "numpy" in Path(pool["filepath"]).parent.name]
    return sorted(
        {
            f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}".strip()
            for pool in numpys or pools
        }
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
