"""Principal eigenvector of MNIST: RFedAGS beside the baselines."""

from driftfold.studies.base import Arm, Experiment, Published, published
from driftfold.studies.rfedags.eigenvector import DIVISIONS, PRESET, SEEDS, SMALL
from driftfold.studies.rfedags.settings import by

_END = ("horizon.rounds=600",)

ALGORITHMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rfedags": ("RFedAGS", ()),
    "rfedavg": ("RFedAvg", by("rfedavg", steps=5, batch=500, step="8e-5")),
    "rfedavg-corrected": (
        "RFedAvg, weights",
        by("rfedavg", steps=5, batch=500, step="8e-5", weights=None),
    ),
    "rfedproj": ("RFedProj", by("rfedproj", steps=5, batch=500, step="8e-5")),
}
"""Name, title and settings; a new baseline is one more line here."""

_BY_DIVISION = {
    "iid": {"rfedags": 4.5e-5, "rfedproj": 1.7e-4, "rfedavg": 4.1e-4, "rfedsvrg-bug": 1.2e-3},
    "slight": {"rfedags": 7.9e-4, "rfedproj": 1.9e-3, "rfedavg": 1.2e-2, "rfedsvrg-bug": 1.4e-2},
    "heavy": {"rfedags": 2.3e-3, "rfedproj": 7.0e-3, "rfedavg": 1.9e-2, "rfedsvrg-bug": 1.7e-2},
}
_BY_PARTICIPATION = {
    "1.0": {"rfedags": 7.6e-4, "rfedproj": 1.6e-3, "rfedavg": 1.2e-2, "rfedsvrg-bug": 1.5e-2},
    "0.8": {"rfedags": 1.0e-3, "rfedproj": 3.2e-3, "rfedavg": 1.1e-2, "rfedsvrg-bug": 0.044},
    "0.6": {"rfedags": 1.0e-3, "rfedproj": 7.2e-3, "rfedavg": 1.3e-2, "rfedsvrg-bug": 1.0},
}


def _compared(
    name: str, title: str, settings: tuple[str, ...], said: dict[str, float]
) -> Experiment:
    rows: tuple[Published, ...] = tuple(
        row
        for arm, value in said.items()
        if arm in ALGORITHMS
        for row in published(arm, {600: value}, factor=2)
    )
    return Experiment(
        name=name,
        title=title,
        source="MNIST, S^783, N = 60, K = 5, 600 rounds",
        arms=tuple(
            Arm(arm, PRESET, (*overrides, *settings, *_END), label)
            for arm, (label, overrides) in ALGORITHMS.items()
        ),
        read_at=(0, 100, 300, 600),
        published=rows,
        seeds=SEEDS,
        small=SMALL,
        needs=("mnist",),
    )


BY_DIVISION = tuple(
    _compared(f"baselines-{division}", f"Baselines, {division}", settings, _BY_DIVISION[division])
    for division, settings in DIVISIONS.items()
)
BY_PARTICIPATION = tuple(
    _compared(
        f"participation-{share}",
        f"Baselines where clients answer rarely: {share} p",
        (f'participation={{kind="bernoulli", high={share}}}',),
        said,
    )
    for share, said in _BY_PARTICIPATION.items()
    if share != "1.0"  # that is the slight division above
)

BASELINES = (*BY_DIVISION, *BY_PARTICIPATION)

SVRG = Experiment(
    name="baselines-svrg",
    title="RFedSVRG with the published bug",
    source="MNIST, S^783, N = 60, K = 5, 600 rounds",
    arms=tuple(
        Arm(
            division,
            PRESET,
            (
                *by("rfedsvrg", steps=5, batch=500, step="8e-5", more=("published_bug=true",)),
                *settings,
                *_END,
            ),
            division,
        )
        for division, settings in DIVISIONS.items()
    ),
    read_at=(0, 100, 300, 600),
    published=tuple(
        row
        for division in DIVISIONS
        for row in published(division, {600: _BY_DIVISION[division]["rfedsvrg-bug"]}, factor=2)
    ),
    seeds=SEEDS,
    small=SMALL,
    needs=("mnist",),
    note="The mean gradient drops the first responder, counts the last twice and is divided by N.",
)

SVRG_RARELY = Experiment(
    name="participation-svrg",
    title="RFedSVRG with the published bug where clients answer rarely",
    source=SVRG.source,
    arms=tuple(
        Arm(
            share,
            PRESET,
            (
                *by("rfedsvrg", steps=5, batch=500, step="8e-5", more=("published_bug=true",)),
                f'participation={{kind="bernoulli", high={share}}}',
                *_END,
            ),
            f"{share} p",
        )
        for share in _BY_PARTICIPATION
        if share != "1.0"
    ),
    read_at=SVRG.read_at,
    published=tuple(
        row
        for share, said in _BY_PARTICIPATION.items()
        if share != "1.0"
        for row in published(share, {600: said["rfedsvrg-bug"]}, factor=2)
    ),
    seeds=SEEDS,
    small=None,
    tier="full",
    needs=("mnist",),
    note=SVRG.note,
)
