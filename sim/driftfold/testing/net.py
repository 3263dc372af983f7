"""Conformance of a net kind."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from driftfold.arrays import Array
from driftfold.nets.base import Mode, Model, Net, Pass
from driftfold.nets.masks import Masks
from driftfold.rng import Seed, Stream
from driftfold.testing.expect import expect

_MODES: tuple[Mode, ...] = ("eval", "batch", "train")
_STEPS = (1e-6, 1e-7)  # along a line: the shorter, the fewer kinks of activations are passed
_LINES = 7
_NORM = ("weight", "bias", "running_mean", "running_var")


def check_net(
    net: Net,
    inputs: tuple[int, ...] = (3, 3),
    classes: int = 4,
    samples: int = 5,
    stacks: Sequence[int] = (1, 7, 37, 64),
    seed: int = 0,
    tolerance: float = 1e-5,
) -> None:
    """Raise `AssertionError` unless `net`, bound to `inputs`, keeps the contract of `Model`.

    Checked, in every mode: names and shapes; arguments left alone; first parameters addressed by
    name; gradients of logits and of features against differences along random lines, the median of
    several since activations have kinks; the zero at buffers; `only`; that buffers move in mode
    "train" and nowhere else; the head alone; one theta or one set of inputs for all; that a stack
    of clients gets, bit for bit, what each of `stacks`' first ones and what one alone gets; an
    empty batch; float32. `tolerance` is relative to the length of the gradient.

    >>> from driftfold.nets import Mlp
    >>> check_net(Mlp((3,), batch_norm=True, dropout=0.5), stacks=(1, 7))
    """
    model = net.model(inputs, classes, np.float64)
    count = max(stacks)
    streams = [Seed(seed + i).stream("check_net") for i in range(count)]
    _check_layout(model, inputs, classes, streams[0])
    theta = np.stack([model.initial(stream) for stream in streams])
    theta += 0.1 * streams[0].normal(np.arange(count), 0, model.layout.size) ** 2
    x = streams[0].normal(np.arange(count), 1, samples * int(np.prod(inputs)))
    x = x.reshape(count, samples, *inputs)
    for mode in _MODES:
        _Check(model, theta, x, mode, streams[0], stacks, tolerance).run()
    _check_single(net, inputs, classes, theta, x)


def _check_layout(model: Model, inputs: tuple[int, ...], classes: int, stream: Stream) -> None:
    layout = model.layout
    expect(
        model.inputs == inputs and model.classes == classes,
        f"the model is bound to {model.inputs} and {model.classes} classes; wanted {inputs}, "
        f"{classes}",
    )
    names = layout.names
    expect(len(set(names)) == len(names), f"names occur twice: {names}")
    expect(
        not any(other.startswith(f"{name}.") for name in names for other in names),
        "the name of an array is the prefix of another's, so that it cannot be named alone",
    )
    head = layout.where(model.head)
    start = int(np.argmax(head))
    expect(head.any() and head[start:].all(), "the head is not the end of theta")
    for norm in model.norms:
        expect(
            {f"{norm}.{each}" for each in _NORM} <= set(names),
            f"the normalisation {norm} has no {', '.join(_NORM)}",
        )
    first = model.initial(stream)
    expect(
        first.shape == (layout.size,) and first.dtype == model.dtype,
        f"initial gave {first.dtype} {first.shape}; wanted {model.dtype} {(layout.size,)}",
    )
    expect(_same(first, model.initial(stream)), "initial gave other numbers the second time")
    expect(
        _same(first[head], model.head_model.initial(stream)),
        "the head's first parameters are not those of the head alone: address them by name",
    )
    for name, part in layout.parts(first).items():
        if name.endswith("running_var"):
            expect(bool((part > 0).all()), f"{name} is not above 0 at the start")


class _Check:
    """The checks of one mode on a stack of clients."""

    def __init__(
        self,
        model: Model,
        theta: Array,
        x: Array,
        mode: Mode,
        stream: Stream,
        stacks: Sequence[int],
        tolerance: float,
    ) -> None:
        self.model, self.theta, self.x, self.mode = model, theta, x, mode
        self.stream, self.stacks, self.tolerance = stream, stacks, tolerance
        self.whole = self.ran(theta, x)
        everyone = np.arange(len(theta))
        shape, d = self.whole.logits.shape, self.whole.features.shape[-1]
        self.of_logits = stream.normal(everyone, 2, shape[-2] * shape[-1]).reshape(shape)
        self.of_features = stream.normal(everyone, 3, shape[-2] * d).reshape(*shape[:-1], d)
        self.gradient = self.whole.pullback(self.of_logits, self.of_features)

    def ran(self, theta: Array, x: Array, clients: Any = None) -> Pass:
        """A pass of the first clients, or of some."""
        lead = np.broadcast_shapes(theta.shape[:-1], x.shape[: -len(self.model.inputs) - 1])
        masks = self.masks(lead[0] if lead else 0, clients)
        return self.model.forward(theta, x, self.mode, masks)

    def masks(self, count: int, clients: Any = None) -> Masks:
        """Dropout of the first clients (of client 0 alone for none), or of some."""
        if clients is None:
            clients = np.arange(count) if count else 0
        return Masks(self.stream, np.asarray(clients), np.zeros_like(clients))

    def run(self) -> None:
        """All of them."""
        self.shapes()
        self.left_alone()
        self.lines()
        self.parts()
        self.buffers()
        self.company()
        self.one_for_all()
        self.head_alone()
        self.empty()

    def shapes(self) -> None:
        model, (count, n) = self.model, self.x.shape[:2]
        for name, got, wanted in (
            ("logits", self.whole.logits, (count, n, model.classes)),
            ("features", self.whole.features, (count, n, model.features)),
            ("the gradient", self.gradient, (count, model.layout.size)),
        ):
            expect(got.shape == wanted, self.says(f"{name} has shape {got.shape}, not {wanted}"))
            expect(np.isfinite(got).all(), self.says(f"{name} is not finite"))

    def left_alone(self) -> None:
        kept = [a.copy() for a in (self.theta, self.x, self.of_logits, self.of_features)]
        again = self.ran(self.theta, self.x).pullback(self.of_logits, self.of_features)
        for before, after in zip(
            kept, (self.theta, self.x, self.of_logits, self.of_features), strict=True
        ):
            expect(_same(before, after), self.says("an argument was changed in place"))
        expect(_same(again, self.gradient), self.says("the same pass again gave another gradient"))
        again = self.whole.pullback(self.of_logits, self.of_features)
        expect(_same(again, self.gradient), self.says("a pass pulled back twice gave two things"))

    def lines(self) -> None:
        free = ~self.model.layout.buffers
        errors: dict[str, list[float]] = {"logits": [], "features": []}
        theta, x = self.theta[0], self.x[0]
        for line in range(_LINES):
            u = self.stream.normal(0, 4 + line, theta.size) * free
            u /= np.sqrt(u @ u)
            h = _STEPS[line % 2]
            ends = [self.ran(theta + sign * h * u, x) for sign in (1, -1)]
            ran = self.ran(theta, x)
            for name in errors:
                g = getattr(self, f"of_{name}")[0]
                rise = [float(np.vdot(g, getattr(end, name))) for end in ends]
                got = ran.pullback(g if name == "logits" else None, g if name != "logits" else None)
                error = (rise[0] - rise[1]) / (2 * h) - got @ u
                scale = max(float(np.sqrt(got @ got)), float(np.abs(rise).max()), 1.0)
                errors[name].append(abs(error) / scale)
        for name, found in errors.items():
            worst = float(np.median(found))
            expect(
                worst < self.tolerance,
                self.says(f"the gradient of {name} is off by {worst} of its length"),
            )

    def parts(self) -> None:
        layout, model = self.model.layout, self.model
        expect(
            not self.gradient[:, layout.buffers].any(), self.says("buffers have a gradient, not 0")
        )
        for only in (layout.where(model.head), ~layout.where(model.head)):
            got = self.whole.pullback(self.of_logits, self.of_features, only=only)
            expect(
                got.shape == self.gradient.shape and _same(got[:, only], self.gradient[:, only]),
                self.says("a gradient that is wanted in part differs from that part of the whole"),
            )
        expect(
            not self.whole.pullback(None).any(), self.says("the gradient of nothing is not zero")
        )

    def buffers(self) -> None:
        moved, layout = self.whole.moved, self.model.layout
        expect(
            moved.shape == self.theta.shape
            and _same(moved[:, ~layout.buffers], self.theta[:, ~layout.buffers]),
            self.says("a forward pass moved parameters that are no buffers"),
        )
        same = _same(moved, self.theta)
        wanted = self.mode != "train" or not layout.buffers.any()
        expect(same == wanted, self.says(f"the buffers {'stayed' if same else 'moved'}"))

    def company(self) -> None:
        for size in (*self.stacks, None):
            rows: Any = slice(size) if size else len(self.theta) - 1
            clients = np.arange(len(self.theta))[rows]
            part = self.ran(self.theta[rows], self.x[rows], clients)
            pulled = part.pullback(self.of_logits[rows], self.of_features[rows])
            for name, got, wanted in (
                ("logits", part.logits, self.whole.logits),
                ("features", part.features, self.whole.features),
                ("moved", part.moved, self.whole.moved),
                ("the gradient", pulled, self.gradient),
            ):
                expect(
                    _same(got, wanted[rows]),
                    self.says(
                        f"{name} of {'one client alone' if size is None else f'{size} clients'} "
                        f"has other bits than in a stack of {len(self.theta)}"
                    ),
                )

    def one_for_all(self) -> None:
        rows = min(3, len(self.theta))
        for what, theta, x in (
            ("theta", self.theta[0], self.x[:rows]),
            ("set of inputs", self.theta[:rows], self.x[0]),
        ):
            ran = self.ran(theta, x)
            full = self.ran(*_spread(theta, x, rows))
            g = (self.of_logits[:rows], self.of_features[:rows])
            expect(
                _same(ran.logits, full.logits)
                and _same(np.ascontiguousarray(ran.features), full.features)
                and _same(ran.pullback(*g), full.pullback(*g))
                and np.array_equal(np.broadcast_to(ran.moved, full.moved.shape), full.moved),
                self.says(f"one {what} for all clients gives other results than copies of it"),
            )

    def head_alone(self) -> None:
        model = self.model
        head = model.layout.where(model.head)
        alone = model.head_model.forward(
            self.theta[:, head], self.whole.features, self.mode, self.masks(len(self.theta))
        )
        expect(
            model.head_model.layout.names == model.layout.part(model.head).names,
            "the head alone has other names than in the whole",
        )
        expect(
            _same(alone.logits, self.whole.logits)
            and _same(alone.pullback(self.of_logits), self.whole.pullback(self.of_logits)[:, head]),
            self.says("the head alone on the features gives other results than the whole"),
        )

    def empty(self) -> None:
        if self.mode == "eval":
            ran = self.ran(self.theta[:2], self.x[:2, :0])
            expect(
                ran.logits.shape[-2] == 0 and not ran.pullback(ran.logits).any(),
                "an empty batch has a gradient",
            )

    def says(self, what: str) -> str:
        """Sentence with the mode."""
        return f'in mode "{self.mode}" {what}'


def _check_single(net: Net, inputs: tuple[int, ...], classes: int, theta: Array, x: Array) -> None:
    single = net.model(inputs, classes, np.float32)
    ran = single.forward(theta[:2].astype(np.float32), x[:2].astype(np.float32))
    made: dict[str, Callable[[], Array]] = {
        "logits": lambda: ran.logits,
        "features": lambda: ran.features,
        "initial": lambda: single.initial(Seed(0).stream("check_net")),
        "pullback": lambda: ran.pullback(ran.logits, ran.features),
    }
    for name, value in made.items():
        got = cast("Array", value()).dtype
        expect(got == np.float32, f"{name} of a float32 model is {got}")
    double = net.model(inputs, classes, np.float64).forward(theta[:2], x[:2]).logits
    off = float(np.abs(ran.logits - double).max() / max(1.0, np.abs(double).max()))
    expect(off < 1e-3, f"logits in float32 are {off} off those in float64")


def _spread(theta: Array, x: Array, count: int) -> tuple[Array, Array]:
    """Copies of the one that is there once."""
    if theta.ndim == 1:
        return np.stack([theta] * count), x
    return theta, np.stack([x] * count)


def _same(a: Array, b: Array) -> bool:
    """Return whether two arrays are equal bit for bit."""
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())
