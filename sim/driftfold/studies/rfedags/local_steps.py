"""Principal eigenvector of MNIST: heterogeneity, and the number of local steps."""

from driftfold.studies.base import Arm, Experiment, published
from driftfold.studies.rfedags.eigenvector import DIVISIONS, PRESET, SEEDS, SMALL
from driftfold.studies.rfedags.settings import decay


def _heterogeneity(
    name: str, title: str, settings: tuple[str, ...], end: int, said: tuple[float, ...]
) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        source="MNIST, S^783, N = 60, K = 5",
        arms=tuple(
            Arm(division, PRESET, (*overrides, *settings), division)
            for division, overrides in DIVISIONS.items()
        ),
        read_at=(0, 100, end // 2, end),
        published=tuple(
            row
            for division, value in zip(DIVISIONS, said, strict=True)
            for row in published(division, {end: value}, factor=2)
        ),
        seeds=SEEDS,
        small=SMALL,
        needs=("mnist",),
        note="slight: eight label shards a client; heavy: four.",
    )


HETEROGENEITY = _heterogeneity(
    "heterogeneity", "Heterogeneity, fixed step", (), 500, (3.9e-5, 1.9e-3, 4.5e-3)
)
HETEROGENEITY_DECAY = _heterogeneity(
    "heterogeneity-decay",
    "Heterogeneity, decaying step",
    (f"algorithm.step_size={decay(2.8e-4)}", "horizon.rounds=2500"),
    2500,
    (9.8e-6, 4.4e-5, 5.6e-5),
)

K = (2, 4, 6, 8, 10, 14, 20)
_EARLY = {
    "iid": (37.7, 35.7, 24.3, 6.48, 0.924, 0.0158, 1.9e-4),
    "slight": (37.7, 35.7, 24.3, 6.44, 0.922, 0.0172, 2.7e-3),
    "heavy": (37.7, 35.7, 24.2, 6.36, 0.916, 0.0216, 0.0150),
}
_LATE = {
    "iid": (3.9e-5, 4.2e-5, 4.7e-5, 7.9e-5, 7.7e-5, 1.3e-4, 1.8e-4),
    "slight": (3.0e-4, 4.3e-4, 7.6e-4, 1.4e-3, 2.1e-3, 2.8e-3, 2.7e-3),
    "heavy": (8.6e-4, 1.8e-3, 1.4e-3, 3.6e-3, 2.5e-3, 5.1e-3, 7.6e-3),
}


def _effect_of_k(division: str) -> Experiment:
    pairs = zip(K, _EARLY[division], _LATE[division], strict=True)
    return Experiment(
        name=f"local-steps-{division}",
        title=f"Number of local steps K, {division}",
        source="MNIST, S^783, N = 60, fixed step, 900 rounds",
        arms=tuple(
            Arm(
                f"k{k}",
                PRESET,
                (*DIVISIONS[division], f"algorithm.steps={k}", "horizon.rounds=900"),
                f"K = {k}",
            )
            for k in K
        ),
        read_at=(0, 90, 300, 900),
        published=tuple(
            row
            for k, early, late in pairs
            for row in published(f"k{k}", {90: early, 900: late}, factor=2)
        ),
        seeds=SEEDS,
        small=SMALL,
        needs=("mnist",),
    )


BY_K = tuple(_effect_of_k(division) for division in DIVISIONS)

LOCAL_STEPS = (HETEROGENEITY, HETEROGENEITY_DECAY, *BY_K)
