"""Grids of cells."""

from dataclasses import replace

import pytest

from driftfold.errors import SpecError
from driftfold.spec import digest
from driftfold.studies import Arm, studies
from driftfold.studies.cells import Form, chosen, distinct, grid
from tests.studies.tiny import LACKING, PLAIN, STUDY

NAMES = [(study, experiment) for study in studies() for experiment in study.experiments]


def test_a_cell_for_each_experiment_arm_and_seed() -> None:
    cells = grid(STUDY, Form(seeds=2))
    assert [cell.name for cell in cells] == [
        "plain/weighted-s1",
        "plain/weighted-s2",
        "plain/plain-s1",
        "plain/plain-s2",
        "lacking/missing-s1",
        "lacking/missing-s2",
    ]
    assert [cell.spec.seed for cell in cells] == [1, 2, 1, 2, 1, 2]
    assert all(cell.digest == digest(cell.spec) for cell in cells)
    assert cells[0].place == "cells/plain/weighted-s1"


def test_cells_that_run_the_same_share_a_folder() -> None:
    again = replace(PLAIN, name="again", arms=(Arm("other", *_source(PLAIN.arms[0])),))
    cells = grid(replace(STUDY, experiments=(PLAIN, again)), Form())
    assert [cell.place for cell in cells][2] == "cells/plain/weighted-s1"
    assert len(distinct(cells)) == 2


def test_the_small_form_changes_arms_and_drops_what_was_published() -> None:
    (small,) = chosen(STUDY, Form(small=True))
    assert small.published == ()
    assert {cell.spec.horizon.rounds for cell in grid(STUDY, Form(small=True))} == {2}


def test_the_full_tier_is_run_when_asked_for() -> None:
    study = replace(STUDY, experiments=(PLAIN, replace(LACKING, tier="full")))
    assert [e.name for e in chosen(study, Form())] == ["plain"]
    assert [e.name for e in chosen(study, Form(full=True))] == ["plain", "lacking"]
    assert [e.name for e in chosen(study, Form(only=("lacking",)))] == ["lacking"]


def test_an_unknown_experiment_is_told_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'plain'"):
        chosen(STUDY, Form(only=("plane",)))


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_study_is_in_order(study: object) -> None:
    for owner, experiment in NAMES:
        if owner is study:
            arms = [arm.name for arm in experiment.arms]
            assert len(set(arms)) == len(arms), experiment.name
            assert {row.arm for row in experiment.published} <= set(arms), experiment.name
            for row in experiment.published:
                assert row.round in experiment.read_at, experiment.name
                assert row.metric in ("", *experiment.metrics), experiment.name
    names = [experiment.name for owner, experiment in NAMES if owner is study]
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize("form", [Form(full=True, seeds=1), Form(small=True, seeds=1)])
def test_every_cell_of_every_study_is_a_sound_specification(form: Form) -> None:
    for study in studies():
        for cell in grid(study, form):
            rounds = cell.spec.horizon.rounds
            assert rounds is not None
            if not form.small:
                experiment = next(e for e in study.experiments if e.name == cell.experiment)
                assert rounds >= max(experiment.read_at), cell.name
                assert all(t % cell.spec.evaluate_every == 0 for t in experiment.read_at)


def _source(arm: Arm) -> tuple[str, tuple[str, ...]]:
    return arm.preset, arm.overrides
