"""Every error that driftfold raises on purpose.

::

    DriftfoldError
    ├── SpecError              an experiment that cannot be run as written
    │   ├── UnknownKind        a kind or field that nobody registered
    │   └── CapabilityError    parts that do not fit together
    ├── DataError              a data set that is missing, broken or not what it claims
    ├── ManifoldError          a point or vector that is not where it must be
    ├── RunError               the simulation itself had to stop
    │   ├── ClientError        a client failed and the policy is to fail
    │   ├── BadUpdate          an update was not finite and the policy is to fail
    │   ├── NeverAnswers       the server waits for a client that will never answer
    │   └── TreeError          states or payloads that were to be combined differ in structure
    ├── RecordError            a record that cannot be told, kept or read back
    ├── CheckpointError        a snapshot that cannot be written, read or trusted
    │   └── ReplayMismatch     replayed events differ from those of the first run
    └── PlaceError             a path or URL at which nothing can be kept

The virtual-time loop has a small tree of its own (`driftfold.kernel`), since it depends on the
standard library only. Each message says what was got, what was wanted and what to change.
"""


class DriftfoldError(Exception):
    """Root of all errors raised on purpose."""


class SpecError(DriftfoldError):
    """An experiment that cannot be run as written."""


class UnknownKind(SpecError):
    """A kind or field that nobody registered; the message names the nearest known ones."""


class CapabilityError(SpecError):
    """Parts that are each valid but do not fit together."""


class DataError(DriftfoldError):
    """A data set that is missing, broken or not what it claims to be."""


class ManifoldError(DriftfoldError):
    """A point or tangent vector that is not where it must be."""


class RunError(DriftfoldError):
    """The simulation itself had to stop."""


class ClientError(RunError):
    """A client failed and the policy is to fail with it."""


class BadUpdate(RunError):
    """An update was not finite, or broke the model, and the policy is to fail with it."""


class NeverAnswers(RunError):
    """The server waits for a client that will never answer, and has no deadline."""


class TreeError(RunError):
    """States or payloads that were to be combined differ in structure, type or plain values."""


class RecordError(DriftfoldError):
    """A record that cannot be told, kept or read back."""


class CheckpointError(DriftfoldError):
    """A snapshot that cannot be written, read or trusted."""


class ReplayMismatch(CheckpointError):
    """The events replayed from the specification differ from those of the first run."""


class PlaceError(DriftfoldError):
    """A path or URL at which nothing can be kept."""
