"""The study of Fed-ADE: its grid is what it says, and its rules find what was put in."""

from collections.abc import Callable

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.rates import Adaptive, FixedRate, Recorded
from driftfold.spec import load_spec, validate
from driftfold.studies import get_study
from driftfold.studies.base import Arm
from driftfold.studies.cells import Form, chosen, grid
from driftfold.studies.fedade.findings import CLAIMS, over_schedules
from driftfold.studies.fedade.grids import ACCURACY, EARLY, GRIDS
from driftfold.studies.fedade.questions import CLIENTS, CROWD_END
from driftfold.studies.fedade.settings import DIGITS, END, SCHEDULES, SETTINGS, Setting
from driftfold.studies.fedade.systems import BASELINES
from driftfold.studies.judging import judge
from driftfold.studies.values import Series, Values
from driftfold.studies.verdict import Verdict

STUDY = get_study("fedade")
ROUNDS = np.array([0, EARLY, CROWD_END, END])


def spec_of(arm: Arm) -> FedADE:
    algorithm = load_spec(arm.preset, overrides=list(arm.overrides)).algorithm
    assert isinstance(algorithm, FedADE)
    return algorithm


def test_all_systems_meet_all_schedules() -> None:
    assert len(GRIDS) == 3 * 2 * 4
    for experiment in GRIDS:
        names = {arm.name for arm in experiment.arms}
        assert set(BASELINES) <= names
        whole = "label" in experiment.name or "digits" in experiment.name
        for risk in ("bbse", "entropy") if whole else ("entropy",):
            assert {f"{what}-{risk}" for what in ("mid", "ade", "matched")} <= names
        assert {f"{what}-entropy" for what in ("low", "high", "shuffled", "alone")} <= names
        assert len(experiment.seeds) == 5


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.short)
def test_arms_differ_in_what_they_are_named_after(setting: Setting) -> None:
    experiment = GRIDS[4 * SETTINGS.index(setting)]
    bounds = setting.of_entropy
    algorithms = {
        what: spec_of(experiment.arm(f"{what}-entropy"))
        for what in ("low", "mid", "high", "ade", "shuffled", "matched", "alone")
    }
    rates = {what: algorithm.rate for what, algorithm in algorithms.items()}
    assert rates["low"] == FixedRate(bounds.low)
    assert rates["high"] == FixedRate(bounds.high)
    assert isinstance(rates["mid"], FixedRate)
    assert rates["mid"].rate == pytest.approx((bounds.low * bounds.high) ** 0.5, rel=5e-3)
    assert rates["ade"] == Adaptive(bounds.low, bounds.high) == rates["alone"]
    assert algorithms["alone"].personal == ("body", "head")
    orders = {what: rates[what] for what in ("shuffled", "matched")}
    assert all(isinstance(rate, Recorded) for rate in orders.values())
    for what in orders:
        reads = experiment.arm(f"{what}-entropy").reads
        assert reads is not None
        assert reads.arm == "ade-entropy"


def test_presets_and_schedules_are_those_of_the_settings() -> None:
    for setting in SETTINGS:
        preset = load_spec(setting.preset)
        lin = load_spec(setting.preset, overrides=[setting.under(SCHEDULES["lin"][1])])
        assert lin.task == preset.task  # presets are under Lin
        rate = preset.algorithm.rate  # type: ignore[attr-defined]
        assert (rate.low, rate.high) == (setting.bounds.low, setting.bounds.high)
        drifts = {
            str(load_spec(setting.preset, overrides=[setting.under(toml)]).task)
            for _, toml in SCHEDULES.values()
        }
        assert len(drifts) == 4


def test_the_small_form_needs_no_data_and_is_small() -> None:
    form = Form(small=True)
    assert all(not experiment.needs for experiment in chosen(STUDY, form))
    cells = grid(STUDY, Form(small=True, only=("digits-label-lin", "floor")))
    for cell in cells:
        assert (cell.spec.horizon.rounds, cell.seed) == (EARLY, 1)
    validate(cells[0].spec)


def made(accuracy: Callable[[str, str], float], **more: float) -> Values:
    """Values of five seeds, differences between arms of a seed about 0.1 points apart."""
    rng = np.random.default_rng(0)
    series = {}
    for experiment in STUDY.experiments:
        if experiment.tier == "full":
            continue
        for seed in experiment.seeds:
            base = 0.02 * rng.normal()
            for arm in experiment.arms:
                value = accuracy(experiment.name, arm.name) + base + 0.0003 * rng.normal()
                told = {ACCURACY: value, "gradients": 1.0, "signal": 0.1, **more}
                if experiment.name == "floor":
                    told["signal"] = 0.01 + 0.001 * rng.normal()
                if arm.name in BASELINES:
                    told["gradients"] = 2.0
                series[experiment.name, arm.name, seed] = Series(
                    ROUNDS, {name: np.full(4, v) for name, v in told.items()}
                )
    return Values(series)


def verdicts(values: Values) -> dict[str, Verdict]:
    return {claim.name: finding.verdict for claim, finding in judge(STUDY, values)}


def rosy(experiment: str, arm: str) -> float:
    """All is as the claims say."""
    if experiment == CLIENTS.name:
        return (
            0.7 if "frozen" in arm else {"10": 0.72, "100": 0.75, "1000": 0.79}[arm.split("-")[0]]
        )
    if experiment == "bounds":
        return 0.4 if arm == "one-entropy" else 0.8
    if experiment.startswith("search"):
        slow = ("low", "mid", "high", "frozen")
        return 0.7 if arm.startswith(slow) or "matched" in arm else 0.8
    if "high-entropy" in arm:
        return 0.4
    if arm == "reweighting":
        return 0.85
    if arm in BASELINES:
        return 0.7
    best = arm.startswith(("ade", "w1-1", "cosine")) or "-ade-" in arm
    return 0.8 if best else 0.75


def test_claims_hold_where_all_is_as_they_say() -> None:
    found = verdicts(made(rosy))
    assert len(found) == len(CLAIMS)
    assert {name for name, verdict in found.items() if verdict is not Verdict.HOLDS} == set()


def test_claims_fail_where_it_is_the_other_way_round() -> None:
    def grim(experiment: str, arm: str) -> float:
        if experiment == CLIENTS.name:
            return 1.4 - rosy(experiment, arm)
        if experiment == "bounds":
            return 0.8 if arm.startswith("down") else 0.78 if arm.startswith("one") else 0.6
        return 1.5 - rosy(experiment, arm)

    found = verdicts(made(grim))
    undecided = {name for name, verdict in found.items() if verdict is not Verdict.FAILS}
    assert undecided == {"floor", "cheaper"}  # which are not about accuracy


def test_sets_that_were_not_run_are_left_out() -> None:
    values = made(rosy).without([e.name for e in GRIDS if not e.name.startswith("digits")])
    findings = {claim.name: finding for claim, finding in judge(STUDY, values)}
    assert findings["matched"].verdict is Verdict.HOLDS
    assert len(findings["matched"].evidence) == 4  # two shifts, two risks
    partial = values.without([DIGITS.name("squ")])
    assert len(dict(judge(STUDY, partial))) == len(CLAIMS)
    with pytest.raises(LookupError):
        over_schedules(partial, DIGITS, "frozen")


def test_nothing_is_tested_without_values() -> None:
    assert set(verdicts(Values()).values()) == {Verdict.NOT_TESTED}
