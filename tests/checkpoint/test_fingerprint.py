import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import driftfold
from driftfold.checkpoint import Fingerprint, take_fingerprint
from driftfold.errors import CheckpointError


def test_it_names_what_numbers_depend_on() -> None:
    facts = take_fingerprint(packages=["annotated-types", "no-such-package"]).facts
    assert facts["driftfold"] == driftfold.__version__
    assert facts["numpy"] == np.__version__
    assert facts["python"].endswith(".".join(map(str, sys.version_info[:3])))
    assert facts["annotated-types"][0].isdigit()
    assert facts["no-such-package"] is None
    assert json.loads(json.dumps(facts)) == facts


def test_it_is_the_same_in_another_process() -> None:
    code = "from driftfold.checkpoint import take_fingerprint; print(take_fingerprint().digest)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == take_fingerprint().digest


def test_a_changed_plug_in_changes_it(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text("x = 1\n")
    before = take_fingerprint([plugin])
    assert take_fingerprint([plugin]) == before
    plugin.write_text("x = 2\n")
    after = take_fingerprint([plugin])
    assert after.digest != before.digest
    (change,) = before.changes(after)
    assert change.startswith("plugins: ")


def test_a_plug_in_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"cannot read the plug-in .*gone\.py"):
        take_fingerprint([tmp_path / "gone.py"])


def test_changes_name_what_is_new_and_what_is_gone() -> None:
    old, new = Fingerprint({"a": 1, "b": 2, "c": 3}), Fingerprint({"a": 1, "b": 4, "d": 5})
    assert old.changes(new) == ["b: 2 -> 4", "c: 3 -> None", "d: None -> 5"]
    assert old.changes(old) == []
    assert Fingerprint({"b": 2, "a": 1, "c": 3}).digest == old.digest
