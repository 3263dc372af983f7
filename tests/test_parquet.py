"""Parquet files against pyarrow, which reads them by a program of its own."""

import io
import math
from typing import Any

import numpy as np
import pytest

from driftfold.parquet import Kind, ParquetWriter

parquet = pytest.importorskip("pyarrow.parquet")


def read(data: bytes) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = parquet.read_table(io.BytesIO(data)).to_pydict()
    return table


def written(columns: dict[str, Kind], *groups: tuple[int, dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    writer = ParquetWriter(file, columns)
    for rows, values in groups:
        writer.write(rows, values)
    writer.close()
    return file.getvalue()


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 200, 5000])
def test_every_value_comes_back_bit_for_bit(rows: int) -> None:
    draw = np.random.default_rng(rows)
    many: dict[str, Kind] = {f"m{index}": "float64" for index in range(20)}
    columns: dict[str, Kind] = {"seq": "int64", "Lücke": "float64", **many}
    there = draw.random(rows) < 0.3
    values = {name: draw.standard_normal(rows) for name in many}
    gaps = draw.standard_normal(int(there.sum()))
    seq = np.arange(rows) * 2**50
    data = written(
        columns,
        (
            rows,
            {
                "seq": (seq, None),
                "Lücke": (gaps, there),
                **{name: (each, None) for name, each in values.items()},
            },
        ),
    )
    table = read(data)
    assert list(table) == list(columns)
    assert table["seq"] == seq.tolist()
    assert [value is not None for value in table["Lücke"]] == there.tolist()
    assert [value for value in table["Lücke"] if value is not None] == gaps.tolist()
    assert all(table[name] == each.tolist() for name, each in values.items())


def test_nan_is_a_value_and_an_absent_one_is_none() -> None:
    odd = [math.nan, math.inf, -math.inf, -0.0, 5e-324]
    data = written(
        {"time": "float64", "late": "float64"},
        (5, {"time": (np.array(odd), None)}),
        (2, {"time": (np.array([1.0, 2.0]), None), "late": (np.array([3]), [False, True])}),
    )
    table = read(data)
    assert [str(value) for value in table["time"]] == [*map(str, odd), "1.0", "2.0"]
    assert table["late"] == [None] * 6 + [3.0]


def test_a_table_without_rows_is_a_table() -> None:
    assert read(written({"seq": "int64"})) == {"seq": []}


BAD: dict[str, dict[str, Any]] = {
    "too few": {"loss": (np.ones(2), None)},
    "too many": {"loss": (np.ones(2), [True, False, False])},
    "of other rows": {"loss": (np.ones(1), [True])},
    "none of a column that every row has": {"seq": (np.ones(2), [True, True, False])},
}


@pytest.mark.parametrize("case", BAD)
def test_values_that_do_not_fit_the_rows_are_refused(case: str) -> None:
    with pytest.raises(ValueError, match=r"column '(loss|seq)'"):
        written({"loss": "float64", "seq": "int64"}, (3, BAD[case]))
