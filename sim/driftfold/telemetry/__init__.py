"""Records of a run: numbered, digested, and kept in memory or in a folder."""

from driftfold.telemetry.base import Record, RecordSink
from driftfold.telemetry.jsonl import JsonLines
from driftfold.telemetry.memory import Memory
from driftfold.telemetry.metrics import merge
from driftfold.telemetry.quantiles import quantiles
from driftfold.telemetry.reader import each_record, read_records
from driftfold.telemetry.recorder import Recorder

__all__ = [
    "JsonLines",
    "Memory",
    "Record",
    "RecordSink",
    "Recorder",
    "each_record",
    "merge",
    "quantiles",
    "read_records",
]
