"""Settings that are found by trying: the best candidate, and the grid that it makes."""

from dataclasses import replace

import numpy as np

from driftfold.studies import Arm, Experiment, Study
from driftfold.studies.cells import Form, chosen, grid, tuning
from driftfold.studies.tuning import Candidate, Tuned
from driftfold.studies.values import Values
from tests.studies.tiny import STUDY, series

STEPS = ("few", "some", "many")


def settings(name: str) -> tuple[str, ...]:
    return (f"algorithm.steps={1 + STEPS.index(name)}", "horizon.rounds=3", "evaluate_every=1")


def trial(name: str, seed: int) -> Experiment:
    arms = tuple(Arm(step, "pca-synthetic-small", settings(step)) for step in STEPS)
    return Experiment(name, name, "", arms, (3,), seeds=(seed,))


TUNED = Tuned(
    ("one", "two"), tuple(Candidate(step, settings(step)) for step in STEPS), 3, "accuracy"
)
MAIN = Experiment(
    "main", "main", "", (Arm("best", "pca-synthetic-small", tuned=TUNED),), (3,), seeds=(1,)
)
TRYING = replace(STUDY, experiments=(trial("one", 101), trial("two", 102), MAIN))


def measured(**by_step: tuple[float, float]) -> Values:
    """Accuracies of candidates in both trials after round 3."""
    return Values(
        {
            (name, step, seed): series(0.0, 0.0, 0.0, value, metric="accuracy")
            for step, pair in by_step.items()
            for name, seed, value in zip(("one", "two"), (101, 102), pair, strict=True)
        }
    )


def steps_of(study: Study, values: Values) -> int:
    cells = grid(study, Form(), values)
    (best,) = (cell for cell in cells if cell.experiment == "main")
    return int(best.spec.algorithm.steps)  # type: ignore[attr-defined]


def test_the_highest_mean_over_all_trials_is_taken() -> None:
    values = measured(few=(0.9, 0.1), some=(0.4, 0.4), many=(0.6, 0.5))
    assert TUNED.scores(values) == (0.5, 0.4, 0.55)
    assert steps_of(TRYING, values) == 3
    assert steps_of(TRYING, measured(few=(0.9, 0.9), some=(0.4, 0.4), many=(0.6, 0.5))) == 1


def test_a_candidate_without_a_value_everywhere_does_not_count() -> None:
    values = measured(few=(0.5, 0.5), some=(0.4, 0.4), many=(0.6, np.nan))
    assert steps_of(TRYING, values) == 1
    lost = {key: run for key, run in values.series.items() if key != ("two", "few", 102)}
    assert steps_of(TRYING, Values(lost)) == 2


def test_of_equals_the_first_and_without_values_the_middle_one() -> None:
    assert steps_of(TRYING, measured(some=(0.5, 0.5), many=(0.5, 0.5))) == 2
    assert steps_of(TRYING, Values()) == 2


def test_another_choice_is_another_run() -> None:
    found = [grid(TRYING, Form(), measured(**{step: (1.0, 1.0)}))[-1].digest for step in STEPS]
    assert len(set(found)) == 3


def test_those_that_tune_come_along_where_one_experiment_is_asked_for() -> None:
    form = Form(only=("main",))
    assert [e.name for e in chosen(TRYING, form)] == ["one", "two", "main"]
    assert tuning(chosen(TRYING, form)) == {"one", "two"}
    assert tuning(chosen(TRYING, Form(only=("one",)))) == frozenset()
