"""The study of Fed-ADE: its grid is what it says, and its rules find what was put in."""

from collections.abc import Callable

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.rates import Adaptive, FixedRate, Recorded
from driftfold.spec import load_spec, validate
from driftfold.studies import get_study
from driftfold.studies.base import Arm, Experiment
from driftfold.studies.cells import Form, chosen, grid, tuning
from driftfold.studies.fedade.candidates import RATES, bounds_tried
from driftfold.studies.fedade.claims import CLAIMS
from driftfold.studies.fedade.contest import BUDGET, TUNING_SEEDS
from driftfold.studies.fedade.contests import CONTESTS
from driftfold.studies.fedade.crowds import CLIENTS, COUNTS, CROWD_END
from driftfold.studies.fedade.grids import GRIDS, TUNING
from driftfold.studies.fedade.measuring import ACCURACY, EARLY
from driftfold.studies.fedade.rules import over_schedules
from driftfold.studies.fedade.settings import DIGITS, END, SCHEDULES, SEEDS, SETTINGS, Setting
from driftfold.studies.fedade.systems import BASELINES, UNTUNED
from driftfold.studies.judging import judge
from driftfold.studies.values import Series, Values
from driftfold.studies.verdict import Finding, Verdict

STUDY = get_study("fedade")
CORE = [experiment for experiment in STUDY.experiments if experiment.tier == "core"]
TUNERS = tuning(STUDY.experiments)
ROUNDS = np.array([0, EARLY, CROWD_END, END])


def spec_of(arm: Arm) -> FedADE:
    found = arm.tuned.settings(Values()) if arm.tuned else ()
    algorithm = load_spec(arm.preset, overrides=[*arm.overrides, *found]).algorithm
    assert isinstance(algorithm, FedADE)
    return algorithm


def test_all_systems_meet_all_schedules() -> None:
    assert len(GRIDS) == 3 * 2 * 4
    ablations = ("no-unc", "no-rep", "no-unc-matched", "no-rep-matched")
    for experiment in GRIDS:
        names = {arm.name for arm in experiment.arms}
        assert set(BASELINES) <= names
        everywhere = ("mid", "best", "ade", "matched")
        rest = ("low", "high", "shuffled", "separate", *ablations)
        assert {f"{what}-entropy" for what in (*everywhere, *rest)} <= names
        assert {f"{what}-bbse" for what in everywhere} <= names
        assert ("label" in experiment.name) == ({f"{what}-bbse" for what in rest} <= names)
        assert experiment.seeds == SEEDS
    assert COUNTS == (10, 100, 1000, 5000)


def test_everything_is_tuned_alike_and_on_other_seeds() -> None:
    for contest in CONTESTS.values():
        assert {len(system.values) for system in contest.systems} == {BUDGET}
    by_name = {experiment.name: experiment for experiment in STUDY.experiments}
    for name in TUNERS:
        assert set(by_name[name].seeds) <= set(TUNING_SEEDS)
    assert not set(TUNING_SEEDS) & {s for e in CORE if e.name not in TUNERS for s in e.seeds}
    for setting in SETTINGS:  # all schedules and both seeds
        own = [e for e in TUNING if e.name.startswith(f"tune-{setting.data}-{setting.shift}")]
        assert len(own) == len(SCHEDULES)
        assert {seed for e in own for seed in e.seeds} == set(TUNING_SEEDS)
    without = {arm.name for arm in GRIDS[0].arms if arm.tuned is None and arm.reads is None}
    assert without == set(UNTUNED)


def test_tuned_arms_name_candidates_that_are_run_before() -> None:
    by_name = {experiment.name: experiment for experiment in STUDY.experiments}
    order = [experiment.name for experiment in STUDY.experiments]
    for experiment in STUDY.experiments:
        for arm in experiment.arms:
            tuned = arm.tuned
            if tuned is None:
                continue
            tried = {candidate.arm for candidate in tuned.candidates}
            for name in tuned.experiments:
                assert order.index(name) < order.index(experiment.name)
                assert tried <= {one.name for one in by_name[name].arms}
                assert tuned.round in by_name[name].read_at


def reads(experiment: Experiment, name: str) -> str:
    found = experiment.arm(name).reads
    assert found is not None
    return found.arm


