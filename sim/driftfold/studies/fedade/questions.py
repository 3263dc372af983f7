"""Single questions, asked on digits under label shift."""

from typing import Literal

from driftfold.studies.base import Arm, Experiment, Small
from driftfold.studies.fedade.grids import measured
from driftfold.studies.fedade.settings import DIGITS, END, SCHEDULES
from driftfold.studies.fedade.systems import (
    BASELINES,
    CALLED,
    RISKS,
    adaptive,
    arm,
    fixed,
)
from driftfold.studies.overview import Overview

PRESET = DIGITS.preset
SMALL = Small(preset=f"{PRESET}-small")
LIN, SQU = (DIGITS.under(SCHEDULES[name][1]) for name in ("lin", "squ"))
STILL = DIGITS.under('kind = "constant"')

SOURCES = ("uniform", "gaussian", "decay")
"""Distributions of classes before deployment; the paper defines neither of the last two."""

BOUNDS = {
    "given": (1.0, 1.0),
    "narrow": (1.0, 0.1),
    "wide": (0.1, 1.0),
    "down": (0.1, 0.1),
    "up": (3.0, 3.0),
}
"""What the bounds of digits are multiplied by, by name."""

S_UNC, S_REP = '{ kind = "uncertainty" }', '{ kind = "representation" }'


def combined(*signals: str, by: str = '{ kind = "mean" }') -> str:
    """The field of a signal that combines several."""
    return f'signal = {{ kind = "combined", signals = [{", ".join(signals)}], by = {by} }}'


def calibrated(signal: str) -> str:
    """A signal measured against its noise."""
    return f'{{ kind = "calibrated", signal = {signal} }}'


WEIGHTS = {
    "w3-1": (
        "S_unc counts three times",
        combined(S_UNC, S_REP, by='{ kind = "mean", weights = [3.0, 1.0] }'),
    ),
    "w1-1": ("both alike", combined(S_UNC, S_REP)),
    "w1-3": (
        "S_rep counts three times",
        combined(S_UNC, S_REP, by='{ kind = "mean", weights = [1.0, 3.0] }'),
    ),
    "largest": ("the larger", combined(S_UNC, S_REP, by='{ kind = "max" }')),
    "excess": (
        "by what each says beyond its noise",
        combined(calibrated(S_UNC), calibrated(S_REP), by='{ kind = "excess" }'),
    ),
}
"""Weights of the two signals: how tables call them, and the signal."""

MEASURES = {
    "cosine": ("cosine", combined(S_UNC, S_REP)),
    "kl": ("Kullback-Leibler", combined('{ kind = "kl" }', S_REP)),
    "tv": (
        "Wasserstein",
        combined('{ kind = "total_variation" }', '{ kind = "feature_distance" }'),
    ),
    "cpd": (
        "change points",
        combined(
            f'{{ kind = "change_point", signal = {S_UNC} }}',
            f'{{ kind = "change_point", signal = {S_REP}, scale = 2.0 }}',
        ),
    ),
}
"""Measures of similarity of the paper's ablation."""

COUNTS = (10, 100, 1000)
"""Numbers of clients in the core grid; 5,000 with --full."""


def frozen(name: str, settings: tuple[str, ...], called: str = "frozen") -> Arm:
    """Return the arm of the frozen model."""
    return Arm(name, PRESET, (*settings, 'algorithm={ kind = "frozen" }'), called)


def _each(variants: dict[str, tuple[str, str]]) -> tuple[Arm, ...]:
    """Fed-ADE with several signals, and both risks."""
    return tuple(
        arm(
            name,
            risk,
            PRESET,
            (LIN, adaptive(DIGITS.within(risk), signal)),
            f"{called}, {CALLED[risk]}",
        )
        for risk in RISKS
        for name, (called, signal) in variants.items()
    )


_FLOOR = measured(
    "floor",
    "Digits, no drift: the noise floor of the signals",
    "w = 0 at all steps; 20 clients",
    (
        frozen("frozen", (STILL,)),
        *(
            arm(what, risk, PRESET, (STILL, setting))
            for risk in RISKS
            for what, setting in (
                ("mid", fixed(DIGITS.within(risk).mid)),
                ("ade", adaptive(DIGITS.within(risk))),
            )
        ),
    ),
    small=SMALL,
)


NOISE = tuple(
    Overview(
        f"Noise floor: {called}, digits under label shift",
        metric,
        END,
        (
            ("no drift", _FLOOR.name),
            *((called, DIGITS.name(name)) for name, (called, _) in SCHEDULES.items()),
        ),
        tuple((f"Fed-ADE, {says}", f"ade-{risk}") for risk, says in CALLED.items()),
        scale="linear",
    )
    for metric, called in (("signal", "S"), ("signal_0", "S_unc"), ("signal_1", "S_rep"))
)
"""What signals say where nothing drifts, beside what they say where it does."""


