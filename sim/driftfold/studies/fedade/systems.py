"""The systems that are compared, as arms.

Names of arms that adapt all parameters end in the risk: ``-bbse`` (the paper's) or ``-entropy``
(the scripts').
"""

from collections.abc import Collection

from driftfold.studies.base import Arm, Reads
from driftfold.studies.fedade.settings import Bounds, Setting

RISKS = {"bbse": "bbse_source", "entropy": "entropy"}
"""Kinds of risk, by the ends of names."""

CALLED = {"bbse": "BBSE", "entropy": "entropy"}

SIGNALS = {
    "ade": "",
    "no-unc": 'signal = { kind = "representation" }',
    "no-rep": 'signal = { kind = "uncertainty" }',
}
"""Signals of the adaptive rate: both, and without one."""

_TITLES = {
    "ade": "Fed-ADE",
    "no-unc": "Fed-ADE without S_unc",
    "no-rep": "Fed-ADE without S_rep",
    "shuffled": "Fed-ADE, S shuffled",
    "matched": "FixLR (matched)",
    "low": "FixLR (low)",
    "mid": "FixLR (mid)",
    "high": "FixLR (high)",
    "alone": "Fed-ADE, all personal",
}

BASELINES = {
    "frozen": ("frozen", "frozen", ()),
    "reweighting": (
        "prior reweighting, now",
        "prior_reweighting",
        ('algorithm.when="now"', 'algorithm.labels={ kind = "inverse" }'),
    ),
    "fth": ("FTH", "prior_reweighting", ()),
    "uogd": ("UOGD", "uogd", ()),
    "atlas": ("ATLAS", "atlas", ()),
    "fed-poe": ("Fed-POE", "fed_poe", ()),
    "fedccfa": ("FedCCFA", "fedccfa", ()),
}
"""Systems with rates of their own, by name: how tables call them, kind, and settings."""


def title(what: str, risk: str) -> str:
    """How tables call a system with a risk.

    >>> title("mid", "bbse")
    'FixLR (mid), BBSE'
    """
    return f"{_TITLES[what]}, {CALLED[risk]}"


def adaptive(bounds: Bounds, more: str = "") -> str:
    """The setting of an adaptive rate; `more` is a field of it."""
    fields = ['kind = "adaptive"', f"low = {bounds.low}", f"high = {bounds.high}"]
    return "algorithm.rate={ " + ", ".join([*fields, *([more] if more else [])]) + " }"


def fixed(rate: float) -> str:
    """The setting of a fixed rate."""
    return f'algorithm.rate={{ kind = "fixed_rate", rate = {rate} }}'


def recorded(order: str) -> str:
    """The setting of a recorded rate; whose, the arm says."""
    return f'algorithm.rate={{ kind = "recorded", run = "{"0" * 32}", order = "{order}" }}'


def arm(
    what: str, risk: str, preset: str, settings: tuple[str, ...], called: str = "", of: str = ""
) -> Arm:
    """Return an arm; one of recorded rates reads the run of the arm `of`, with the same risk."""
    own = (*settings, f"algorithm.risk={RISKS[risk]}")
    reads = Reads(f"{of}-{risk}") if of else None
    return Arm(f"{what}-{risk}", preset, own, called or title(what, risk), reads)


def adapting(
    preset: str,
    drift: tuple[str, ...],
    bounds: Bounds,
    risk: str,
    without: Collection[str] = (),
) -> tuple[Arm, ...]:
    """Return Fed-ADE with a risk, its controls and its ablations, `without` some."""
    fixes = {"low": bounds.low, "mid": bounds.mid, "high": bounds.high}
    made = [arm(what, risk, preset, (*drift, fixed(rate))) for what, rate in fixes.items()]
    made += [
        arm(what, risk, preset, (*drift, adaptive(bounds, signal)))
        for what, signal in SIGNALS.items()
    ]
    made += [
        arm("shuffled", risk, preset, (*drift, recorded("shuffled")), of="ade"),
        arm("matched", risk, preset, (*drift, recorded("mean")), of="ade"),
    ]
    alone = 'algorithm.personal=["body", "head"]'
    made.append(arm("alone", risk, preset, (*drift, adaptive(bounds), alone)))
    return tuple(one for one in made if one.name.removesuffix(f"-{risk}") not in without)


def baselines(preset: str, drift: tuple[str, ...]) -> tuple[Arm, ...]:
    """Return the systems that have rates of their own, or need none."""
    return tuple(
        Arm(name, preset, (*drift, f'algorithm={{ kind = "{kind}" }}', *settings), called)
        for name, (called, kind, settings) in BASELINES.items()
    )


def everything(setting: Setting, schedule: str) -> tuple[Arm, ...]:
    """Return all systems of the core grid.

    Inputs enter the BBSE risk by their classes' shares alone: where these stay, few of its arms are
    run, and none where the setting is `lean`; there the ablations have the entropy risk only.
    """
    where = setting.preset, (setting.under(schedule),)
    left_out: tuple[str, ...] = ()
    if setting.lean or setting.shift == "covariate":
        left_out += ("no-unc", "no-rep", "alone")
    if setting.shift == "covariate":
        left_out += ("low", "high", "shuffled")
        left_out += ("mid", "ade", "matched") if setting.lean else ()
    return (
        *baselines(*where),
        *adapting(*where, setting.bounds, "bbse", left_out),
        *adapting(*where, setting.of_entropy, "entropy"),
    )