def test_every_ablation_and_every_signal_has_its_own_mean_rate() -> None:
    ablations = GRIDS[0]
    for what in ("no-unc", "no-rep"):
        assert reads(ablations, f"{what}-matched-bbse") == f"{what}-bbse"
    for experiment in CORE:
        if experiment.name in ("weights", "measures") or experiment.name.startswith("search-"):
            for arm in experiment.arms:
                what, _, risk = arm.name.rpartition("-")
                if arm.reads is None and what not in ("", "best"):
                    flat = "matched" if what == "ade" else f"{what}-matched"
                    assert reads(experiment, f"{flat}-{risk}") == arm.name


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.short)
def test_arms_differ_in_what_they_are_named_after(setting: Setting) -> None:
    experiment = GRIDS[4 * SETTINGS.index(setting)]
    bounds = list(bounds_tried("entropy").values())[3]
    algorithms = {
        what: spec_of(experiment.arm(f"{what}-entropy"))
        for what in ("low", "mid", "high", "best", "ade", "shuffled", "matched", "separate")
    }
    rates = {what: algorithm.rate for what, algorithm in algorithms.items()}
    assert rates["low"] == FixedRate(bounds.low)
    assert rates["high"] == FixedRate(bounds.high)
    assert rates["best"] == FixedRate(RATES["entropy"][3])
    assert isinstance(rates["mid"], FixedRate)
    assert rates["mid"].rate == pytest.approx((bounds.low * bounds.high) ** 0.5, rel=5e-3)
    assert rates["ade"] == Adaptive(bounds.low, bounds.high)
    assert not algorithms["separate"].federated
    assert algorithms["ade"].federated
    orders = {what: rates[what] for what in ("shuffled", "matched", "separate")}
    assert all(isinstance(rate, Recorded) for rate in orders.values())
    assert {reads(experiment, f"{what}-entropy") for what in orders} == {"ade-entropy"}


def test_presets_and_schedules_are_those_of_the_settings() -> None:
    for setting in SETTINGS:
        preset = load_spec(setting.preset)
        lin = load_spec(setting.preset, overrides=[setting.under(SCHEDULES["lin"][1])])
        assert lin.task == preset.task  # presets are under Lin
        drifts = {
            str(load_spec(setting.preset, overrides=[setting.under(toml)]).task)
            for _, toml in SCHEDULES.values()
        }
        assert len(drifts) == 4


def test_the_small_form_needs_no_data_and_is_small() -> None:
    form = Form(small=True)
    assert all(not experiment.needs for experiment in chosen(STUDY, form))
    cells = grid(STUDY, Form(small=True, only=("floor",)))
    for cell in cells:
        assert cell.spec.horizon.rounds == EARLY
        assert cell.seed == (1 if cell.experiment == "floor" else cell.seed)
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
                told = {ACCURACY: value, "gradients": 1.0, "signal": 0.1, "cpu": 1.0, **more}
                if experiment.name == "floor":
                    told["signal"] = 0.01 + 0.001 * rng.normal()
                if arm.name in BASELINES:
                    told["gradients"] = told["cpu"] = 2.0
                series[experiment.name, arm.name, seed] = Series(
                    ROUNDS, {name: np.full(4, v) for name, v in told.items()}
                )
    return Values(series, frozenset(series))


def verdicts(values: Values) -> dict[str, Verdict]:
    return {claim.name: finding.verdict for claim, finding in judge(STUDY, values)}


def rosy(experiment: str, arm: str) -> float:
    """All is as the claims say."""
    if experiment == CLIENTS.name:
        gained = {"10": 0.72, "100": 0.75, "1000": 0.79, "5000": 0.83}
        return 0.7 if "frozen" in arm else gained[arm.split("-")[0]]
    if experiment == "bounds":
        return 0.4 if arm == "one-entropy" else 0.8
    if experiment.startswith("search"):
        return 0.7 if arm.startswith(("best", "frozen")) or "matched" in arm else 0.8
    if experiment.startswith("concept"):
        return {"frozen": 0.6, "best-labelled": 0.7, "best-entropy": 0.7}.get(arm, 0.8)
    if arm == "reweighting":
        return 0.85
    if arm in BASELINES:
        return 0.7
    best = arm.startswith(("ade", "gap", "w1-1", "cosine")) or "-ade-" in arm
    return 0.8 if best and "matched" not in arm else 0.75


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
    assert undecided == {"floor", "cheaper", "faster"}  # which are not about accuracy


