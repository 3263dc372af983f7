import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftfold.errors import RecordError
from driftfold.telemetry import JsonLines, Record, Recorder, each_record, read_records
from driftfold.telemetry.reader import LOG


def record(seq: int, *, detail: bool = False) -> Record:
    arrays = {"loss": np.full(3, float(seq)), "file": np.arange(seq)} if detail else None
    return Record(seq, "round", 0.5 * seq, seq, {"loss": 0.1 * seq}, {}, "é\n", arrays)


def write(folder: Path, count: int, *, first: int = 1, detail: bool = False) -> JsonLines:
    sink = JsonLines(folder)
    for seq in range(first, first + count):
        sink.emit(record(seq, detail=detail))
    return sink


def numbers(folder: Path) -> list[int]:
    return [kept.seq for kept in read_records(folder)]


def test_what_was_told_can_be_read_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    sink = JsonLines(folder)
    assert not folder.exists()
    for seq in (1, 2, 3):
        sink.emit(record(seq))
        assert read_records(folder) == [record(k) for k in range(1, seq + 1)]
    assert read_records(folder / LOG) == read_records(str(folder))


def test_detail_lies_in_a_file_that_the_record_names(tmp_path: Path) -> None:
    sink = write(tmp_path, 2)
    sink.emit(record(3, detail=True))
    assert '"detail":"clients/3.npz"' in (tmp_path / LOG).read_text().splitlines()[2]
    kept = read_records(tmp_path)
    assert [r.detail is None for r in kept] == [True, True, False]
    assert kept[2].detail is not None
    assert {name: array.tolist() for name, array in kept[2].detail.items()} == {
        "loss": [3.0, 3.0, 3.0],
        "file": [0, 1, 2],
    }
    with np.load(tmp_path / "clients" / "3.npz", allow_pickle=False) as file:
        assert file["loss"].tolist() == [3.0, 3.0, 3.0]


def test_detail_that_would_need_pickle_is_refused(tmp_path: Path) -> None:
    sink = JsonLines(tmp_path)
    with pytest.raises(RecordError, match="numeric arrays only"):
        sink.emit(Record(1, "round", 0.0, 1, detail={"x": np.array([print])}))
    assert numbers(tmp_path) == []
    assert list((tmp_path / "clients").iterdir()) == []


def test_lost_or_damaged_detail_is_a_clear_error(tmp_path: Path) -> None:
    write(tmp_path, 2, detail=True)
    (tmp_path / "clients" / "1.npz").unlink()
    (tmp_path / "clients" / "2.npz").write_bytes(b"PK")
    for kept in read_records(tmp_path):
        assert kept.detail is not None
        with pytest.raises(RecordError, match=rf"cannot read .*{kept.seq}\.npz"):
            len(kept.detail)


@pytest.mark.parametrize("seq", range(6))
@pytest.mark.parametrize("same_sink", [True, False])
def test_rewind_forgets_what_came_after(tmp_path: Path, seq: int, same_sink: bool) -> None:
    sink = write(tmp_path, 5, detail=True)
    sink = sink if same_sink else JsonLines(tmp_path)
    sink.rewind(seq)
    assert numbers(tmp_path) == list(range(1, seq + 1))
    left = sorted(path.name for path in (tmp_path / "clients").iterdir())
    assert left == [f"{k}.npz" for k in range(1, seq + 1)]
    sink.emit(record(seq + 1))
    assert read_records(tmp_path)[seq] == record(seq + 1)


def test_a_writer_killed_at_any_byte(tmp_path: Path) -> None:
    write(tmp_path / "whole", 4)
    log = (tmp_path / "whole" / LOG).read_bytes()
    ends = [position + 1 for position, byte in enumerate(log) if byte == ord("\n")]
    for cut in range(len(log) + 1):
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / LOG).write_bytes(log[:cut])
        whole = sum(end <= cut for end in ends)
        assert numbers(folder) == list(range(1, whole + 1))
        if whole:
            sink = JsonLines(folder)
            sink.rewind(whole - cut % 2)
            for seq in range(whole - cut % 2 + 1, 5):
                sink.emit(record(seq))
        else:
            write(folder, 4)
        assert (folder / LOG).read_bytes() == log


def test_unfinished_detail_is_removed(tmp_path: Path) -> None:
    write(tmp_path, 2, detail=True)
    (tmp_path / "clients" / "3.part").write_bytes(b"half")
    (tmp_path / "clients" / "1.part").write_bytes(b"half")
    (tmp_path / "clients" / "notes.txt").write_bytes(b"mine")
    JsonLines(tmp_path).rewind(2)
    names = sorted(path.name for path in (tmp_path / "clients").iterdir())
    assert names == ["1.npz", "2.npz", "notes.txt"]


