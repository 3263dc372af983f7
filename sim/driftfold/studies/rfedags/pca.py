"""Principal subspaces on the Stiefel manifold: synthetic data, the toy, images of CIFAR-10."""

from driftfold.studies.base import Arm, Experiment, Published, Small, published
from driftfold.studies.rfedags.settings import FIVE, by


def _by(kind: str, *more: str) -> tuple[str, ...]:
    return by(kind, steps=5, batch=50, step="6e-3", more=more)


SYNTHETIC = Experiment(
    name="pca",
    title="Principal subspace of synthetic data",
    source="synthetic PCA, St(5, 100), N = 40, K = 5, 1,000 rounds",
    arms=(
        Arm("rfedags", "pca-synthetic", title="RFedAGS"),
        Arm("rfedavg", "pca-synthetic-rfedavg", title="RFedAvg"),
        Arm("rfedproj", "pca-synthetic", _by("rfedproj"), "RFedProj"),
        Arm("zo-rfedproj", "pca-synthetic", _by("zo_rfedproj"), "ZO-RFedProj"),
        Arm("rfedprox", "pca-synthetic", _by("rfedprox", "mu=1.0"), "RFedProx"),
        Arm("frechet", "pca-synthetic", _by("rfed_frechet"), "Frechet mean of end points"),
        Arm("rfedsvrg", "pca-synthetic", _by("rfedsvrg"), "RFedSVRG"),
        Arm(
            "rfedsvrg-bug",
            "pca-synthetic",
            _by("rfedsvrg", "published_bug=true"),
            "RFedSVRG, published bug",
        ),
        Arm("rfedags-rs", "pca-synthetic-rs", title="RFedAGS, no weights"),
        Arm("rfedavg-corrected", "pca-synthetic-rfedavg-corrected", title="RFedAvg, weights"),
        Arm("oracle", "pca-synthetic", ("estimator=oracle",), title="RFedAGS, true p"),
        Arm("past", "pca-synthetic", ("estimator=past",), title="RFedAGS, past counts"),
        Arm("everybody", "pca-synthetic", ("participation=always",), title="RFedAGS, all answer"),
    ),
    read_at=(0, 100, 200, 500, 1000),
    published=(
        *published("rfedags", {0: 0.7056, 100: 0.4433, 200: 0.2580, 500: 0.0781}),
        Published("rfedags", 1000, 0.0213, low=0.015, high=0.06),
        *published("rfedavg", {0: 0.7056, 100: 0.4968, 200: 0.3641, 500: 0.2270}),
        Published("rfedavg", 1000, 0.1834, low=0.13, high=0.21),
        *published("rfedproj", {0: 0.7056, 100: 0.4513, 200: 0.3004, 500: 0.1629, 1000: 0.1162}),
        *published("zo-rfedproj", {0: 0.7056, 100: 0.6235, 200: 0.6140, 500: 0.6377, 1000: 0.6103}),
        *published("rfedsvrg-bug", {0: 0.7056, 100: 0.5467, 200: 0.4342, 500: 0.3187}),
        Published("rfedsvrg-bug", 1000, 0.2902, low=0.2, high=0.4),
    ),
    seeds=FIVE,
    small=Small(seeds=2, without=("zo-rfedproj", "frechet", "rfedprox", "past", "everybody")),
    note=(
        "The published data cannot be drawn again (MATLAB's generator), so values differ as those "
        "of other seeds do; the participation probabilities are the published ones."
    ),
)

TOY = Experiment(
    name="pca-toy",
    title="Two clients of very different scale",
    source="figure 1c: St(1, 50), N = 2, full batches, K = 50, 150 rounds",
    arms=(
        Arm("rfedags", "pca-toy", title="RFedAGS"),
        Arm(
            "rfedavg",
            "pca-toy",
            by("rfedavg", steps=50, batch="full", step="1e-7", weights=None),
            "RFedAvg",
        ),
    ),
    read_at=(0, 10, 50, 150),
    published=(
        *published("rfedags", {0: 1.896e5, 10: 243.6, 50: 4.6e-5, 150: 7.5565e-7}),
        *published("rfedavg", {0: 1.896e5, 10: 184.3, 50: 3.7e-5, 150: 7.572e-7}),
    ),
    seeds=FIVE,
    small=Small(seeds=3),
    note=(
        "How fast the gap falls depends on the data that are drawn (the eigengap), far more than "
        "on the algorithm; the last values are rounding, 1e-12 of F."
    ),
)


