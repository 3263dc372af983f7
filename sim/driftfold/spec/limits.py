"""Sizes that no machine could hold, refused before anything is allocated.

Two rules, both far above what is useful and far below what would harm: a field named ``clients`` is
at most `MOST_CLIENTS`, and what the components say they will hold in memory (`Footprint`) is
together at most `MOST_BYTES`.
"""

from typing import Any, Protocol, runtime_checkable

from driftfold.spec.parts import parts
from driftfold.spec.problems import Problems, join

MOST_CLIENTS = 10**8
"""Every client needs some 10^2 bytes, so this fleet would take the memory of a large machine."""

MOST_BYTES = 10**12
"""Data of one experiment: a terabyte."""


@runtime_checkable
class Footprint(Protocol):
    """Capability of a component: it knows how much memory its arrays will take."""

    def footprint(self) -> int:
        """Bytes that the component will hold, from its fields alone."""
        ...


def check_limits(spec: Any) -> None:
    """Raise `SpecError` when a specification asks for absurd sizes."""
    problems = Problems()
    total = 0
    for path, owner in parts(spec):
        clients = getattr(owner, "clients", 0)
        if isinstance(clients, int) and clients > MOST_CLIENTS:
            sentence = f"got {clients:,} clients, wanted at most {MOST_CLIENTS:,}; simulate fewer"
            problems.add(join(path, "clients"), sentence)
        elif isinstance(owner, Footprint):
            size = owner.footprint()
            total += size
            if size > MOST_BYTES:
                problems.add(path, f"its arrays would take {_bytes(size)}; {_ADVICE}")
    if not problems and total > MOST_BYTES:
        problems.add("", f"the arrays would take {_bytes(total)} together; {_ADVICE}")
    problems.raise_if_any()


_ADVICE = f"wanted at most {MOST_BYTES // 10**9:,} GB: fewer clients, samples or dimensions"


def _bytes(size: int) -> str:
    return f"{size // 10**9:,} GB"
