"""The faults of a campaign: a pure function of its seed, so a short one begins a long one."""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault that will be met.

    Attributes
    ----------
    number, kind
        1, 2, 3, ...; what is done.
    pause
        Seconds since the fault before.
    whom, length
        Who of several is hit, and for how long: parts of what there is, in [0, 1).
    """

    number: int
    kind: str
    pause: float
    whom: float
    length: float

    def of(self, several: Sequence[int]) -> int | None:
        """Who of several is hit; None where there is nobody."""
        return several[int(self.whom * len(several))] if several else None

    def between(self, shortest: float, longest: float) -> float:
        """For how many seconds."""
        return shortest + self.length * (longest - shortest)


def fault(seed: int, number: int, kinds: Sequence[str], pause: float) -> Fault:
    """Fault `number` of a seed. Each kind comes once among as many faults as there are kinds.

    >>> kinds = [fault(1, number, "abc", 1.0).kind for number in range(1, 7)]
    >>> sorted(kinds[:3]), sorted(kinds[3:])
    (['a', 'b', 'c'], ['a', 'b', 'c'])
    >>> fault(1, 5, "abc", 1.0) == fault(1, 5, "abc", 1.0) != fault(2, 5, "abc", 1.0)
    True
    """
    turn, place = divmod(number - 1, len(kinds))
    order = random.Random(f"{seed}:turn:{turn}").sample(list(kinds), len(kinds))
    chance = random.Random(f"{seed}:fault:{number}")
    return Fault(
        number, order[place], pause * chance.uniform(0.5, 1.5), chance.random(), chance.random()
    )
