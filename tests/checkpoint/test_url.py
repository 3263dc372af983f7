from pathlib import Path

import pytest

from driftfold.checkpoint import DiskStore, MemoryStore, Snapshot, add_scheme, open_store
from driftfold.checkpoint import url as urls
from driftfold.errors import CheckpointError


def test_paths_and_file_urls_name_one_store(tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "ü%20"
    url = folder.as_uri()
    spellings: list[str | Path] = [str(folder), folder, url, f"file://localhost{url[7:]}"]
    assert {open_store(spelling) for spelling in spellings} == {DiskStore(folder)}


def test_a_relative_path_is_fixed_when_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("runs")
    monkeypatch.chdir("/")
    store.save("run", Snapshot({"k": 1}, {}))
    assert (tmp_path / "runs" / "run").is_dir()


@pytest.mark.parametrize("path", ["C:/runs", "a:b", "runs/s3:x"])
def test_a_colon_in_a_path_is_no_scheme(path: str) -> None:
    assert open_store(path) == DiskStore(Path(path).absolute())


def test_memory_stores_by_name() -> None:
    assert isinstance(open_store("memory://url-a"), MemoryStore)
    assert open_store("memory://url-a") is open_store("MEMORY://url-a")
    assert open_store("memory://url-a") is not open_store("memory://url-b")


@pytest.mark.parametrize("bad", ["redis://host", "nothing://bucket/x"])
def test_an_unknown_scheme_says_what_to_do(bad: str) -> None:
    scheme = bad.partition(":")[0]
    with pytest.raises(
        CheckpointError, match=f"what fsspec needs for {scheme}://, or give a folder"
    ):
        open_store(bad)


@pytest.mark.parametrize("bad", ["file://host/runs", "file://runs"])
def test_a_file_url_with_a_host_is_refused(bad: str) -> None:
    with pytest.raises(CheckpointError, match="file:///folder/name"):
        open_store(bad)


def test_a_plug_in_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "_openers", dict(urls._openers))
    asked: list[str] = []

    def opener(text: str) -> MemoryStore:
        asked.append(text)
        return MemoryStore()

    add_scheme("mine", opener)
    add_scheme("mine", opener)
    open_store("mine://there?x=1")
    assert asked == ["mine://there?x=1"]
    with pytest.raises(CheckpointError, match="mine:// already opens"):
        add_scheme("MINE", lambda _: MemoryStore())
