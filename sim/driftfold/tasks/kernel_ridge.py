"""Weights of kernel ridge regression, with a Gaussian kernel."""

import numpy as np

from driftfold.arrays import Floats
from driftfold.errors import SpecError


def ridge_weights(features: Floats, query: Floats, bandwidth: float, ridge: float) -> Floats:
    """Return a = (G + ridge I)^-1 g: how much each sample says about the query.

    G_jl = exp(-|w_j - w_l|^2 / (2 bandwidth^2)) and g_j is the same for the query. Entries may be
    negative.

    Parameters
    ----------
    features
        Rows w_j, shape (n, k).
    query
        Shape (k,).
    bandwidth, ridge
        Width of the kernel in units of the features, and what is added to the diagonal, above 0.

    Raises
    ------
    SpecError
        Samples are so alike that G + ridge I is singular in float64.

    Examples
    --------
    >>> ridge_weights(np.array([[0.0], [1.0]]), np.array([0.0]), 0.1, 1.0).round(3)
    array([0.5, 0. ])
    """
    kernel = _gaussian(features, features, bandwidth)
    kernel[np.diag_indices(len(kernel))] += ridge
    try:
        near = _gaussian(features, query[None], bandwidth)
        weights: Floats = np.linalg.solve(kernel, near)[:, 0].astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        raise SpecError(
            f"the kernel matrix of {len(kernel)} samples is singular with ridge = {ridge}; use a "
            "larger ridge or a smaller bandwidth"
        ) from None
    return weights


def _gaussian(a: Floats, b: Floats, bandwidth: float) -> Floats:
    with np.errstate(over="ignore"):
        apart = (((a[:, None] - b[None]) / bandwidth) ** 2).sum(axis=-1)
    kernel: Floats = np.exp(-0.5 * apart)
    return kernel
