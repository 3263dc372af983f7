"""Sizes that this machine cannot hold, refused before anything is allocated.

Two rules: a field named ``clients`` is at most `MOST_CLIENTS`, and what the components say they
will hold in memory (`Footprint`) is together at most what the machine has, in use or not.
"""

from typing import Any, Protocol, runtime_checkable

from driftfold.memory import gigabytes, machine_bytes
from driftfold.spec.parts import parts
from driftfold.spec.problems import Problems, join

MOST_CLIENTS = 10**8
"""Every client needs some 10^2 bytes, so this fleet would take the memory of a large machine."""


@runtime_checkable
class Footprint(Protocol):
    """Capability of a component: it knows how much memory its arrays will take."""

    def footprint(self) -> int:
        """Bytes that the component will hold, from its fields alone."""
        ...


def check_limits(spec: Any) -> None:
    """Raise `SpecError` when a specification asks for absurd sizes."""
    problems = Problems()
    total, most = 0, machine_bytes()
    there = f"this machine has {gigabytes(most)}: {_ADVICE}"
    for path, owner in parts(spec):
        clients = getattr(owner, "clients", 0)
        if isinstance(clients, int) and clients > MOST_CLIENTS:
            sentence = f"got {clients:,} clients, wanted at most {MOST_CLIENTS:,}; simulate fewer"
            problems.add(join(path, "clients"), sentence)
        elif isinstance(owner, Footprint):
            size = owner.footprint()
            total += size
            if size > most:
                problems.add(path, f"its arrays would take {gigabytes(size)}, {there}")
    if not problems and total > most:
        problems.add("", f"the arrays would take {gigabytes(total)} together, {there}")
    problems.raise_if_any()


_ADVICE = "ask for fewer clients, samples or dimensions"
