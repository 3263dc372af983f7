"""How RFedAGS scales: more samples, more clients, larger points (synthetic PCA)."""

from driftfold.studies.base import Arm, Experiment, Small, published

_END = 2500
_SMALL = Small("pca-scaling-small", ("task.data.dimension=30", "task.rank=2"))
_NOTE = "RFedAGS alone, as published; each row has data of its own."
_STEP_NOTE = (
    f"{_NOTE} Steps are of size 0.1, with which the published gaps come out, in place of the "
    "published 0.02."
)


SAMPLES = Experiment(
    name="scaling-samples",
    title="Scaling: samples of a client",
    source="scaling study, St(5, 100), N = 100, 2,500 rounds",
    arms=tuple(
        Arm(f"n{n}", "pca-scaling-samples", (f"task.data.samples={n}",), f"n = {n:,}")
        for n in (400, 800, 1200, 1600, 2000)
    ),
    read_at=(0, 500, 1000, _END),
    published=tuple(
        row
        for n, start, end in (
            (400, 0.203, 0.0065),
            (800, 0.144, 0.0079),
            (1200, 0.111, 0.0119),
            (1600, 0.0986, 0.0120),
            (2000, 0.0890, 0.0096),
        )
        for row in published(f"n{n}", {0: start, _END: end}, factor=2)
    ),
    small=Small("pca-scaling-small"),
    note=_NOTE,
)

CLIENTS = Experiment(
    name="scaling-clients",
    title="Scaling: clients",
    source="scaling study, St(5, 100), n = 1,000, 2,500 rounds",
    arms=(
        *(
            Arm(f"c{n}", "pca-scaling-clients", (f"task.data.clients={n}",), f"N = {n}")
            for n in (60, 80, 100, 150, 200)
        ),
        Arm(
            "c60-published-step",
            "pca-scaling-clients",
            ("task.data.clients=60", "algorithm.step_size=2e-2"),
            "N = 60, published step",
        ),
    ),
    read_at=(0, 500, 1000, _END),
    published=tuple(
        row
        for n, start, end in (
            (60, 0.0152, 4.6e-4),
            (80, 0.0227, 5.3e-4),
            (100, 0.0317, 5.5e-4),
            (150, 0.0621, 1.26e-3),
            (200, 0.0907, 1.03e-3),
        )
        for row in published(f"c{n}", {0: start, _END: end}, factor=2)
    ),
    small=Small("pca-scaling-small", ("task.data.clients=20",)),
    note=_STEP_NOTE,
)

_SIZES = (
    (1000, 5, 0.0327, 9.7e-4),
    (2000, 5, 0.0522, 1.27e-3),
    (2000, 10, 0.102, 1.85e-3),
    (4000, 5, 0.0846, 2.04e-3),
    (4000, 10, 0.168, 3.40e-3),
)


def _dimension(name: str, sizes: tuple[tuple[int, int, float, float], ...]) -> Experiment:
    large = name.endswith("large")
    return Experiment(
        name=name,
        title="Scaling: dimensions" + (", the largest" if large else ""),
        source="scaling study, St(r, d), N = 50, 2,500 rounds",
        arms=tuple(
            Arm(
                f"d{d}r{r}",
                "pca-scaling-dimension",
                (f"task.data.dimension={d}", f"task.rank={r}"),
                f"d = {d:,}, r = {r}",
            )
            for d, r, _, _ in sizes
        ),
        read_at=(0, 500, 1000, _END),
        published=tuple(
            row
            for d, r, start, end in sizes
            for row in published(f"d{d}r{r}", {0: start, _END: end}, factor=2)
        ),
        small=None if large else _SMALL,
        tier="full" if large else "core",
        note=_STEP_NOTE,
    )


DIMENSION = _dimension("scaling-dimension", _SIZES[:3])
LARGE = _dimension("scaling-dimension-large", _SIZES[3:])

SCALING = (SAMPLES, CLIENTS, DIMENSION, LARGE)