def _pretraining() -> Experiment:
    arms: list[Arm] = []
    for kind in SOURCES:
        own = (LIN, "task.source=500", "task.reference=8", f"task.source_classes={kind}")
        arms.append(frozen(f"{kind}-frozen", own, f"{kind}: frozen"))
        _, algorithm, settings = BASELINES["reweighting"]
        arms.append(
            Arm(
                f"{kind}-reweighting",
                PRESET,
                (*own, f'algorithm={{ kind = "{algorithm}" }}', *settings),
                f"{kind}: prior reweighting, now",
            )
        )
        for risk in RISKS:
            for what, setting, called in (
                ("mid", fixed(DIGITS.within(risk).mid), "FixLR (mid)"),
                ("ade", adaptive(DIGITS.within(risk)), "Fed-ADE"),
            ):
                title = f"{kind}: {called}, {CALLED[risk]}"
                arms.append(arm(f"{kind}-{what}", risk, PRESET, (*own, setting), title))
    return measured(
        "pretraining",
        "Digits, Lin: classes before deployment",
        "500 digits for training, classes uniform, as a bell, or in a long tail (ours: the paper "
        "names the last two and does not define them)",
        tuple(arms),
        small=None,
        drawn=tuple(a.name for a in arms if a.name.endswith(("frozen", "bbse"))),
    )


_BOUNDS = measured(
    "bounds",
    "Digits, Lin: bounds of the rate",
    "the paper's ablation of bounds could not be obtained",
    (
        frozen("frozen", (LIN,)),
        arm("one", "entropy", PRESET, (LIN, fixed(1.0)), "FixLR 1, entropy"),
        *(
            arm(
                name,
                risk,
                PRESET,
                (LIN, adaptive(bounds)),
                f"{bounds.low:g} to {bounds.high:g}, {CALLED[risk]}",
            )
            for risk in RISKS
            for name, (low, high) in BOUNDS.items()
            for bounds in [DIGITS.within(risk).times(low, high)]
        ),
    ),
    small=None,
)

_WEIGHTS = measured(
    "weights",
    "Digits, Lin: weights of the two signals",
    "not in the paper",
    _each(WEIGHTS),
    small=None,
)

_MEASURES = measured(
    "measures",
    "Digits, Lin: measures of similarity",
    "the paper's ablation, with definitions of ours",
    _each(MEASURES),
    small=None,
)

CROWD_END = 40
"""Steps of the streams of large fleets."""


def _clients(
    name: str, counts: tuple[int, ...], tier: Literal["core", "full"] = "core"
) -> Experiment:
    arms = tuple(
        made
        for n in counts
        for made in (
            frozen(f"{n}-frozen", _crowd(n), f"{n:,}: frozen"),
            arm(
                f"{n}-ade",
                "entropy",
                PRESET,
                (*_crowd(n), adaptive(DIGITS.of_entropy)),
                f"{n:,}: Fed-ADE, entropy",
            ),
        )
    )
    return measured(
        name,
        f"Digits, Lin: {' to '.join(f'{n:,}' for n in (counts[0], counts[-1]))} clients"
        if len(counts) > 1
        else f"Digits, Lin: {counts[0]:,} clients",
        f"{CROWD_END} steps",
        arms,
        small=None,
        seeds=(1, 2, 3),
        at=(CROWD_END,),
        tier=tier,
    )


def _crowd(clients: int) -> tuple[str, ...]:
    drift = LIN
    return (
        drift,
        f"task.clients={clients}",
        f"task.steps={CROWD_END}",
        f"horizon.rounds={CROWD_END}",
    )


CLIENTS = _clients("clients", COUNTS)
MANY_CLIENTS = _clients("clients-5000", (5000,), "full")

_NORM = ("task.net.batch_norm=true",)
_CORRUPTED = "fedade-digits-covariate"
NORMS = measured(
    "norms",
    "Digits, corruptions, Lin, a net with batch normalisation",
    "TENT and BN-adapt need one; one batch norm after each hidden layer",
    (
        Arm("frozen", _CORRUPTED, (*_NORM, 'algorithm={ kind = "frozen" }'), "frozen"),
        Arm("bn-adapt", _CORRUPTED, (*_NORM, 'algorithm={ kind = "bn_adapt" }'), "BN-adapt"),
        Arm("tent", _CORRUPTED, (*_NORM, 'algorithm={ kind = "tent" }'), "TENT"),
        *(
            arm(what, "entropy", _CORRUPTED, (*_NORM, setting))
            for what, setting in (
                ("mid", fixed(DIGITS.of_entropy.mid)),
                ("ade", adaptive(DIGITS.of_entropy)),
            )
        ),
    ),
    small=None,
)

QUESTIONS = (_FLOOR, _pretraining(), _BOUNDS, _WEIGHTS, _MEASURES, CLIENTS, MANY_CLIENTS, NORMS)
