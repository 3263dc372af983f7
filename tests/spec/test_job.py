"""The specification: exact round trips, one canonical form, and what is refused."""

# ruff: noqa: E501 - a case is one line

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftfold import presets
from driftfold.errors import SpecError, UnknownKind
from driftfold.participation import Bernoulli
from driftfold.spec import (
    JobSpec,
    canonical,
    digest,
    from_mapping,
    load_builtins,
    load_spec,
    to_mapping,
    validate,
)
from driftfold.spec.limits import check_limits
from driftfold.world.policy import FaultPolicy, Horizon
from tests.modules import own_kinds
from tests.spec.components import of_hint, of_kind

load_builtins()

PARTS = {
    "task": "task",
    "algorithm": "algorithm",
    "participation": "participation",
    "estimator": "estimator",
    "latency": "latency",
    "cadence": "cadence",
    "compute": "compute",
}
KINDS = [(part, kind) for part, family in PARTS.items() for kind in own_kinds(family)]

BASE = load_spec("pca-synthetic")

horizons = of_kind(Horizon).filter(lambda h: (h.rounds, h.seconds) != (None, None))


@pytest.fixture(scope="module")
def base() -> JobSpec:
    return BASE


@pytest.mark.parametrize("name", presets.names())
def test_presets_come_back_as_they_were(name: str) -> None:
    spec = load_spec(name)
    table = to_mapping(spec)
    assert from_mapping(table) == spec
    assert from_mapping(json.loads(canonical(spec))) == spec
    assert to_mapping(from_mapping(table)) == table
    assert spec.name == name


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # parts in parts in parts
@pytest.mark.parametrize(("part", "kind"), KINDS)
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_every_kind_comes_back_as_it_was(part: str, kind: str, data: st.DataObject) -> None:
    component = data.draw(of_kind(own_kinds(PARTS[part])[kind]).filter(_holdable))
    spec = replace(BASE, **{part: component})
    back = from_mapping(json.loads(canonical(spec)))
    assert back == spec
    assert canonical(back) == canonical(spec)
    assert digest(back) == digest(spec)


@settings(max_examples=20, deadline=None)
@given(horizons, of_kind(FaultPolicy), of_hint(JobSpec.__annotations__["seed"]))
def test_plain_parts_come_back_as_they_were(h: Horizon, faults: FaultPolicy, seed: int) -> None:
    spec = replace(BASE, horizon=h, faults=faults, seed=seed)
    assert from_mapping(json.loads(canonical(spec))) == spec


def test_the_mapping_is_complete(base: JobSpec) -> None:
    table = to_mapping(base)
    assert table["latency"]["kind"] == "constant"
    assert table["cadence"]["selection"] == {"kind": "uniform"}
    assert table["faults"] == {
        "on_client_error": "skip",
        "on_bad_update": "reject",
        "on_interrupt": "lose",
    }
    assert table["checkpoint_every"] == 0
    assert table["horizon"] == {"rounds": 1000, "seconds": None}


def test_the_digest_covers_everything_but_the_name(base: JobSpec) -> None:
    same = replace(base, name="another")
    assert digest(same) == digest(base)
    others = [
        replace(base, seed=1),
        replace(base, evaluate_every=1),
        replace(base, checkpoint_every=5),
        replace(base, horizon=Horizon(rounds=999)),
        replace(base, horizon=Horizon(rounds=1000, seconds=1.0)),
        replace(base, faults=FaultPolicy(on_client_error="fail")),
        replace(base, participation=Bernoulli(p=0.5)),
    ]
    assert len({digest(spec) for spec in [base, *others]}) == len(others) + 1


def test_one_experiment_has_one_digest_however_it_is_written(base: JobSpec) -> None:
    table = to_mapping(base)
    table["algorithm"]["step_size"] = 1
    whole = from_mapping(table)
    table["algorithm"]["step_size"] = 1.0
    assert digest(from_mapping(table)) == digest(whole)
    in_python = replace(base, algorithm=replace(base.algorithm, step_size=np.float64(1.0)))  # type: ignore[type-var]
    assert digest(in_python) == digest(whole)


