"""Textbook formulas on St(d, r), written with columns and numpy's QR: no code of the library."""

from typing import Any

import numpy as np
import scipy.linalg


def riemannian_gradient(x: Any, moment: Any) -> Any:
    """Gradient of -tr(X^T C X) in the Euclidean metric; x has rows, X = x^T."""
    X = x.T
    G = -2 * moment @ X
    return (G - X @ (X.T @ G + G.T @ X) / 2).T


def canonical_gradient(x: Any, moment: Any) -> Any:
    """The same in the canonical metric, G - X G^T X (Edelman, Arias and Smith, 1998)."""
    X = x.T
    G = -2 * moment @ X
    return (G - X @ G.T @ X).T


def project(x: Any, v: Any) -> Any:
    """Projection onto the tangent space at X = x^T."""
    X, V = x.T, v.T
    return (V - X @ (X.T @ V + V.T @ X) / 2).T


def qr_retract(x: Any, u: Any) -> Any:
    """Q factor of X + U with a positive diagonal of R."""
    q, r = np.linalg.qr((x + u).T)
    return (q * np.sign(np.diag(r))).T


def polar_retract(x: Any, u: Any) -> Any:
    """Polar factor of X + U."""
    return scipy.linalg.polar((x + u).T)[0].T


def cayley_retract(x: Any, u: Any) -> Any:
    """(I - W/2)^-1 (I + W/2) X, W = P U X^T - X U^T P, P = I - X X^T / 2 (Wen and Yin, 2013)."""
    X, U, one = x.T, u.T, np.eye(x.shape[1])
    P = one - X @ X.T / 2
    W = P @ U @ X.T - X @ U.T @ P
    return np.linalg.solve(one - W / 2, (one + W / 2) @ X).T


def inverse_qr(x: Any, y: Any) -> Any:
    """U with qf(X + U) = Y, by the linear system for the triangular factor, solved densely."""
    X, Y = x.T, y.T
    r = X.shape[1]
    upper = [(i, j) for j in range(r) for i in range(j + 1)]
    M = X.T @ Y
    system = np.zeros((r * r, len(upper)))
    for column, (i, j) in enumerate(upper):
        A = np.zeros((r, r))
        A[i, j] = 1
        system[:, column] = (M @ A + A.T @ M.T).ravel()
    solution = np.linalg.lstsq(system, 2 * np.eye(r).ravel(), rcond=None)[0]
    A = np.zeros((r, r))
    for value, (i, j) in zip(solution, upper, strict=True):
        A[i, j] = value
    return (Y @ A - X).T


def exponential(x: Any, u: Any) -> Any:
    """Exponential map in the Euclidean metric (Edelman, Arias and Smith, 1998, section 2.2.2)."""
    X, U = x.T, u.T
    r = X.shape[1]
    A, S = X.T @ U, U.T @ U
    block = np.block([[A, -S], [np.eye(r), A]])
    return (
        np.hstack([X, U])
        @ scipy.linalg.expm(block)
        @ np.vstack([scipy.linalg.expm(-A), np.zeros((r, r))])
    ).T
