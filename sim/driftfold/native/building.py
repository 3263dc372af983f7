"""Build the kernels with the C compiler, where there is one.

Run by the build hook at install, and by ``python -m driftfold.native`` in a checkout.
The standard library is all it needs: the hook loads this file by its path.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "kernels.shared"  # a name that no search for modules finds

# Fused products are wanted; errno and traps are not. Loops of constant length are unrolled, which
# is all that -O3 would add here, at half its time.
_FLAGS = (
    "-O2",
    "-fpeel-loops",
    "-ftree-slp-vectorize",
    "-std=gnu11",
    "-fPIC",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
)

_AVX2 = ("-mavx2", "-mfma", "-mtune=haswell")
_AVX512 = ("-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma", "-mtune=skylake-avx512")
_LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "x86_64": {"v3": _AVX2, "v4": _AVX512},
    "aarch64": {"neon": ()},
}

# The constant that each kernel is compiled for, and its values.
_SIZES: dict[str, tuple[str, range]] = {
    "pca": ("R", range(1, 9)),
    "spd_mean": ("N", range(2, 17)),
    "lorentz_mean": ("D", range(2, 11)),
}

# Sources that are compiled once for each level: their types and sizes are fixed.
_FIXED = ("philox", "resets", "exact")

# Those whose bits are NumPy's: a product and a sum are rounded one after the other.
_EXACT = {"exact": ("-ffp-contract=off",)}


class BuildError(Exception):
    """The kernels cannot be built here; the message says why."""


@dataclass(frozen=True)
class Unit:
    """One source, compiled for one level of processors and, where it has one, a size and type."""

    stem: str
    level: str
    size: int | None = None
    bits: int | None = None

    def command(self, compiler: Sequence[str], flags: Sequence[str], target: Path) -> list[str]:
        """Return the command that compiles it to `target`."""
        if self.size is None:
            defines = [f"-DNAME(stem)=stem##_{self.level}"]
        else:
            letter, _ = _SIZES[self.stem]
            name = f"NAME(stem)=stem##_{self.size}_f{self.bits}_{self.level}"
            defines = [f"-D{letter}={self.size}", f"-DBITS={self.bits}", f"-D{name}"]
        source = str(FOLDER / f"{self.stem}.c")
        own = _EXACT.get(self.stem, ())
        return [*compiler, *_FLAGS, *flags, *own, *defines, "-c", source, "-o", str(target)]


def source_digest() -> str:
    """Short digest of the sources and of how they are compiled, 16 hexadecimal digits."""
    digest = hashlib.blake2b(
        repr((_FLAGS, _LEVELS, _SIZES, _FIXED, _EXACT)).encode(), digest_size=8
    )
    for path in sorted(FOLDER.glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def machine() -> str:
    """Return the processor family as the levels name it."""
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


def levels() -> list[str]:
    """All levels of this machine's family, the fastest last."""
    return list(_LEVELS.get(machine(), {}))


def compiler() -> list[str]:
    """Return the C compiler's command: CC, or cc, gcc or clang, the first one found.

    Raises `BuildError` when there is none.
    """
    named = os.environ.get("CC", "").split()
    for candidate in [named] if named else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(candidate[0]):
            return candidate
    wanted = " ".join(named) or "cc, gcc or clang"
    raise BuildError(f"no C compiler was found ({wanted})")


def build(target: Path = LIBRARY, only: Sequence[str] | None = None) -> None:
    """Compile all kernels into `target`, for the levels `only` or for all of this machine's family.

    The library appears at once, when all is done. Raises `BuildError` when it cannot be made.
    """
    known = _LEVELS.get(machine())
    if known is None or sys.platform == "win32":
        raise BuildError(f"there are no kernels for {sys.platform} on {platform.machine()}")
    chosen = [level for level in known if only is None or level in only]
    command = compiler()
    with tempfile.TemporaryDirectory(prefix="driftfold-") as made:
        folder = Path(made)
        with ThreadPoolExecutor(_workers()) as pool:  # each waits for a compiler of its own
            jobs = [
                pool.submit(_compile, unit.command(command, known[unit.level], folder / f"{i}.o"))
                for i, unit in enumerate(_units(chosen))
            ]
            defines = [f'-DSOURCE="{source_digest()}"', f'-DLEVELS="{" ".join(chosen)}"']
            identity = [str(FOLDER / "identity.c"), "-o", str(folder / "identity.o")]
            jobs.append(
                pool.submit(_compile, [*command, "-O2", "-fPIC", *defines, "-c", *identity])
            )
            for job in jobs:
                job.result()
        objects = [str(path) for path in sorted(folder.glob("*.o"))]
        shared = "-dynamiclib" if sys.platform == "darwin" else "-shared"
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            _compile([*command, shared, *objects, "-lm", "-o", str(partial)])
            partial.replace(target)  # a process that has the old one open keeps it
        finally:
            partial.unlink(missing_ok=True)


def up_to_date(library: Path = LIBRARY) -> bool:
    """Whether `library` was made from the present sources; its digest is written in it."""
    return library.is_file() and source_digest().encode() in library.read_bytes()


def platform_tag() -> str:
    """Return the tag of a wheel that holds the library, as in py3-none-linux_x86_64."""
    name = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"py3-none-{name}"


def levels_here() -> list[str]:
    """Levels that this machine can run, the fastest last, by its operating system's account."""
    if machine() != "x86_64":
        return levels()
    try:
        flags = set(
            Path("/proc/cpuinfo").read_text().split("\nflags", 1)[1].split("\n", 1)[0].split()
        )
    except (OSError, IndexError):
        return levels()
    needs = {"v3": {"avx2", "fma"}, "v4": {"avx512f", "avx512dq", "avx512bw", "avx512vl"}}
    return [level for level, wanted in needs.items() if wanted <= flags]


def _units(levels: Sequence[str]) -> Iterator[Unit]:
    for stem, (_, sizes) in _SIZES.items():
        for level in levels:
            for bits in (64, 32):
                for size in reversed(sizes):  # the longest first, so that none is left to the end
                    yield Unit(stem, level, size, bits)
    for stem in _FIXED:
        for level in levels:
            yield Unit(stem, level)


def _workers() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _compile(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        wrong = next((line for line in lines if "error" in line), lines[-1])
        raise BuildError(f"{command[0]} failed: {wrong}")