def test_the_canonical_form_is_sorted_and_compact(base: JobSpec) -> None:
    assert len(digest(base)) == 32
    text = canonical(base).decode()
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text
    assert text.startswith('{"algorithm":{"batch":50,"combine":{"kind":"weighted_sum"}')
    assert " " not in text


def test_the_probabilities_are_those_of_the_authors_generator(base: JobSpec) -> None:
    drawn = np.random.RandomState(5489).random_sample(40)
    assert isinstance(base.participation, Bernoulli)
    assert base.participation.p == tuple(drawn.tolist())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed: got -1, wanted a whole number of at least 0"),
        ({"seed": 2**64}, "seed: got 18446744073709551616, wanted"),
        ({"seed": 1.5}, "seed: got 1.5, wanted a whole number"),
        ({"evaluate_every": 0}, "evaluate_every: got 0, wanted a whole number of at least 1"),
        ({"horizon": {"rounds": -1}}, "horizon.rounds: got -1, wanted a whole number above 0"),
        ({"horizon": {"seconds": -1.0}}, "horizon.seconds: got -1.0, wanted"),
        ({"horizon": {}}, "horizon: the run would never end; give rounds"),
        ({"faults": {"on_bad_update": "ignore"}}, "faults.on_bad_update: got 'ignore', wanted"),
        ({"participation": {"kind": "bernoulli", "p": [0.5, 0.5, 0.5, 1.4]}}, "participation.p[3]: got 1.4, wanted a finite number of at least 0 and of at most 1"),
        ({"algorithm": {"kind": "rfedags", "batch": -3}}, "algorithm.batch: got -3, wanted a whole number of at least 1, or a finite number above 0 and of at most 1, or 'full'"),
        ({"algorithm": {"kind": "fedavg", "batch": 1.5}}, "algorithm.batch: got 1.5, wanted"),
        ({"extends": "pca-synthetic"}, "extends: a complete specification extends nothing"),
        ({"plugins": ["evil"]}, "plugins: code to load is a setting of the program"),
    ],
)  # fmt: skip
def test_bad_values_are_refused(base: JobSpec, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        from_mapping({**to_mapping(base), **change})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_unknown_names_are_refused(base: JobSpec) -> None:
    with pytest.raises(UnknownKind, match="unknown field of JobSpec 'sead'; did you mean 'seed'"):
        from_mapping({**to_mapping(base), "sead": 1})
    with pytest.raises(UnknownKind, match="algorithm: unknown algorithm kind 'rfedag'; did you"):
        from_mapping({**to_mapping(base), "algorithm": "rfedag"})


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(SpecError, match="wanted a table with the fields"):
        from_mapping([1])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="wanted a JobSpec; use load_spec"):
        validate({"task": "pca"})  # type: ignore[arg-type]


def test_objects_made_in_python_are_checked_like_files(base: JobSpec) -> None:
    validate(base)
    wrong = replace(base, seed="4", participation=Bernoulli(p=(0.5, -1.0)))  # type: ignore[arg-type]
    with pytest.raises(SpecError) as caught:
        validate(wrong)
    assert [line.partition(":")[0] for line in str(caught.value).split("\n")] == [
        "participation.p[1]",
        "seed",
    ]
    with pytest.raises(SpecError, match="task: got "):
        validate(replace(base, task=3))  # type: ignore[arg-type]


def test_absurd_sizes_are_refused_before_anything_is_made(base: JobSpec) -> None:
    table = to_mapping(base)
    table["task"]["data"]["clients"] = 10**12
    with pytest.raises(SpecError, match=r"task.data.clients: got 1,000,000,000,000 clients"):
        from_mapping(table)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "gaussian_blocks", "clients": 10**8},
        {"kind": "gaussian_blocks", "samples": 10**9},
        {"kind": "gaussian_classes", "samples": 10**9, "features": 10**6},
    ],
)
def test_data_that_no_machine_holds_are_refused(base: JobSpec, data: dict[str, Any]) -> None:
    table = to_mapping(base)
    table["task"]["data"] = data
    with pytest.raises(
        SpecError, match=r"task\.data: its arrays would take [\d,]+ GB, this machine"
    ):
        from_mapping(table)


def _holdable(component: Any) -> bool:
    """Whether an arbitrary component keeps to the limits on sizes."""
    try:
        check_limits(component)
    except SpecError:
        return False
    return True
