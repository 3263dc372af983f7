"""Parts that do not fit are refused when a specification is validated, before any data."""

from pathlib import Path

import numpy as np
import pytest

from driftfold.errors import CapabilityError
from driftfold.participation.base import KnownProbability, KnownSchedule
from driftfold.spec import from_mapping, load_spec, validate
from tests.modules import own_kinds
from tests.participation.fleets import fleet_of

KINDS = sorted(own_kinds("participation"))


@pytest.mark.parametrize(
    "setting",
    [
        "participation=diurnal",
        "participation=diurnal_sessions",
        'participation={kind="sine", slot=60.0}',
        'participation={kind="dropout", of="diurnal"}',
        'participation={kind="dropout", of="bernoulli", unit="seconds"}',
        "cadence.cohort=4",
        "cadence.deadline=9.0",
    ],
)
def test_true_probabilities_that_nobody_knows_are_refused(setting: str) -> None:
    spec = load_spec("pca-synthetic", overrides=["estimator=oracle", setting])
    with pytest.raises(CapabilityError, match="estimator 'oracle' needs") as refusal:
        validate(spec)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "settings",
    [
        ("participation=bernoulli",),
        ("participation=sine",),
        ("participation=interleaved_sine",),
        ("participation=staircase",),
        ("participation=jump",),
        ("participation=cyclic",),
        ("participation=markov",),
        ("participation.kind=diurnal", "participation.slot=dispatch"),
        ('participation={kind="dropout", of="sine"}',),
    ],
)
def test_known_ones_are_accepted(settings: tuple[str, ...]) -> None:
    validate(load_spec("pca-synthetic", overrides=["estimator=oracle", *settings]))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_tells_truly_whether_it_knows(kind: str, tmp_path: Path) -> None:
    (tmp_path / "sessions.csv").write_text("client,start,end\n0,1,2\n")
    required: dict[str, dict[str, object]] = {
        "dropout": {"of": "always"},
        "outage": {"of": "always"},
        "trace": {"path": str(tmp_path / "sessions.csv")},
        "uniform": {"size": 2},
    }
    table = {"kind": kind, **required.get(kind, {})}
    model = from_mapping(
        {
            "task": {"kind": "softmax_regression"},
            "algorithm": {"kind": "fedavg"},
            "horizon": {"rounds": 1},
            "participation": table,
        }
    ).participation
    attendance = model.attend(fleet_of(5, label_shares=np.full((5, 2), 0.5)))
    assert model.knows_probability == isinstance(attendance, KnownProbability | KnownSchedule)


PRIVATE = {
    "extends": "pca-synthetic",
    "algorithm": {
        "kind": "private",
        "algorithm": {"kind": "rfedags"},
        "presumed_probability": 0.25,
    },
    "participation": {"kind": "bernoulli", "p": 0.25},
    "estimator": {"kind": "capped", "rule": {"kind": "oracle"}, "max_weight": 4.0},
}


def test_privacy_by_sampling_that_is_as_presumed_is_accepted() -> None:
    validate(load_spec(PRIVATE))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("participation.p=0.3", "up to 0.3"),
        ("participation=always", "participation is 'always'"),
        ("cadence.cohort=4", "but .* leave out presumed_probability"),
        ("estimator=inclusive", "estimator 'inclusive' would tell who else"),
    ],
)
def test_privacy_by_sampling_that_is_not_so_is_refused(setting: str, words: str) -> None:
    spec = load_spec(PRIVATE, overrides=[setting])
    with pytest.raises(CapabilityError, match=words) as refusal:
        validate(spec)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "outer",
    [
        {"kind": "adversarial", "attack": {"kind": "sign_flip"}},
        {"kind": "private", "where": "client", "delta": "none"},  # which presumes nothing itself
    ],
    ids=["adversarial", "private"],
)
def test_what_is_presumed_inside_a_wrapper_is_checked_and_told_of_whom(
    outer: dict[str, object],
) -> None:
    inside = {**PRIVATE, "algorithm": {**outer, "algorithm": PRIVATE["algorithm"]}}
    validate(load_spec(inside))
    with pytest.raises(CapabilityError, match=r"algorithm 'private' presumes .* is 'always'"):
        validate(load_spec(inside, overrides=["participation=always"]))


@pytest.mark.parametrize(
    ("drift", "words"),
    [
        ('["labels", {kind = "labels", schedule = "sine"}]', "both say which labels come"),
        ('["feature_noise", "corruptions"]', "put it first"),
    ],
)
def test_drifts_without_a_meaning_together_are_refused(drift: str, words: str) -> None:
    task = f'task={{kind = "drifting_classification", drift = {drift}}}'
    spec = load_spec("pca-synthetic", overrides=[task])
    with pytest.raises(CapabilityError, match=words):
        validate(spec)
