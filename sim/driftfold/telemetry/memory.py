"""Records kept in memory."""

from driftfold.telemetry.base import Record, RecordSink


class Memory(RecordSink):
    """Keeps every record in the list `records`, in order.

    >>> sink = Memory()
    >>> sink.emit(Record(1, "round", 2.5, 1)); sink.emit(Record(2, "round", 3.0, 2))
    >>> sink.rewind(1)
    >>> [record.seq for record in sink.records]
    [1]
    """

    def __init__(self) -> None:
        self.records: list[Record] = []

    def emit(self, record: Record) -> None:
        """Append the record."""
        self.records.append(record)

    def rewind(self, seq: int) -> None:
        """Drop the records after `seq`; a new process may hold fewer than that."""
        while self.records and self.records[-1].seq > seq:
            self.records.pop()
