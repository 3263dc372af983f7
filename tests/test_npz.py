import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from driftfold.npz import read_npz, write_npz

# A slash, a dot or a keyword of numpy.savez in a name is as good as any other character.
names = st.sampled_from(["file", "a.npy", "a/b", "", "ü", "allow_pickle"]) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5
)
dtypes = st.sampled_from(["f8", "f4", "i8", "?", "c16", ">i4", "U3", "M8[s]"]).map(np.dtype)
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
)


@given(st.dictionaries(names, arrays, max_size=3))
def test_arrays_come_back_bit_for_bit(content: dict[str, np.ndarray]) -> None:
    file, again = io.BytesIO(), io.BytesIO()
    write_npz(file, content)
    write_npz(again, content)
    assert file.getvalue() == again.getvalue()
    back, texts = read_npz(file)
    assert texts == {}
    assert list(back) == list(content)
    for name, array in content.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        assert back[name].tobytes() == array.tobytes()


def test_objects_are_neither_written_nor_read() -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        write_npz(io.BytesIO(), {"x": np.array([None])})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("x.npy", "w") as entry:
        np.lib.format.write_array(entry, np.array([pickle.dumps]), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        read_npz(file)


def test_numpy_reads_what_is_written() -> None:
    file = io.BytesIO()
    write_npz(file, {"x": np.arange(3)}, {"meta.json": "{}"})
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        assert loaded["x"].tolist() == [0, 1, 2]
