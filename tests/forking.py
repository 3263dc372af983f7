"""Commands in processes of their own that need not import everything anew.

One process imports what they all need, and a copy of it runs each command. So a command costs its
work, and not the second in which NumPy, pydantic and matplotlib are imported. What it does with its
arguments, files, output and plug-ins it does as usual; that a command starts from nothing is for
`tests/command` to show.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import ModuleType
from typing import Any, NoReturn

HANGS = 600  # seconds; no measure of speed, it only ends what would never end
READY = "ready"
IMPORTED = (
    *("driftfold.run", "driftfold_api.plots", "driftfold_api.report", "driftfold_api.running"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
    *("pydantic", "rich.progress", "rich.table"),
)


def run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command that begins with "python" or "driftfold"; return how it ended."""
    with NamedTemporaryFile("r") as out, NamedTemporaryFile("r") as err:
        order = {
            "words": list(words),
            "folder": str(folder),
            "environment": dict(environment),
            "to": [out.name, err.name],
        }
        return subprocess.CompletedProcess(words, _ask(order), out.read(), err.read())


def _ask(order: dict[str, Any]) -> int:
    forker = _forker()
    assert forker.stdin is not None
    assert forker.stdout is not None
    forker.stdin.write(json.dumps(order) + "\n")
    forker.stdin.flush()
    return os.waitstatus_to_exitcode(int(forker.stdout.readline()))


@cache
def _forker() -> "subprocess.Popen[str]":
    forker = subprocess.Popen(
        [sys.executable, "-W", "error", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert forker.stdout is not None
    assert forker.stdout.readline().strip() == READY
    atexit.register(forker.communicate)  # the end of its input is its end
    return forker


def _serve() -> None:
    """Run each order in a copy of this process, and tell its status."""
    from driftfold.spec import load_builtins

    for name in IMPORTED:
        import_module(name)
    load_builtins()
    gc.freeze()  # or each copy would walk through all of it
    print(READY, flush=True)
    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            _obey(json.loads(line))
        print(os.waitpid(pid, 0)[1], flush=True)


def _obey(order: dict[str, Any]) -> NoReturn:
    """Become the command."""
    signal.alarm(HANGS)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, place in enumerate(order["to"], start=1):
        os.dup2(os.open(place, os.O_WRONLY), number)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    code: Any = 0
    try:
        _run(*order["words"])
    except SystemExit as error:
        code = error.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)  # to take all down in order takes time


def _run(name: str, *rest: str) -> None:
    if name == "driftfold":
        warnings.resetwarnings()  # -W error is for the examples in Python
        import_module("driftfold_api.command").main(rest)
    else:
        _python(*rest)


def _python(first: str, *rest: str) -> None:
    if first == "-c":
        code, *arguments = rest
        sys.path[0], sys.argv = "", ["-c", *arguments]
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(code, "<string>", "exec"), main.__dict__)
    else:
        sys.path[0], sys.argv = str(Path(first).absolute().parent), [first, *rest]
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    _serve()
