"""A real Python without `ensurepip`, as on a Debian without python3-venv."""

from __future__ import annotations

import shutil
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

REAL_PYTHON = Path(sys.executable).resolve()
STDLIB = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}))


def has_ensurepip(python: Path) -> bool:
    """Tells whether a Python can make virtual environments with pip by itself."""
    result = subprocess.run([python, "-c", "import ensurepip"], check=False, capture_output=True)
    return result.returncode == 0


def python_without_ensurepip(prefix: Path, *, has_pip: bool) -> Path:
    """Makes a Python that is this one but for `ensurepip`, and returns its executable."""
    ours = prefix / STDLIB.relative_to(sys.base_prefix)
    (prefix / "bin").mkdir(parents=True)
    ours.mkdir(parents=True)
    for entry in STDLIB.iterdir():
        if entry.name not in ("ensurepip", "site-packages", "__pycache__"):
            (ours / entry.name).symlink_to(entry)
    executable = prefix / "bin" / "python3"
    shutil.copy(REAL_PYTHON, executable)
    (ours / "site-packages").mkdir()
    if has_pip:
        pip = Path(site.getsitepackages()[0]) / "pip"  # that of the .venv the tests run in
        (ours / "site-packages" / "pip").symlink_to(pip)
    assert not has_ensurepip(executable)
    return executable
