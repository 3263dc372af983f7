"""How clients take part: one fixed set of probabilities, and five ways in which it changes.

Ten clients each hold one of four classes of data, and classes differ in how often their clients
take part (`P`): otherwise no weights would be needed.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

JUMP_AT = 150
"""Round after which `jump` reverses who is rare and who is frequent."""

# fmt: off
P = (
    0.35, 0.372, 0.15, 0.06, 0.7, 0.161, 0.722, 0.744, 0.767, 0.067, 0.172, 0.394, 0.789, 0.073,
    0.08, 0.183, 0.417, 0.811, 0.194, 0.087, 0.833, 0.439, 0.856, 0.206, 0.093, 0.461, 0.1, 0.107,
    0.878, 0.113, 0.217, 0.483, 0.228, 0.12, 0.239, 0.506, 0.528, 0.25, 0.9, 0.55,
)
# fmt: on
"""Probabilities of the 40 clients, as in the preset: 0.06 to 0.9, 0.36 on average."""

_RARE = 0.3  # the two rare classes have smaller probabilities
_NEVER = 1e9
_DAY_SHARE = 0.55  # 0.55 * 0.9 * (1 + 0.8) < 1: nothing is clipped at the peak


def reversed_ranks(p: Sequence[float]) -> tuple[float, ...]:
    """Return the same values, the largest where the smallest was, and so on.

    >>> reversed_ranks((0.1, 0.9, 0.3))
    (0.9, 0.1, 0.3)
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    swapped = dict(zip(order, sorted(p, reverse=True), strict=True))
    return tuple(swapped[i] for i in range(len(p)))


def leaving(p: Sequence[float]) -> tuple[float, ...]:
    """Return when clients leave for good: half of those with p < 0.3, from dispatch 100 to 300."""
    rare = [i for i, value in enumerate(p) if value < _RARE]
    leavers = rare[::2]
    step = 200 / (len(leavers) - 1)
    times = {client: 100 + round(step * place) for place, client in enumerate(leavers)}
    return tuple(float(times.get(i, _NEVER)) for i in range(len(p)))


def _kind(kind: str, **fields: object) -> tuple[str, ...]:
    """Return the settings of a kind, as in ``--set``."""
    said = (f"participation.{name}={_toml(value)}" for name, value in fields.items())
    return (f"participation.kind={kind}", *said)


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return "null" if value is None else str(value)


DRIFTS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "bernoulli": ("fixed probabilities", _kind("bernoulli", p=P)),
        "sine": ("a sine of 20 rounds, the same for all", _kind("sine", p=P)),
        "staircase": ("10 rounds up, 10 down to 0.4 p", _kind("staircase", p=P)),
        "jump": (
            f"rare and frequent swap after {JUMP_AT} rounds",
            _kind("jump", p=P, at=JUMP_AT, after=reversed_ranks(P)),
        ),
        "dropout": (
            "half of the rare clients leave for good between rounds 100 and 300",
            (
                *_kind("dropout", times=leaving(P)),
                "participation.of.kind=bernoulli",
                f"participation.of.p={_toml(P)}",
            ),
        ),
        "diurnal": (
            "days of 24 rounds, with the clients' hours apart",
            _kind(
                "diurnal",
                duty=tuple(round(_DAY_SHARE * p, 4) for p in P),
                amplitude=0.8,
                spread=6.0,
                slot="dispatch",
            ),
        ),
    }
)
"""By name, what it is and the settings."""
