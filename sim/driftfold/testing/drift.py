"""Conformance of a drift."""

from collections.abc import Callable

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.drift.base import (
    ConceptCourse,
    Course,
    DomainCourse,
    Drift,
    InputCourse,
    LabelCourse,
)
from driftfold.drift.pool import Pool
from driftfold.drift.timeline import Timeline
from driftfold.rng import Seed
from driftfold.testing.expect import expect

_BATCH = 5


def check_drift(drift: Drift, pool: Pool | None = None, timeline: Timeline | None = None) -> None:
    """Raise `AssertionError` unless `drift` keeps the contract of its course on `pool`.

    Checked: shapes and types; shares are probabilities; inputs and labels that are handed over are
    left as they are; answers are the same in any order, in any company, again, and from a second
    course; and where the path moves by jumps nothing moves but at `changes`. By default the pool
    has 60 pictures of 10 classes and 3 domains, the stream 5 clients and 30 steps of an hour.

    >>> from driftfold.drift import FeatureNoise
    >>> check_drift(FeatureNoise())
    """
    pool = _pool() if pool is None else pool
    timeline = Timeline(5, steps=30, seconds=3600.0, seed=Seed(3)) if timeline is None else timeline
    course = drift.bind(timeline, pool)
    rng = np.random.default_rng(0)
    who, when = np.divmod(np.arange(timeline.clients * timeline.steps), timeline.steps)
    ask = _question(course, pool, rng)
    said = ask(course, who, when)
    order = rng.permutation(len(who))
    for asked in (course, drift.bind(timeline, pool)):
        for some in np.split(order, np.cumsum([1, 2, 7, 37])):
            expect(
                np.array_equal(ask(asked, who[some], when[some]), said[some]),
                f"what clients {who[some][:5]} get at steps {when[some][:5]} changed with the "
                "order or company of the queries; draw from timeline.stream by client and step",
            )
    said = said.reshape(timeline.clients, timeline.steps, *said.shape[1:])
    for client in range(timeline.clients):
        _check_changes(course, client, said[client])


def _pool() -> Pool:
    rng = np.random.default_rng(1)
    rows = np.arange(60)
    return Pool(10, np.full(10, 0.1), rows % 10, rows % 3, rng.random((60, 64)), (8, 8))


Question = Callable[[Course, Ints, Ints], Array]


def _question(course: Course, pool: Pool, rng: np.random.Generator) -> Question:
    """What a course is asked; the same batch for everybody, so that only the drift differs."""
    if isinstance(course, LabelCourse | DomainCourse):
        return _shares
    if isinstance(course, ConceptCourse):
        labels = rng.integers(0, pool.classes, 40)
        return lambda asked, who, when: _relabelled(asked, labels, pool.classes, who, when)
    inputs: Array = pool.inputs
    expect(inputs is not None, "this check needs a pool with inputs")
    rows = rng.integers(0, len(inputs), _BATCH)
    return lambda asked, who, when: _met(asked, inputs, rows, who, when)


def _shares(course: Course, who: Ints, when: Ints) -> Array:
    assert isinstance(course, LabelCourse | DomainCourse)
    shares = course.shares(who, when)
    expect(
        shares.ndim == 2 and len(shares) == len(who) and shares.dtype == np.float64,
        f"shares of {len(who)} clients are {shares.dtype} {shares.shape}; wanted one row for each",
    )
    expect(
        (shares >= 0).all() and np.allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-12),
        "shares are no probabilities: below 0, or without the sum 1",
    )
    return shares


def _relabelled(course: Course, labels: Ints, classes: int, who: Ints, when: Ints) -> Array:
    assert isinstance(course, ConceptCourse)
    given = np.tile(labels, (len(who), 1))
    meant = course.relabel(given, who, when)
    expect((given == labels).all(), "relabel changed the labels that it was given")
    expect(
        meant.shape == given.shape and meant.dtype == given.dtype,
        f"relabel made {meant.dtype} {meant.shape} of {given.dtype} {given.shape}",
    )
    expect(
        ((meant >= 0) & (meant < classes)).all(),
        f"relabel gave labels from {meant.min()} to {meant.max()}; there are {classes} classes",
    )
    return meant


def _met(course: Course, inputs: Array, rows: Ints, who: Ints, when: Ints) -> Array:
    assert isinstance(course, InputCourse)
    given = np.tile(inputs[rows], (len(who), *[1] * inputs.ndim))
    met = course.apply(given, np.tile(rows, (len(who), 1)), who, when)
    expect((given == inputs[rows]).all(), "apply changed the inputs that it was given")
    expect(
        met.shape == given.shape and met.dtype == given.dtype,
        f"apply made {met.dtype} {met.shape} of {given.dtype} {given.shape}",
    )
    return met


def _check_changes(course: Course, client: int, said: Array) -> None:
    changes = course.changes(client)
    expect(
        changes.dtype == np.int64
        and np.all(np.diff(changes) > 0)
        and np.all((changes >= 1) & (changes < course.path.steps)),
        f"changes of client {client} are {changes}; wanted int64, ascending, from 1 to "
        f"{course.path.steps - 1}",
    )
    if not course.path.abrupt:
        return
    every = np.arange(course.path.steps)
    w = course.path.weight(np.full(len(every), client), every)
    calm = np.ones(len(every), dtype=bool)
    if isinstance(course, InputCourse):
        calm = w == 0  # else it may be noise, which differs at every step without a change
    elif isinstance(course, ConceptCourse):
        calm = (w == 0) | (w == 1)  # else labels are a mixture of two meanings
    differs = (said[1:] != said[:-1]).reshape(len(every) - 1, -1).any(axis=1)
    moved = np.flatnonzero(differs & calm[1:] & calm[:-1]) + 1
    expect(
        np.isin(moved, changes).all(),
        f"client {client}: what is moved differs at steps {moved}, but changes are {changes}",
    )
    expect(
        not isinstance(course, LabelCourse | DomainCourse) or np.isin(changes, moved).all(),
        f"client {client}: changes are {changes}, but shares differ at steps {moved} only",
    )
