import os
from pathlib import Path

from driftfold.memory import machine_bytes


def test_a_container_has_no_more_than_its_limit(tmp_path: Path) -> None:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cases = {"max\n": physical, "1000000\n": 10**6, f"{10**18}\n": physical, "": physical}
    for number, (text, wanted) in enumerate(cases.items()):
        file = tmp_path / str(number)
        file.write_text(text)
        assert machine_bytes(str(file)) == wanted
    assert machine_bytes(str(tmp_path / "missing")) == physical
