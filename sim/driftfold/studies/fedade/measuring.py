"""What is read from runs of the study."""

from typing import Literal

from driftfold.studies.base import Arm, Experiment, Published, Small
from driftfold.studies.fedade.settings import END, SEEDS

ACCURACY = "accuracy_visits"
"""Share of inputs classified rightly before the client adapted to them, over all clients and
steps so far: what counts in practice."""

METRICS = (
    ACCURACY,
    "accuracy_after",
    "worst_decile",
    "rate",
    "signal",
    "gradients",
    "bytes_up",
    "bytes_down",
    "cpu",
)

OF_ROUNDS = ("signal", "signal_0", "signal_1", "bytes_up", "bytes_down", "cpu")
"""Values of rounds that are read: both parts of S, bytes of all clients, seconds of a core."""

EARLY = 20
"""Steps of the small form; values after as many stand in the tables of the others, too."""

NOTE = (
    "Values are means over all steps so far, of the round after which they stand. accuracy_visits: "
    "before a client adapts to a batch; accuracy_after: on the same batch afterwards, as the "
    "released scripts count. gradients: examples whose gradients a client computes at one step. "
    "Bytes, and cpu (seconds of a core): of all clients in one step."
)


def measured(
    name: str,
    title: str,
    source: str,
    arms: tuple[Arm, ...],
    *,
    small: Small | None = None,
    seeds: tuple[int, ...] = SEEDS,
    drawn: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    at: tuple[int, ...] = (EARLY, END),
    published: tuple[Published, ...] = (),
    tier: Literal["core", "full"] = "core",
    metrics: tuple[str, ...] = METRICS,
    note: str = NOTE,
) -> Experiment:
    """Return an experiment whose values at the end are means over a stream."""
    return Experiment(
        name=name,
        title=title,
        source=source,
        arms=arms,
        read_at=at,
        metrics=metrics,
        scale="linear",
        drawn=drawn,
        published=published,
        seeds=seeds,
        small=small,
        tier=tier,
        needs=needs,
        note=note,
    )
