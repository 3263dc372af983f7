"""The specification of one experiment: all that its result depends on."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen

from driftfold.algorithms.base import Algorithm
from driftfold.compute.base import Compute
from driftfold.compute.stacked import Stacked
from driftfold.errors import SpecError
from driftfold.estimators.base import Estimator
from driftfold.estimators.none import Unweighted
from driftfold.latency.base import Latency
from driftfold.latency.constant import Constant
from driftfold.participation.always import Always
from driftfold.participation.base import Participation
from driftfold.spec.builtins import load_builtins
from driftfold.spec.capabilities import check_capabilities
from driftfold.spec.codec import decode, encode
from driftfold.spec.limits import check_limits
from driftfold.spec.problems import shown
from driftfold.tasks.base import Task
from driftfold.tasks.metric import Metric
from driftfold.world.cadence import Cadence
from driftfold.world.cadences.synchronous import Synchronous
from driftfold.world.policy import FaultPolicy, Horizon


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """One experiment. Equal digests mean equal results.

    Attributes
    ----------
    task
        What the federation minimises, on which data.
    algorithm
        What clients compute and how the server uses it.
    participation
        When clients are there, and whether they answer.
    estimator
        The weight of a contribution, given who contributed before.
    latency
        How long transfers and computations take, in virtual seconds.
    cadence
        When the server steps.
    compute
        How the tensor work is carried out.
    faults
        What to do with clients that fail or leave, and updates that are no good.
    horizon
        When the run ends.
    seed
        Root of all randomness, 0 .. 2^64 - 1.
    evaluate_every
        Server steps between evaluations of the model.
    metrics
        What evaluations measure beyond the task's own metrics.
    checkpoint_every
        Server steps between snapshots; 0 writes none.
    name
        For people only: not part of the digest.
    """

    task: Task
    algorithm: Algorithm[Any]
    participation: Participation = field(default_factory=Always)
    estimator: Estimator[Any] = field(default_factory=Unweighted)
    latency: Latency = field(default_factory=Constant)
    cadence: Cadence = field(default_factory=Synchronous)
    compute: Compute = field(default_factory=Stacked)
    faults: FaultPolicy = field(default_factory=FaultPolicy)
    horizon: Horizon
    seed: Annotated[int, Ge(0), Le(2**64 - 1)] = 0
    evaluate_every: Annotated[int, Ge(1)] = 10
    metrics: tuple[Metric, ...] = ()
    checkpoint_every: Annotated[int, Ge(0)] = 0
    name: Annotated[str, MaxLen(200)] = ""


def from_mapping(mapping: Mapping[str, Any]) -> JobSpec:
    """Return the specification that a table describes.

    Every problem is reported at once, one line each, in one `SpecError` (`UnknownKind` when a kind
    or field is unknown).

    >>> from driftfold.spec import load_spec
    >>> table = to_mapping(load_spec("pca-synthetic"))
    >>> from_mapping({**table, "seed": -1})
    Traceback (most recent call last):
    driftfold.errors.SpecError: seed: got -1, wanted a whole number of at least 0 and of at most ...
    """
    load_builtins()
    if not isinstance(mapping, Mapping):
        raise SpecError(f"got {shown(mapping)}, wanted a table with the fields of a specification")
    _refuse_settings(mapping)
    spec: JobSpec = decode(JobSpec, mapping)
    if spec.horizon.rounds is None and spec.horizon.seconds is None:
        raise SpecError(
            "horizon: the run would never end; give rounds (server steps), seconds (virtual time) "
            "or both"
        )
    check_limits(spec)
    return spec


def to_mapping(spec: JobSpec) -> dict[str, Any]:
    """Return the complete table of a specification: kinds and all defaults written out.

    Checks the specification on the way, so objects built in Python with wrong values are refused
    as a file would be. ``from_mapping(to_mapping(spec)) == spec`` for every valid one.

    >>> from driftfold.spec import load_spec
    >>> to_mapping(load_spec("pca-synthetic"))["faults"]
    {'on_client_error': 'skip', 'on_bad_update': 'reject', 'on_interrupt': 'lose'}
    """
    return _plain(from_mapping(_plain(spec)))


def canonical(spec: JobSpec) -> bytes:
    """Return the one JSON text of a specification: sorted keys, no spaces, finite numbers."""
    return _text(to_mapping(spec))


def digest(spec: JobSpec) -> str:
    """Return the identity of an experiment: BLAKE2b-128 of its canonical form without the name.

    >>> from dataclasses import replace
    >>> from driftfold.spec import load_spec
    >>> spec = load_spec("pca-synthetic")
    >>> digest(replace(spec, name="mine")) == digest(spec)
    True
    >>> digest(replace(spec, seed=1)) == digest(spec)
    False
    """
    table = to_mapping(spec)
    del table["name"]
    return hashlib.blake2b(_text(table), digest_size=16).hexdigest()


def validate(spec: JobSpec) -> None:
    """Raise `SpecError` unless every field has a value that it may have and the parts fit.

    What depends on the data (whether the algorithm's needs are met by the manifold, say) is checked
    when the run is built.
    """
    to_mapping(spec)
    check_capabilities(spec)


def _plain(spec: JobSpec) -> dict[str, Any]:
    if not isinstance(spec, JobSpec):
        raise SpecError(f"got {shown(spec)}, wanted a JobSpec; use load_spec or from_mapping")
    table: dict[str, Any] = encode(spec)
    return table


def _text(table: Mapping[str, Any]) -> bytes:
    return json.dumps(table, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _refuse_settings(mapping: Mapping[str, Any]) -> None:
    if "extends" in mapping:
        raise SpecError(
            "extends: a complete specification extends nothing; read it with load_spec, which "
            "merges it into its parent"
        )
    if "plugins" in mapping:
        raise SpecError(
            "plugins: code to load is a setting of the program, never of a specification; use "
            "load_plugins([...]) or the command's --plugin"
        )
