"""Conformance checks that any plug-in can run; they need no test framework."""

from driftfold.testing.checkpoint import check_checkpoint_store
from driftfold.testing.corruption import check_corruption
from driftfold.testing.detector import check_detector
from driftfold.testing.drift import check_drift
from driftfold.testing.estimator import check_estimator
from driftfold.testing.label_estimate import check_label_estimate
from driftfold.testing.latency import check_latency
from driftfold.testing.manifold import check_manifold
from driftfold.testing.net import check_net
from driftfold.testing.participation import check_participation
from driftfold.testing.schedule import check_schedule
from driftfold.testing.signal import check_signal
from driftfold.testing.task import check_task

__all__ = [
    "check_checkpoint_store",
    "check_corruption",
    "check_detector",
    "check_drift",
    "check_estimator",
    "check_label_estimate",
    "check_latency",
    "check_manifold",
    "check_net",
    "check_participation",
    "check_schedule",
    "check_signal",
    "check_task",
]
