"""Low-rank matrix completion on the Grassmann manifold."""

from driftfold.studies.base import Arm, Experiment, published

_FLOOR = 1e-11  # relative to F_0 = 70, what rounding and the noise of 1e-6 leave

_PUBLISHED = {
    1: {10: 67.3, 20: 60.7, 50: 25.4, 100: 3.59},
    4: {10: 41.9, 20: 11.5, 50: 0.0153, 100: 2.1e-7},
    8: {10: 12.5, 20: 0.523, 50: 1.9e-6, 100: 2.7e-13},
    10: {10: 9.33, 20: 0.0944, 50: 9.6e-8, 100: 3e-13},
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
    small_seeds=1,
)

COMPLETION = (SYNTHETIC,)
