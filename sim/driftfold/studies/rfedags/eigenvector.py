"""Principal eigenvector of MNIST on the sphere: participation, step sizes, stragglers, K."""

from collections.abc import Mapping

from driftfold.studies.base import Arm, Experiment, Published, Small, published
from driftfold.studies.rfedags.settings import decay

PRESET = "mnist-eigenvector"
SEEDS = (4, 5, 8)
"""Whose first point is as far from the optimum as the published one: early gaps depend on that."""

DIVISIONS = {
    "iid": ('task.partition={kind="iid"}',),
    "slight": (),
    "heavy": ("task.partition.per_client=4",),
}
"""How the images are divided: at random, eight label shards a client, four."""

WEIGHTS = {"known": "oracle", "counted": "inclusive", "ignored": "none"}
"""What the server knows of p, and the estimator that knows it."""

_COHORT = 'metrics=[{kind="cohort_gap", participation={kind="bernoulli"}}]'
SMALL = Small(
    f"{PRESET}-small",
    ("horizon.rounds=60", "algorithm.batch=0.5", 'participation={kind="bernoulli", low=0.2}'),
)
_SMALL_COHORT = Small(
    SMALL.preset,
    (*SMALL.settings, _COHORT.replace('"bernoulli"', '"bernoulli", low=0.2')),
)


def _schemes(
    name: str,
    title: str,
    settings: tuple[str, ...],
    read_at: tuple[int, ...],
    said: Mapping[str, Mapping[int, float]],
    reweighted: Mapping[str, float],
) -> Experiment:
    """Return an experiment on what the server knows, with both gaps."""
    return Experiment(
        name=name,
        title=title,
        source="MNIST, S^783, N = 60, slight heterogeneity",
        arms=tuple(
            Arm(arm, PRESET, (f"estimator={kind}", _COHORT, *settings), f"p {arm}")
            for arm, kind in WEIGHTS.items()
        ),
        read_at=read_at,
        metrics=("gap", "cohort_gap"),
        published=(
            *(row for arm, values in said.items() for row in published(arm, values, factor=2)),
            *(
                Published(arm, read_at[-1], value, metric="cohort_gap")
                for arm, value in reweighted.items()
            ),
        ),
        seeds=SEEDS,
        small=_SMALL_COHORT,
        needs=("mnist",),
        note=(
            "cohort_gap is the gap of the objective that weights without correction minimise: it "
            "tells where the third arm goes."
        ),
    )


FIXED = _schemes(
    "eigenvector-fixed",
    "Principal eigenvector of MNIST: what the server knows, fixed step",
    (),
    (0, 100, 250, 500),
    {
        "known": {250: 0.0116, 500: 6.7e-4},
        "counted": {250: 0.0123, 500: 9.5e-4},
        "ignored": {250: 0.0231, 500: 1.10e-2},
    },
    {"known": 2.0e-4, "counted": 2.1e-4, "ignored": 4.7e-6},
)

DECAY = _schemes(
    "eigenvector-decay",
    "Principal eigenvector of MNIST: what the server knows, decaying step",
    (f"algorithm.step_size={decay(3.5e-4)}", "horizon.rounds=1000"),
    (0, 100, 250, 500, 1000),
    {"known": {1000: 1.17e-4}, "counted": {1000: 1.27e-4}, "ignored": {1000: 1.10e-2}},
    {"known": 1.9e-4, "counted": 1.8e-4, "ignored": 5.5e-7},
)


