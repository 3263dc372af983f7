"""The systems that are compared, as arms.

Names of arms that adapt all parameters end in the risk: ``-bbse`` (the paper's) or ``-entropy``
(the scripts').
"""

from collections.abc import Callable, Collection

from driftfold.studies.base import Arm, Reads
from driftfold.studies.fedade.candidates import (
    CALLED,
    RISKS,
    TUNED_BASELINES,
    adaptive,
    fixed,
)
from driftfold.studies.fedade.contests import Set, best, by_bounds
from driftfold.studies.fedade.settings import Bounds, Setting

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
    "no-unc-matched": "FixLR (matched to S_rep alone)",
    "no-rep-matched": "FixLR (matched to S_unc alone)",
    "low": "FixLR (low)",
    "mid": "FixLR (mid)",
    "high": "FixLR (high)",
    "best": "FixLR (tuned)",
    "separate": "Fed-ADE's rates, not averaged",
}

UNTUNED = {
    "frozen": ("frozen", "frozen", ()),
    "reweighting": (
        "prior reweighting, now",
        "prior_reweighting",
        ('algorithm.when="now"', 'algorithm.labels={ kind = "inverse" }'),
    ),
    "fth": ("FTH", "prior_reweighting", ()),
}
"""Systems without a rate, by name: how tables call them, kind, and settings."""

BASELINES = (*UNTUNED, *(system.name for system in TUNED_BASELINES))
"""All systems beside Fed-ADE and FixLR."""


def title(what: str, risk: str) -> str:
    """How tables call a system with a risk.

    >>> title("mid", "bbse")
    'FixLR (mid), BBSE'
    """
    return f"{_TITLES[what]}, {CALLED[risk]}"


def signalled(signal: str) -> Callable[[Bounds], tuple[str, ...]]:
    """What bounds make, with this signal."""
    return lambda bounds: (adaptive(bounds, signal),)


def recorded(order: str) -> str:
    """The setting of a recorded rate; whose, the arm says."""
    return f'algorithm.rate={{ kind = "recorded", run = "{"0" * 32}", order = "{order}" }}'


def arm(
    what: str,
    risk: str,
    preset: str,
    settings: tuple[str, ...],
    called: str = "",
    of: str = "",
    by: Set | None = None,
) -> Arm:
    """Return an arm of Fed-ADE's kind.

    One of recorded rates reads the run of the arm `of`, with the same risk; `by` is what was found
    by tuning.
    """
    chosen = by or Set()
    own = (*settings, f"algorithm.risk={RISKS[risk]}", *chosen.settings)
    reads = Reads(f"{of}-{risk}") if of else None
    return Arm(f"{what}-{risk}", preset, own, called or title(what, risk), reads, chosen.tuned)


def matched(what: str, risk: str, preset: str, settings: tuple[str, ...], called: str = "") -> Arm:
    """A fixed rate equal to the mean that another arm had, in the run with the same seed."""
    said = f"FixLR (matched to {called}), {CALLED[risk]}" if called else ""
    return arm(matched_to(what), risk, preset, (*settings, recorded("mean")), said, of=what)


def matched_to(what: str) -> str:
    """Return what the arm is called that has another one's mean rate, without its risk."""
    return "matched" if what == "ade" else f"{what}-matched"


def variant(
    what: str,
    risk: str,
    setting: Setting,
    settings: tuple[str, ...],
    called: str,
    signal: str,
    by: Set | None = None,
) -> tuple[Arm, Arm]:
    """Fed-ADE with another signal, and the fixed rate equal to this very arm's mean.

    Without `by` its bounds are those of Fed-ADE in the setting.
    """
    by = by or by_bounds(setting, risk, signalled(signal))
    preset = setting.preset
    return (
        arm(what, risk, preset, settings, f"{called}, {CALLED[risk]}", by=by),
        matched(what, risk, preset, settings, called),
    )


def adapting(
    setting: Setting, drift: tuple[str, ...], risk: str, without: Collection[str] = ()
) -> tuple[Arm, ...]:
    """Return Fed-ADE with a risk, its controls and its ablations, `without` some."""
    preset = setting.preset

    def by(what: str, *settings: str, chosen: Set | None = None, of: str = "") -> Arm:
        return arm(what, risk, preset, (*drift, *settings), of=of, by=chosen)

    made = [
        by("low", chosen=by_bounds(setting, risk, lambda bounds: (fixed(bounds.low),))),
        by("mid", chosen=by_bounds(setting, risk, lambda bounds: (fixed(bounds.mid),))),
        by("high", chosen=by_bounds(setting, risk, lambda bounds: (fixed(bounds.high),))),
    ]
    if setting.bounds is None:
        made.append(by("best", chosen=best(setting, f"fixed-{risk}")))
    for what, signal in SIGNALS.items():
        made.append(by(what, chosen=by_bounds(setting, risk, signalled(signal))))
        made.append(matched(what, risk, preset, drift))
    made.append(by("shuffled", recorded("shuffled"), of="ade"))
    made.append(by("separate", recorded("same"), "algorithm.federated=false", of="ade"))
    return tuple(one for one in made if one.name.removesuffix(f"-{risk}") not in without)


def baselines(setting: Setting, drift: tuple[str, ...]) -> tuple[Arm, ...]:
    """Return the systems beside Fed-ADE and FixLR, tuned where they have something to tune."""
    made = [
        Arm(name, setting.preset, (*drift, f'algorithm={{ kind = "{kind}" }}', *more), called)
        for name, (called, kind, more) in UNTUNED.items()
    ]
    for system in TUNED_BASELINES:
        own = (*drift, *system.settings)
        tuned = best(setting, system.name).tuned
        made.append(Arm(system.name, setting.preset, own, system.title, tuned=tuned))
    return tuple(made)


def everything(setting: Setting, schedule: str) -> tuple[Arm, ...]:
    """Return all systems of the core grid.

    Inputs enter the BBSE risk by their classes' shares alone: where these stay, few of its arms are
    run.
    """
    drift = (setting.under(schedule),)
    without = () if setting.shift == "label" else _NOT_UNDER_COVARIATE_SHIFT
    return (
        *baselines(setting, drift),
        *adapting(setting, drift, "bbse", without),
        *adapting(setting, drift, "entropy"),
    )


_NOT_UNDER_COVARIATE_SHIFT = (
    *("low", "high", "shuffled", "separate"),
    *("no-unc", "no-rep", "no-unc-matched", "no-rep-matched"),
)