def test_sets_that_were_not_run_are_left_out() -> None:
    values = made(rosy).without([e.name for e in GRIDS if not e.name.startswith("digits")])
    findings = {claim.name: finding for claim, finding in judge(STUDY, values)}
    assert findings["matched"].verdict is Verdict.HOLDS
    assert len(findings["matched"].evidence) == 4  # two shifts, two risks
    assert len(findings["well-tuned"].evidence) == 8
    partial = values.without([DIGITS.name("squ")])
    assert len(dict(judge(STUDY, partial))) == len(CLAIMS)
    with pytest.raises(LookupError):
        over_schedules(partial, DIGITS, "frozen")


def lacking(values: Values, lost: Callable[[str, str, int], bool]) -> dict[str, Finding]:
    """Findings where all was to be run and some runs failed."""
    left = {key: series for key, series in values.series.items() if not lost(*key)}
    found = judge(STUDY, Values(left, frozenset(values.series)))
    return {claim.name: finding for claim, finding in found}


def test_comparisons_that_are_lost_are_told() -> None:
    """An arm that failed in one of four schedules takes one set and shift out of its claims."""
    squ = DIGITS.name("squ")
    findings = lacking(made(rosy), lambda e, arm, _: (e, arm) == (squ, "matched-bbse"))
    for name in ("matched", "well-tuned", "uncertainty-beyond-rate"):
        assert findings[name].verdict is Verdict.HOLDS_ONLY
        assert f"1 more lost, for want of results: {'gain' if 'rate' in name else 'ade'}" in (
            findings[name].reason
        )
        assert "; 5 of " in findings[name].reason
    assert len(findings["matched"].evidence) == 2 * len(SETTINGS) - 1
    assert findings["shuffled"].verdict is Verdict.HOLDS
    assert "no result" not in findings["shuffled"].reason


def test_there_is_no_verdict_where_all_of_a_side_failed() -> None:
    grids = {e.name for e in GRIDS}
    findings = lacking(made(rosy), lambda e, arm, _: e in grids and arm == "matched-entropy")
    assert findings["matched"].verdict is Verdict.NOT_TESTED
    assert "all comparisons of two sides are lost" in findings["matched"].reason
    assert findings["tuned"].verdict is Verdict.HOLDS


def test_one_seed_that_failed_is_told_and_the_others_count() -> None:
    squ = DIGITS.name("squ")
    findings = lacking(made(rosy), lambda *key: key == (squ, "ade-bbse", 2))
    assert findings["matched"].verdict is Verdict.HOLDS
    assert findings["matched"].evidence[0].interval.seeds == 4
    assert "; 1 of " in findings["matched"].reason
    assert f"{squ}/ade-bbse/2 the first" in findings["matched"].reason


def test_what_the_search_lost_might_have_won() -> None:
    everything = made(lambda experiment, arm: 0.7)
    assert lacking(everything, lambda *key: False)["search"].verdict is Verdict.FAILS
    findings = lacking(everything, lambda e, arm, _: e == "search-staggered" and arm == "ade-bbse")
    assert findings["search"].verdict is Verdict.UNDECIDED
    assert "1 more lost" in findings["search"].reason


def test_nothing_is_tested_without_values() -> None:
    assert set(verdicts(Values()).values()) == {Verdict.NOT_TESTED}


def test_claims_ask_for_arms_that_are_there() -> None:
    """But for ablations that some grids leave out, where the rate does nothing."""
    values = made(rosy)
    for claim in CLAIMS:
        claim.judge(values)
    missing = {(e, arm) for e, arm in values.asked if (e, arm, 1) not in values.series}
    assert {e for e, _ in missing} <= {e.name for e in GRIDS if "covariate" in e.name}


def test_the_search_is_over_all_signals_and_risks() -> None:
    findings = {claim.name: finding for claim, finding in judge(STUDY, made(rosy))}
    assert "of 24 adaptive arms 24 are above" in findings["search"].reason
