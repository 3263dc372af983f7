import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold.errors import RecordError
from driftfold.telemetry import merge

groups = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(), max_size=3), max_size=4)


@given(groups)
def test_every_metric_is_kept_or_the_merge_refused(parts: list[dict[str, int]]) -> None:
    names = [name for part in parts for name in part]
    if len(set(names)) < len(names):
        with pytest.raises(RecordError, match="given twice"):
            merge(*parts)
    else:
        merged = merge(*parts)
        assert list(merged) == names
        assert all(merged[name] == value for part in parts for name, value in part.items())
