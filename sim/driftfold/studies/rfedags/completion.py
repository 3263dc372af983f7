"""Low-rank matrix completion on the Grassmann manifold: synthetic, and MovieLens."""

from typing import Literal

from driftfold.studies.base import Arm, Experiment, Small, published

_FLOOR = 1e-11  # of F_0 = 70: what rounding and the noise of 1e-6 leave
_PUBLISHED = {
    1: {10: 67.3, 20: 60.7, 50: 25.4, 100: 3.59},
    4: {10: 41.9, 20: 11.5, 50: 0.0153, 100: 2.1e-7},
    8: {10: 12.5, 20: 0.523, 50: 1.9e-6, 100: 2.7e-13},
    10: {10: 9.33, 20: 0.0944, 50: 9.6e-8, 100: 3e-13},
    14: {10: 3.13, 20: 4.8e-3, 50: 1.2e-10, 100: 4e-13},
    20: {10: 0.385, 20: 4.5e-5, 50: 1.6e-12},
    30: {10: 0.0442, 20: 4.4e-7, 50: 7e-13},
}

SYNTHETIC = Experiment(
    name="completion",
    title="Completion of a synthetic matrix: local steps K",
    source="matrix completion, Gr(200, 5), N = 20, 100 rounds",
    arms=tuple(
        Arm(f"k{k}", "matrix-completion-synthetic", (f"algorithm.steps={k}",), title=f"K = {k}")
        for k in _PUBLISHED
    ),
    read_at=(0, 10, 20, 50, 100),
    published=tuple(
        row
        for k, values in _PUBLISHED.items()
        for row in published(f"k{k}", values, factor=10**0.3, floor=_FLOOR)
    ),
    seeds=tuple(range(1, 11)),
    small=Small(
        "matrix-completion-synthetic-small",
        ("algorithm.batch=0.5", "algorithm.step_size=1e-2", "horizon.rounds=50"),
    ),
)

_STEPS = (2, 4, 8, 12, 16)
_BEST = {
    3: (0.8260, 0.8101, 0.8023, 0.7968, 0.7948),
    5: (0.8095, 0.7902, 0.7757, 0.7679, 0.7654),
    7: (0.7966, 0.7743, 0.7577, 0.7507, 0.7468),
}


def _movielens(size: Literal["100k", "1m"], rank: int) -> Experiment:
    large = size == "1m"
    name = "MovieLens-1M" if large else "MovieLens-100K"
    return Experiment(
        name=f"movielens-{size}-r{rank}",
        title=f"{name}, rank {rank}",
        source=f"MovieLens, Gr(m, {rank}), 150 rounds",
        arms=tuple(
            Arm(
                f"k{k}",
                f"movielens-{size}",
                (f"task.rank={rank}", f"algorithm.steps={k}"),
                f"K = {k}",
            )
            for k in _STEPS
        ),
        read_at=(0, 10, 50, 150),
        metrics=("rmse_honest", "rmse_paper"),
        published=tuple(
            row
            for k, best in zip(_STEPS, _BEST[rank], strict=True)
            for row in published(f"k{k}", {150: best}, factor=1.02, metric="rmse_paper")
        )
        if large
        else (),
        seeds=(1, 2, 3),
        small=Small("movielens-small", ("horizon.rounds=30",)) if not large else None,
        tier="full" if large else "core",
        needs=(f"movielens_{size}",),
        note=(
            "In standard deviations of a rating. rmse_paper, the published error, fits each user's "
            "weights to the ratings that it predicts; rmse_honest does not."
        ),
    )


MOVIELENS = tuple(_movielens("100k", rank) for rank in _BEST)

COMPLETION = (SYNTHETIC, *MOVIELENS, *(_movielens("1m", rank) for rank in _BEST))
