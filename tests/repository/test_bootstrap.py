""".ci/bootstrap makes a working .venv with what a machine happens to have, or says what is missing.

The Pythons here are real ones without `ensurepip` (as Debian's without python3-venv), with or
without a pip of their own. What else a machine may have (virtualenv, uv, apt-get) is played by
scripts that do what these do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.repository.prefix import (
    REAL_PYTHON,
    has_ensurepip,
    library,
    python_with_quick_ensurepip,
    python_without_ensurepip,
    write_quick_ensurepip,
)

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash") or "/bin/bash"

# A project that needs no network to be installed: its build backend lies in its own folder.
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tiny"
version = "1"
"""
BACKEND = """
import zipfile


def build_editable(folder, settings=None, metadata=None):
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("tiny.py", "INSTALLED = True")
        wheel.writestr(
            "tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n"
        )
        wheel.writestr(
            "tiny-1.dist-info/WHEEL",
            "Wheel-Version: 1.0\\nGenerator: tiny\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        )
        wheel.writestr("tiny-1.dist-info/RECORD", "tiny.py,,\\ntiny-1.dist-info/RECORD,,\\n")
    return name
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A checkout of the tiny project, and all the programs that there are on the PATH."""

    checkout: Path
    programs: Path

    @property
    def venv(self) -> Path:
        return self.checkout / ".venv"

    def offer(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(f"#!{BASH}\n{script}\n")
        program.chmod(0o755)

    def offer_python(self, executable: Path) -> None:
        # No link: a Python looks for its library beside the name by which it was called.
        self.offer("python3", f'exec {executable} "$@"')

    def bootstrap(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BASH, ".ci/bootstrap"],
            cwd=self.checkout,
            env={"PATH": str(self.programs), "HOME": str(self.checkout), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def works(self) -> bool:
        python = self.venv / "bin" / "python"
        commands = (["-m", "pip", "--version"], ["-c", "import tiny; assert tiny.INSTALLED"])
        return all(
            subprocess.run([python, *command], check=False, capture_output=True).returncode == 0
            for command in commands
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    checkout, programs = tmp_path / "checkout", tmp_path / "programs"
    for folder in (checkout / ".ci", checkout / "requirements", programs):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "bootstrap", checkout / ".ci")
    (checkout / "requirements" / "dev.txt").write_text("# nothing\n")
    (checkout / "pyproject.toml").write_text(PYPROJECT)
    (checkout / "backend.py").write_text(BACKEND)
    rm = shutil.which("rm")
    assert rm
    (programs / "rm").symlink_to(rm)
    return Machine(checkout, programs)


def test_the_pip_of_the_system_fills_what_ensurepip_cannot(
    machine: Machine, tmp_path: Path
) -> None:
    python = python_without_ensurepip(tmp_path / "prefix", has_pip=True)
    machine.offer_python(python)
    result = machine.bootstrap()
    assert result.returncode == 0, result.stderr
    assert machine.works()
    assert not has_ensurepip(machine.venv / "bin" / "python")


@pytest.mark.parametrize(
    ("program", "script"),
    [
        # virtualenv --clear --python PYTHON VENV
        ("virtualenv", '[[ $2 == --python ]] && exec {python} -m venv --clear "$4"'),
        # uv venv --clear --seed --python PYTHON VENV
        ("uv", '[[ $1-$3 == venv---seed ]] && exec {python} -m venv --clear "$6"'),
    ],
    ids=["virtualenv", "uv"],
)
def test_virtualenv_or_uv_do_where_there_is_no_pip(
    machine: Machine, tmp_path: Path, program: str, script: str
) -> None:
    python = python_without_ensurepip(tmp_path / "prefix", has_pip=False)
    machine.offer_python(python)
    quick = python_with_quick_ensurepip(tmp_path / "quick")
    machine.offer(program, script.format(python=quick))
    result = machine.bootstrap()
    assert result.returncode == 0, result.stderr
    assert machine.works()


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/etc/debian_version").exists(),
    reason="installing by apt-get was not tested: it is tried only as root on Debian",
)
def test_apt_get_installs_what_is_missing_as_root_on_debian(
    machine: Machine, tmp_path: Path
) -> None:
    python = python_without_ensurepip(tmp_path / "prefix", has_pip=False)
    machine.offer_python(python)
    write_quick_ensurepip(tmp_path / "ensurepip")
    link = shutil.which("ln")
    # As on a fresh machine: there is no list of packages before the update.
    machine.offer(
        "apt-get",
        f"""
        [[ $1 == update ]] && {{ : >{tmp_path}/updated; exit; }}
        [[ $1 == install && $4 == python3-venv && -f {tmp_path}/updated ]] || exit 100
        {link} -s {tmp_path}/ensurepip {library(tmp_path / "prefix")}/ensurepip
        """,
    )
    result = machine.bootstrap()
    assert result.returncode == 0, result.stderr
    assert machine.works()


def test_one_sentence_says_what_to_install_when_nothing_helps(
    machine: Machine, tmp_path: Path
) -> None:
    python = python_without_ensurepip(tmp_path / "prefix", has_pip=False)
    machine.offer_python(python)
    result = machine.bootstrap()
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "python3-venv" in result.stderr
    assert not machine.venv.exists()


def test_one_sentence_asks_for_python_where_there_is_none(machine: Machine) -> None:
    result = machine.bootstrap(PATH="/nonexistent")
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "Python 3.11 or newer" in result.stderr
    assert not machine.venv.exists()


def test_the_first_python_that_is_new_enough_is_taken(machine: Machine) -> None:
    machine.offer("old", "exit 1")  # what it answers when asked whether it is 3.11 or newer
    machine.offer("python3", "exit 1")
    machine.offer("python3.13", "exit 1")
    machine.offer("python3.11", f'exec {REAL_PYTHON} "$@"')
    result = machine.bootstrap(PYTHON="old")
    assert result.returncode == 0, result.stderr
    assert machine.works()


def test_a_failed_installation_leaves_no_half_made_venv(machine: Machine, tmp_path: Path) -> None:
    machine.offer_python(python_with_quick_ensurepip(tmp_path / "prefix"))
    (machine.checkout / "requirements" / "dev.txt").write_text("unpinned-and-without-a-hash\n")
    result = machine.bootstrap()
    assert result.returncode != 0
    assert not machine.venv.exists()


def test_nothing_is_installed_again_while_the_lock_is_the_same(
    machine: Machine, tmp_path: Path
) -> None:
    machine.offer_python(python_with_quick_ensurepip(tmp_path / "prefix"))
    assert machine.bootstrap().returncode == 0
    (machine.checkout / "backend.py").write_text("raise SystemExit('built again')")
    assert machine.bootstrap().returncode == 0
    (machine.checkout / "requirements" / "dev.txt").write_text("# another lock\n")
    assert machine.bootstrap().returncode != 0
    assert machine.works()  # a .venv that worked is kept


def test_a_broken_venv_is_made_again(machine: Machine, tmp_path: Path) -> None:
    machine.offer_python(python_with_quick_ensurepip(tmp_path / "prefix"))
    (machine.venv / "bin").mkdir(parents=True)
    (machine.venv / "bin" / "python").symlink_to("/nonexistent/python")
    result = machine.bootstrap()
    assert result.returncode == 0, result.stderr
    assert machine.works()
