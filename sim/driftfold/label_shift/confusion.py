"""Confusion matrices: what a model takes for what, P(yhat = i | y = j).

Lipton, Z. C., Wang, Y.-X., Smola, A.: "Detecting and correcting for label shift with black box
predictors", ICML 2018, section 3. Measured on examples that the model was trained on, it is too
close to the identity.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats, Ints
from driftfold.label_shift.examples import examples_of_classes
from driftfold.label_shift.histogram import histogram


def confusion_matrix(probabilities: npt.NDArray[Any], labels: Ints, soft: bool = False) -> Floats:
    """M[i, j] = P(yhat = i | y = j), shape (..., K, K), whose columns sum to 1.

    `probabilities` are predictions (..., m, K) for examples with labels (m,); leading axes are of
    models. `soft` takes mean probabilities in place of counts of the most likely class. Raises
    `DataError` when a class has no example.

    >>> predictions = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> confusion_matrix(predictions, np.array([0, 0, 1]))
    array([[0.5, 0. ],
           [0.5, 1. ]])
    >>> confusion_matrix(predictions, np.array([0, 0, 1]), soft=True)
    array([[0.65, 0.2 ],
           [0.35, 0.8 ]])
    """
    given = np.asarray(probabilities, np.float64)
    examples_of_classes(labels, given.shape[-1])
    columns = [histogram(given[..., labels == j, :], soft) for j in range(given.shape[-1])]
    return np.stack(columns, axis=-1)
