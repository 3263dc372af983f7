"""Where the first of the local steps are no answer, policies that send them are refused."""

import re
from typing import Any

import pytest

from driftfold.algorithms import PartialWork
from driftfold.errors import CapabilityError
from driftfold.spec import load_spec, validate
from tests.modules import ROOT, own_kinds

PARTIAL = "faults.on_interrupt=partial"
FORCE = ["cadence.kind=buffered", "cadence.beyond=force"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ([PARTIAL, "algorithm=rfedproj"], "no answer of algorithm 'rfedproj'; choose .*'rfedags'"),
        ([PARTIAL, "algorithm=rfed_frechet"], "no answer of algorithm 'rfed_frechet'"),
        ([PARTIAL, "algorithm=fedawe"], "no answer of algorithm 'fedawe'"),
        (
            [PARTIAL, 'algorithm={kind="private", algorithm="rfedproj"}'],
            "no answer of algorithm 'rfedproj'",
        ),
        (
            [PARTIAL, 'algorithm={kind="mifa", algorithm="rfedags"}'],
            "'mifa' takes no part of a client's work: its server remembers",
        ),
        (
            [
                PARTIAL,
                'algorithm={kind="private", algorithm={kind="fedvarp", algorithm="rfedags"}}',
            ],
            "'fedvarp' takes no part .* leave 'fedvarp' out",
        ),
        (
            [
                PARTIAL,
                'algorithm={kind="compressed", algorithm="rfedags", error_feedback=true, '
                'compressor={kind="top_k", k=3}}',
            ],
            "'compressed' takes no part .* what earlier messages left out",
        ),
        ([PARTIAL, "algorithm.combine=median"], "combine is 'median'; choose combine 'weighted_"),
        (
            [PARTIAL, "algorithm=rfedavg", "cadence.kind=immediate", "cadence.mixes=model"],
            "mixes models: an end point has no share",
        ),
        ([*FORCE, "cadence.max_staleness=3"], "and faults.on_interrupt = 'partial'"),
        ([*FORCE, PARTIAL], "give a max_staleness of at least 1"),
        ([*FORCE, PARTIAL, "cadence.max_staleness=0"], "give a max_staleness of at least 1"),
    ],
)
def test_refused_with_what_to_change(settings: list[str], words: str) -> None:
    spec = load_spec("pca-synthetic", overrides=settings)
    with pytest.raises(CapabilityError, match=words) as refusal:
        validate(spec)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "settings",
    [
        [PARTIAL],
        [PARTIAL, "algorithm=rfedsvrg"],
        [*FORCE, PARTIAL, "cadence.max_staleness=1"],
        [PARTIAL, 'algorithm={kind="private", where="client", delta="none", algorithm="rfedags"}'],
        ["faults.on_interrupt=suspend", "algorithm=fedawe"],
    ],
)
def test_accepted(settings: list[str]) -> None:
    validate(load_spec("pca-synthetic", overrides=settings))


def test_whose_first_steps_are_an_answer() -> None:
    kinds: dict[str, Any] = own_kinds("algorithm")
    able = {name for name, kind in kinds.items() if issubclass(kind, PartialWork)}
    assert able == {"fedavg", "rfedags", "rfedavg", "rfedprox", "rfedsvrg"}
    told = (ROOT / "docs" / "algorithms.md").read_text().split("## Interrupted work")[1]
    named = set(re.findall(r"`(\w+)`", told.split("server sums: for ")[1].split("whose first")[0]))
    assert named == able
