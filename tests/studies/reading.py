"""A study of a moment whose one arm reads the run of the other."""

from driftfold.studies import Arm, Experiment, Study
from driftfold.studies.base import Reads, Small

SHORT = (
    "task.clients=3",
    "task.batch=10",
    "task.pretraining.epochs=1",
    "algorithm.risk=entropy",
    "task.keep_trained=false",
    "task.steps=4",
    "horizon.rounds=4",
    "evaluate_every=2",
)
RECORDED = f'algorithm.rate={{ kind = "recorded", run = "{"0" * 32}", order = "mean" }}'
PRESET = "fedade-digits-label-small"

CONTROLLED = Experiment(
    name="controlled",
    title="An adaptive rate and its mean",
    source="nobody's paper",
    arms=(
        Arm("matched", PRESET, (*SHORT, RECORDED), reads=Reads("adaptive")),
        Arm("adaptive", PRESET, SHORT),
    ),
    read_at=(4,),
    metrics=("accuracy_visits", "signal"),
    seeds=(1, 2),
    small=Small(without=("adaptive",)),
)
STUDY = Study("reading", "Reading", "Whether runs are found.", (CONTROLLED,), ())