def _many_steps(k: int) -> tuple[Arm, ...]:
    step = ("algorithm.step_size=0.03", f"algorithm.steps={k}")
    avg = by("rfedavg", steps=k, batch=50, step="0.03", weights=None)
    return (
        Arm(f"rfedags-k{k}", "pca-synthetic", step, f"RFedAGS, K = {k}"),
        Arm(f"rfedavg-k{k}", "pca-synthetic", avg, f"RFedAvg, weights, K = {k}"),
    )


AGGREGATION = Experiment(
    name="aggregation",
    title="Streams or end points: large local steps",
    source="synthetic PCA with alpha = 0.03 and more local steps, equal weights; not in the paper",
    arms=(*_many_steps(5), *_many_steps(20), *_many_steps(50)),
    read_at=(0, 10, 20, 50, 100, 200),
    seeds=FIVE,
    small=Small(settings=("horizon.rounds=50",)),
    note="Both aggregations have the weights 1/(q N): only what is averaged differs.",
)


def _images(kind: str) -> tuple[str, ...]:
    return by(kind, steps=5, batch=500, step="3e-5")


CIFAR = Experiment(
    name="pca-cifar10",
    title="Principal subspace of photographs (JPEG copies of CIFAR-10)",
    source="CIFAR-10, St(4, 3072), N = 50, K = 5, 600 rounds",
    arms=(
        Arm("rfedags", "pca-cifar10-jpeg", title="RFedAGS"),
        Arm("rfedproj", "pca-cifar10-jpeg", _images("rfedproj"), "RFedProj"),
        Arm("rfedavg", "pca-cifar10-jpeg", _images("rfedavg"), "RFedAvg"),
    ),
    read_at=(0, 300, 600),
    published=(
        *published("rfedags", {0: 2441, 300: 2.30, 600: 1.20}),
        *published("rfedproj", {0: 2441, 300: 2.54, 600: 1.86}),
        *published("rfedavg", {0: 2441, 300: 2.60, 600: 2.14}),
    ),
    seeds=(1, 2, 3),
    small=Small("pca-cifar10-small", ("algorithm.batch=0.5", "algorithm.step_size=1e-3")),
    needs=("cifar10_jpeg",),
    note=(
        "The copies lack the fine detail that JPEG throws away. Their fourth eigenvalue, 172.6, is "
        "2.5 % above the fifth, and 600 rounds of such steps no more than halve the tangent of the "
        "angle in between: end gaps of up to 4.3 tell where the first point was, not how good the "
        "algorithm is. Steps of the mean gradient would end between 0.005 and 4.2 for nine seeds "
        "out of ten, and at 3.4 and 4.1 for the first two."
    ),
)

CIFAR_SLOWER = Experiment(
    name="pca-cifar10-slower",
    title="Principal subspace of photographs: the slowest baselines",
    source=CIFAR.source,
    arms=(
        Arm(
            "rfedsvrg-bug",
            "pca-cifar10-jpeg",
            by("rfedsvrg", steps=5, batch=500, step="3e-5", more=("published_bug=true",)),
            "RFedSVRG, published bug",
        ),
        Arm("zo-rfedproj", "pca-cifar10-jpeg", _images("zo_rfedproj"), "ZO-RFedProj"),
    ),
    read_at=CIFAR.read_at,
    published=(
        *published("rfedsvrg-bug", {0: 2441, 300: 5.51, 600: 2.45}),
        *published("zo-rfedproj", {0: 2441, 300: 517, 600: 500}),
    ),
    seeds=(1,),
    small=None,
    tier="full",
    needs=CIFAR.needs,
    note="ZO-RFedProj draws a direction for each sample of each local step, which takes hours.",
)

PCA = (SYNTHETIC, TOY, AGGREGATION, CIFAR, CIFAR_SLOWER)
