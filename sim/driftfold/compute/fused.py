"""Plain descent by a fused kernel: what the stacked engine runs where the table has one."""

from typing import Any

import numpy as np

from driftfold.algorithms.base import Endpoint, LocalResult, Phase, Tangent
from driftfold.arrays import Array, Bools
from driftfold.compute.base import Stack
from driftfold.engines import kernel_for
from driftfold.native import Descender, Kernel, Library, library
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import BatchRule


class Fused:
    """The kernel of a phase on a problem."""

    def __init__(self, problem: Problem, library: Library, kernel: Kernel, whole: bool) -> None:
        self._problem = problem
        self._whole = whole
        self._descender = Descender(library, kernel)
        self._as_row = len(problem.manifold.shape) == 1 and kernel.stem.startswith("pca")

    def run(self, work: Stack) -> tuple[LocalResult[Any], Bools]:
        """Results of the stack, and which clients are left to the plain form, shape (C,)."""
        phase, point = work.phase, self._problem.manifold.shape
        first = work.downloads[0]
        start: Array = first.point if work.shared else np.stack([d.point for d in work.downloads])
        sizes = first.step_size if work.shared else np.stack([d.step_size for d in work.downloads])
        if sizes.shape[-1] == 1:
            alpha = sizes.repeat(work.steps, axis=-1)
        else:
            alpha = sizes[..., : work.steps]
        if self._as_row:
            start = start[..., None, :]
        assert phase.descent is not None
        sent, refused = self._descender.run(
            work.clients, start, alpha, phase.descent, self._batches(work)
        )
        sent = sent.reshape(len(work.clients), *point)
        payload = Tangent(sent) if phase.descent == "stream" else Endpoint(sent)
        return LocalResult(payload, finite=True), refused  # a kernel refuses what is not

    def _batches(self, work: Stack) -> list[tuple[Array, Array]]:
        if self._whole:
            return []
        view = self._problem.view(work.clients, work.dispatches, work.times)
        batches = view.batches(work.phase.batch, work.steps)
        return [(b.indices, b.weights) for b in batches if b.indices is not None]


def fused(problem: Problem, phase: Phase[Any, Any, Any]) -> Fused | None:
    """Return the kernel for a phase, or None where the plain form is to run."""
    found = library()
    batch = phase.batch
    if phase.descent is None or isinstance(batch, BatchRule) or not isinstance(found, Library):
        return None
    data = problem.kernel_data(batch)
    kernel = None if data is None else kernel_for(data, problem.manifold)
    if data is None or kernel is None or not _fits(found, kernel):
        return None
    return Fused(problem, found, kernel, data.whole)


def _fits(found: Library, kernel: Kernel) -> bool:
    """Whether all arrays are as kernels read them: of one dtype that there is, contiguous.

    Of weights the rows are, which clients may share.
    """
    weights = None if kernel.weights is None else kernel.weights[:1]
    arrays = [a for a in (kernel.data, weights, kernel.more) if a is not None]
    dtype = kernel.data.dtype
    return (
        dtype in (np.float64, np.float32)
        and all(a.dtype == dtype and a.flags.c_contiguous for a in arrays)
        and found.kernel(kernel.stem, kernel.size, 8 * dtype.itemsize) is not None
    )
