"""Real Pythons without `ensurepip`, as on a Debian without python3-venv, or with a quick one."""

from __future__ import annotations

import shutil
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

REAL_PYTHON = Path(sys.executable).resolve()
STDLIB = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}))
PIP = Path(site.getsitepackages()[0]) / "pip"  # that of the .venv in which the tests run

# Does in a moment what the real one does in seconds.
QUICK_ENSUREPIP = f"""
import os, sysconfig
os.symlink({str(PIP)!r}, os.path.join(sysconfig.get_path("purelib"), "pip"))
"""


def has_ensurepip(python: Path) -> bool:
    """Tells whether a Python can make virtual environments with pip by itself."""
    result = subprocess.run([python, "-c", "import ensurepip"], check=False, capture_output=True)
    return result.returncode == 0


def library(prefix: Path) -> Path:
    """Returns the folder of the standard library of a Python made here."""
    return prefix / STDLIB.relative_to(sys.base_prefix)


def write_quick_ensurepip(folder: Path) -> None:
    """Writes a package that does what `python -m ensurepip` does in a virtual environment."""
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "__main__.py").write_text(QUICK_ENSUREPIP)


def python_without_ensurepip(prefix: Path, *, has_pip: bool) -> Path:
    """Makes a Python that is this one but for `ensurepip`, and returns its executable."""
    (prefix / "bin").mkdir(parents=True)
    library(prefix).mkdir(parents=True)
    for entry in STDLIB.iterdir():
        if entry.name not in ("ensurepip", "site-packages", "__pycache__"):
            (library(prefix) / entry.name).symlink_to(entry)
    executable = prefix / "bin" / "python3"
    shutil.copy(REAL_PYTHON, executable)
    if has_pip:
        packages = _packages(executable)
        packages.mkdir(parents=True)
        (packages / "pip").symlink_to(PIP)
    assert not has_ensurepip(executable)
    return executable


def python_with_quick_ensurepip(prefix: Path) -> Path:
    """Makes a Python that makes virtual environments with pip in a moment."""
    executable = python_without_ensurepip(prefix, has_pip=False)
    write_quick_ensurepip(library(prefix) / "ensurepip")
    return executable


def _packages(python: Path) -> Path:
    """Where a Python looks for installed packages: Debian's elsewhere than others."""
    script = "import site; print(site.getsitepackages()[0])"
    return Path(subprocess.check_output([python, "-c", script], text=True).strip())
