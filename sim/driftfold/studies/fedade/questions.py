"""Single questions, asked on digits under label shift."""

from driftfold.studies.base import Arm, Small
from driftfold.studies.fedade.candidates import CALLED, RISKS, adaptive, fixed
from driftfold.studies.fedade.contests import best, by_bounds
from driftfold.studies.fedade.measuring import measured
from driftfold.studies.fedade.settings import DIGITS, END, SCHEDULES, Bounds
from driftfold.studies.fedade.systems import UNTUNED, arm, matched, signalled, variant
from driftfold.studies.overview import Overview

PRESET = DIGITS.preset
LIN = DIGITS.under(SCHEDULES["lin"][1])
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
"""What the tuned bounds of digits are multiplied by, by name."""

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
"""Weights of the two signals: how tables call them, and the signal; the last adapts them."""

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


def frozen(name: str, settings: tuple[str, ...], called: str = "frozen") -> Arm:
    """Return the arm of the frozen model."""
    return Arm(name, PRESET, (*settings, 'algorithm={ kind = "frozen" }'), called)


def _scaled(risk: str, low: float, high: float) -> Arm:
    """Fed-ADE with its tuned bounds multiplied."""
    name = next(name for name, by in BOUNDS.items() if by == (low, high))
    said = f"bounds x {low:g} and x {high:g}, {CALLED[risk]}"

    def make(bounds: Bounds) -> tuple[str, ...]:
        return (adaptive(bounds.times(low, high)),)

    return arm(name, risk, PRESET, (LIN,), said, by=by_bounds(DIGITS, risk, make))


def _each(variants: dict[str, tuple[str, str]]) -> tuple[Arm, ...]:
    """Fed-ADE with several signals, each beside its own mean rate, with both risks."""
    return tuple(
        made
        for risk in RISKS
        for name, (called, signal) in variants.items()
        for made in variant(name, risk, DIGITS, (LIN,), called, signal)
    )


_FLOOR = measured(
    "floor",
    "Digits, no drift: the noise floor of the signals",
    "w = 0 at all steps; 20 clients",
    (
        frozen("frozen", (STILL,)),
        *(
            made
            for risk in RISKS
            for made in (
                arm("best", risk, PRESET, (STILL,), by=best(DIGITS, f"fixed-{risk}")),
                arm("ade", risk, PRESET, (STILL,), by=by_bounds(DIGITS, risk, signalled(""))),
            )
        ),
    ),
    small=Small(preset=f"{PRESET}-small"),
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


def _before(kind: str) -> tuple[Arm, ...]:
    """Systems on a model that was trained on classes of this kind."""
    own = (LIN, "task.source=500", "task.reference=8", f"task.source_classes={kind}")
    _, algorithm, settings = UNTUNED["reweighting"]
    chosen = (*own, f'algorithm={{ kind = "{algorithm}" }}', *settings)
    arms = [
        frozen(f"{kind}-frozen", own, f"{kind}: frozen"),
        Arm(f"{kind}-reweighting", PRESET, chosen, f"{kind}: prior reweighting, now"),
    ]
    for risk, says in CALLED.items():
        ade, tuned = by_bounds(DIGITS, risk, signalled("")), best(DIGITS, f"fixed-{risk}")
        arms += [
            arm(f"{kind}-best", risk, PRESET, own, f"{kind}: FixLR (tuned), {says}", by=tuned),
            arm(f"{kind}-ade", risk, PRESET, own, f"{kind}: Fed-ADE, {says}", by=ade),
            matched(f"{kind}-ade", risk, PRESET, own, f"{kind}: Fed-ADE"),
        ]
    return tuple(arms)


_PRETRAINING = measured(
    "pretraining",
    "Digits, Lin: classes before deployment",
    "500 digits for training, classes uniform, as a bell, or in a long tail (ours: the paper names "
    "the last two and does not define them); rates as tuned for 700 digits",
    tuple(made for kind in SOURCES for made in _before(kind)),
    drawn=tuple(
        f"{kind}-{what}" for kind in SOURCES for what in ("frozen", "best-bbse", "ade-bbse")
    ),
)

_BOUNDS = measured(
    "bounds",
    "Digits, Lin: bounds of the rate",
    "the paper's ablation of bounds could not be obtained",
    (
        frozen("frozen", (LIN,)),
        arm("one", "entropy", PRESET, (LIN, fixed(1.0)), "FixLR 1, entropy"),
        *(_scaled(risk, low, high) for risk in RISKS for low, high in BOUNDS.values()),
    ),
)

_WEIGHTS = measured(
    "weights",
    "Digits, Lin: weights of the two signals",
    "not in the paper",
    _each(WEIGHTS),
)

_MEASURES = measured(
    "measures",
    "Digits, Lin: measures of similarity",
    "the paper's ablation, with definitions of ours",
    _each(MEASURES),
)

QUESTIONS = (_FLOOR, _PRETRAINING, _BOUNDS, _WEIGHTS, _MEASURES)