def test_a_log_too_short_to_continue_is_refused(tmp_path: Path) -> None:
    write(tmp_path, 3)
    with pytest.raises(RecordError, match="ends at record 3, but the run continues after 4"):
        JsonLines(tmp_path).rewind(4)
    assert numbers(tmp_path) == [1, 2, 3]


def test_another_run_may_not_write_into_a_log(tmp_path: Path) -> None:
    write(tmp_path, 3)
    before = (tmp_path / LOG).read_bytes()
    with pytest.raises(RecordError, match="holds 3 records, so record 1 cannot follow"):
        JsonLines(tmp_path).emit(record(1))
    assert (tmp_path / LOG).read_bytes() == before


@pytest.mark.parametrize("seq", [0, 2, 4, 5])
def test_records_come_in_order(tmp_path: Path, seq: int) -> None:
    sink = write(tmp_path, 2)
    with pytest.raises(RecordError, match=f"so record {seq} cannot follow"):
        sink.emit(record(seq))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (b"{not json}\n", "line 2 of .* is damaged"),
        (b'{"seq":3}\n', "line 2 of .* holds record 3, not 2"),
        (b"[2]\n", "line 2 of .* holds record None, not 2"),
        (b'{"seq":2,"kind":"round"}\n', "this is no record"),
        (b"\xff\n", "line 2 of .* is damaged"),
    ],
)
def test_damage_before_the_end_is_a_clear_error(
    tmp_path: Path, damage: bytes, message: str
) -> None:
    write(tmp_path, 3)
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / LOG).write_bytes(lines[0] + damage + lines[2])
    with pytest.raises(RecordError, match=message):
        read_records(tmp_path)
    with pytest.raises(RecordError, match=message):
        JsonLines(tmp_path).rewind(2)


def test_no_log_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="give the folder of a run"):
        read_records(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    sink = JsonLines(tmp_path / "taken")
    with pytest.raises(RecordError, match=r"taken: .* folder that can be written"):
        sink.emit(record(1))
    with pytest.raises(RecordError, match=r"taken: .* folder that can be written"):
        sink.rewind(0)


def test_a_full_disk_is_a_clear_error_and_leaves_whole_lines(tmp_path: Path) -> None:
    sink = write(tmp_path, 3)
    size = (tmp_path / LOG).stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))  # the nearest to a full disk
    try:
        with pytest.raises(RecordError, match=r"cannot write the records .* free some space"):
            sink.emit(record(4))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / LOG).stat().st_size == size
    sink.emit(record(4))
    assert numbers(tmp_path) == [1, 2, 3, 4]


def test_closing_and_going_on(tmp_path: Path) -> None:
    sink = write(tmp_path, 2, detail=True)
    sink.sync()
    sink.close()
    sink.close()
    sink.sync()
    sink.emit(record(3, detail=True))
    sink.emit(record(4))
    sink.sync()
    assert numbers(tmp_path) == [1, 2, 3, 4]


WRITER = """
import sys, time
from pathlib import Path
from driftfold.telemetry import JsonLines, Recorder

recorder = Recorder(JsonLines(Path(sys.argv[1])))
while True:
    print(recorder.emit("round", 0.0, 1, {"x": 0.1}).seq, flush=True)
"""


def test_what_a_killed_process_told_is_on_disk(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdout=subprocess.PIPE,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert writer.stdout is not None
    for _ in range(500):
        said = writer.stdout.readline()
    writer.kill()
    rest = writer.stdout.read().split(b"\n")
    writer.stdout.close()
    writer.wait()
    told = int(rest[-2]) if len(rest) > 1 else int(said)
    assert len(numbers(tmp_path)) in (told, told + 1)


@pytest.mark.slow
def test_a_million_records_in_flat_memory(tmp_path: Path) -> None:
    def peak_mib() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    recorder = Recorder(sink := JsonLines(tmp_path))
    values = {"loss": 0.1, "responders": 7}
    for version in range(10_000):
        recorder.emit("round", 0.5 * version, version, values)
    before = peak_mib()
    for version in range(10_000, 1_000_000):
        recorder.emit("round", 0.5 * version, version, values)
    JsonLines(tmp_path).rewind(999_999)
    assert sum(1 for _ in each_record(tmp_path)) == 999_999
    # The log is 80 MB: anything that kept it, or a number for each record, would show.
    assert peak_mib() - before < 8
    sink.close()
