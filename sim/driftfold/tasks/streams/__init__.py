"""Streams: a model before deployment, and what its clients meet after it."""

from driftfold.tasks.streams.class_shares import ClassShares
from driftfold.tasks.streams.pretraining import Pretraining
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.source import Source
from driftfold.tasks.streams.stream import Stream
from driftfold.tasks.streams.view import StreamView

__all__ = [
    "ClassShares",
    "Pretraining",
    "Source",
    "Stream",
    "StreamProblem",
    "StreamView",
]
