"""What the paper says, and what we say about it: claims, with the rules that judge them."""

from driftfold.studies.base import Claim
from driftfold.studies.comparisons import (
    as_published,
    in_band,
    minimum,
    ordered,
    ratio,
    same,
    smaller,
    together,
)
from driftfold.studies.rfedags.completion import SYNTHETIC as COMPLETION
from driftfold.studies.rfedags.hyperbolic import PREDICTION
from driftfold.studies.rfedags.pca import SYNTHETIC as PCA
from driftfold.studies.values import Values
from driftfold.studies.verdict import Evidence, Finding, Verdict

_END = 1000


def _pca_order(values: Values) -> Finding:
    return ordered(values, PCA, ("rfedags", "rfedavg"), _END)


def _pca_ranges(values: Values) -> Finding:
    return together(
        "both end gaps are in the ranges",
        *(
            in_band(f"{PCA.arm(arm).label}", values.sample("pca", arm, _END), low, high)
            for arm, low, high in (("rfedags", 0.015, 0.06), ("rfedavg", 0.13, 0.21))
        ),
    )


def _gain_of_weights(values: Values) -> Finding:
    ags, avg = values.sample("pca", "rfedags", _END), values.sample("pca", "rfedavg", _END)
    plain = values.sample("pca", "rfedags-rs", _END)
    corrected = values.sample("pca", "rfedavg-corrected", _END)
    return together(
        "with equal weights both aggregations end alike, and weights alone bring the gain",
        same("RFedAGS / RFedAvg, both weighted", ags, corrected, margin=1.1),
        same("RFedAGS / RFedAvg, both unweighted", plain, avg, margin=1.1),
        smaller("weighted / unweighted RFedAGS", ags, plain),
    )


def _distance_to_truth(values: Values) -> Finding:
    """A measure of convergence falls to its end; this one passes its least value and grows."""
    rows = []
    for arm in ("rfedags", "rfedavg"):
        least = minimum(values, "hyperbolic", arm, "distance_to_truth")
        end = values.sample("hyperbolic", arm, 600, "distance_to_truth")
        gap = values.sample("hyperbolic", arm, 600)
        before = values.sample("hyperbolic", arm, 300)
        label = PREDICTION.arm(arm).label
        rows.append((ratio(end, least), ratio(gap, before), label))
    evidence = tuple(
        row
        for away, closer, label in rows
        for row in (
            Evidence(f"{label}: end / least distance", away),
            Evidence(f"{label}: gap after 600 / 300 rounds", closer),
        )
    )
    if all(away.centre > 1.5 and closer.centre < 1 for away, closer, _ in rows):
        return Finding(
            Verdict.FAILS,
            "each method comes closest to the true point early and then moves away from it while "
            "its gap still falls",
            evidence,
        )
    return Finding(Verdict.HOLDS, "the distance falls as the gap does", evidence)


CLAIMS = (
    Claim(
        "pca-order",
        "On synthetic PCA RFedAGS ends below RFedAvg.",
        "the paper, synthetic PCA",
        _pca_order,
    ),
    Claim(
        "pca-ranges",
        "The end gaps are those of the paper: RFedAGS in [0.015, 0.06], RFedAvg in [0.13, 0.21].",
        "the paper, synthetic PCA",
        _pca_ranges,
    ),
    Claim(
        "weights",
        "On synthetic PCA the gain over RFedAvg comes from the weights 1/(q N), not from "
        "averaging gradient streams.",
        "ours",
        _gain_of_weights,
    ),
    Claim(
        "completion",
        "Synthetic matrix completion is as published within 0.3 in log10 of the gap, "
        "for K = 1, 4, 8 and 10.",
        "the paper, synthetic matrix completion",
        lambda values: as_published(values, COMPLETION),
    ),
    Claim(
        "hyperbolic",
        "Hyperbolic structured prediction gives the published objective within 2 %.",
        "the paper, hyperbolic structured prediction",
        lambda values: as_published(values, PREDICTION),
    ),
    Claim(
        "distance",
        "The distance to the true point measures convergence.",
        "the paper, hyperbolic structured prediction",
        _distance_to_truth,
    ),
)