def _equal(name: str, title: str, settings: tuple[str, ...], end: int, said: str) -> Experiment:
    """Return an experiment in which all answer alike: s of N, or each with probability rho."""
    values = [float(word) for word in said.split()]
    schemes = [
        (f"{scheme}-{rho}", title, f'participation={{kind="{kind}", {field}={rho}}}', weights)
        for scheme, title, kind, field, weights in (
            ("I", "scheme I", "uniform", "rho", "none"),
            ("II", "scheme II", "bernoulli", "p", "inclusive"),
        )
        for rho in (0.3, 0.5, 0.7)
    ]
    return Experiment(
        name=name,
        title=title,
        source="MNIST, S^783, N = 60, slight heterogeneity, equal probabilities",
        arms=tuple(
            Arm(
                arm,
                PRESET,
                (participation, f"estimator={weights}", *settings),
                f"{label}, {arm.partition('-')[2]}",
            )
            for arm, label, participation, weights in schemes
        ),
        read_at=(0, 100, end // 2, end),
        published=tuple(
            row
            for (arm, *_), value in zip(schemes, values, strict=True)
            for row in published(arm, {end: value}, factor=2)
        ),
        seeds=SEEDS,
        small=SMALL,
        needs=("mnist",),
        note="Scheme I takes a random share of the clients; in II each answers by itself.",
    )


EQUAL = _equal(
    "eigenvector-equal",
    "All clients answer alike, fixed step",
    (),
    500,
    "8.9e-4 3.7e-4 2.1e-4 8.1e-4 3.3e-4 2.5e-4",
)
EQUAL_DECAY = _equal(
    "eigenvector-equal-decay",
    "All clients answer alike, decaying step",
    (f"algorithm.step_size={decay(3.5e-4)}", "horizon.rounds=1000"),
    1000,
    "8.1e-5 4.3e-5 2.0e-5 9.8e-5 3.5e-5 1.7e-5",
)


def _stragglers(
    name: str, title: str, settings: tuple[str, ...], end: int, said: str
) -> Experiment:
    """Return an experiment with three clients that hardly ever answer, and are slow."""
    values = [float(word) for word in said.split()]
    fleets = {"0.3": (15, 0.35, 42, 0.3), "0.5": (27, 0.55, 30, 0.5)}
    arms: list[Arm] = []
    rows: list[Published] = []
    for mean, (some, high, others, low) in fleets.items():
        p = [0.05] * 3 + [high] * some + [low] * others
        scattered = f'participation={{kind="bernoulli", p={p}}}'
        drawn = f'participation={{kind="uniform", rho={mean}}}'
        for scheme, participation, weights in (
            ("I", drawn, "none"),
            ("known", scattered, "oracle"),
            ("counted", scattered, "inclusive"),
        ):
            label = "scheme I" if scheme == "I" else f"p {scheme}"
            overrides = (participation, f"estimator={weights}", f"horizon.rounds={end}", *settings)
            arms.append(
                Arm(f"{scheme}-{mean}", f"{PRESET}-stragglers", overrides, f"{label}, mean {mean}")
            )
    for arm, value in zip(arms, values, strict=True):
        rows += published(arm.name, {end: value}, factor=2)
    return Experiment(
        name=name,
        title=title,
        source="MNIST, S^783, N = 60, three stragglers",
        arms=tuple(arms),
        read_at=(0, 100, end),
        published=tuple(rows),
        seeds=SEEDS,
        small=SMALL,
        needs=("mnist",),
        note=(
            "Clients 1 to 3 answer in 5 % of the rounds and compute ten times as slowly. Scheme I "
            "invites them as often as all others and waits for them."
        ),
    )


STRAGGLERS = _stragglers(
    "eigenvector-stragglers",
    "Stragglers, fixed step",
    (),
    400,
    "1.07e-3 1.06e-3 1.18e-3 2.9e-4 8.3e-4 9.6e-4",
)
STRAGGLERS_DECAY = _stragglers(
    "eigenvector-stragglers-decay",
    "Stragglers, decaying step",
    (f"algorithm.step_size={decay(2.8e-4)}",),
    1500,
    "7.6e-5 8.2e-5 1.2e-4 6.1e-5 8.6e-5 9.8e-5",
)

EIGENVECTOR = (FIXED, DECAY, EQUAL, EQUAL_DECAY, STRAGGLERS, STRAGGLERS_DECAY)
