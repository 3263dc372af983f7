"""Quantiles over clients of rates and signals, as a run tells them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.errors import RecordError
from driftfold.rates import Adaptive
from driftfold.run import run
from driftfold.telemetry import quantiles, read_records
from driftfold.world.policy import Horizon
from tests.algorithms.adaptation.systems import job


def test_of_a_run_of_fed_ade(tmp_path: Path) -> None:
    spec = replace(job(FedADE(rate=Adaptive(0.1, 0.3))), horizon=Horizon(rounds=4))
    run(spec, folder=tmp_path)
    records = read_records(tmp_path)
    versions, rates = quantiles(records, "rate", (0.0, 0.5, 1.0))
    assert versions.tolist() == [1, 2, 3, 4]
    assert (np.diff(rates, axis=1) >= 0).all()
    assert rates[0].tolist() == [0.1] * 3, "the first step has the smallest rate"
    assert rates[-1, 0] < rates[-1, 2] < 0.3
    _, signals = quantiles(records, "0.signal", (0.0, 0.5, 1.0))
    np.testing.assert_allclose(rates, 0.1 + 0.2 * signals, atol=1e-12)
    means = [r.values["rate"] for r in records if r.kind == "round"]
    assert (rates[:, 0] <= means).all()
    assert (means <= rates[:, 2]).all()


def test_a_figure_that_nobody_tells(tmp_path: Path) -> None:
    run(replace(job(FedADE()), horizon=Horizon(rounds=1)), folder=tmp_path)
    with pytest.raises(RecordError, match=r"no record has the figure 'rates'.*accuracy, .*rate"):
        quantiles(read_records(tmp_path), "rates")
    with pytest.raises(RecordError, match="they tell nothing of clients"):
        quantiles([], "rate")
