"""What is shipped holds what it needs, and nothing else."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = [ROOT / "requirements" / "run.txt", ROOT / "requirements" / "dev.txt"]

DRIVERS = {"psycopg"}  # named by the database's URL, imported by SQLAlchemy


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (built,) = folder.glob("durable_orchestrator-*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_all_code_and_its_data(wheel: set[str]) -> None:
    for package in ("orchestrator", "workers"):
        files = (ROOT / package).rglob("*")
        ours = {path for path in files if path.is_file() and "__pycache__" not in path.parts}
        assert {str(path.relative_to(ROOT)) for path in ours} <= wheel


def test_the_wheel_holds_the_definitions_beside_the_code_that_finds_them(wheel: set[str]) -> None:
    definitions = list((ROOT / "definitions").rglob("*.json"))
    assert definitions
    for definition in definitions:
        assert f"orchestrator/{definition.relative_to(ROOT)}" in wheel


def test_the_wheel_holds_nothing_else(wheel: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"orchestrator", "workers"}
    assert any(name.endswith("licenses/LICENSE") for name in wheel)


def test_the_image_is_built_from_files_that_reach_the_builder() -> None:
    allowed = [
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    copies = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    sources = [source for copy in copies for source in copy.split()]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch(source, pattern) for pattern in allowed), source


def test_the_image_does_not_run_as_root() -> None:
    users = re.findall(r"^USER (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert users
    assert users[-1] not in {"root", "0"}


def test_what_the_readme_mounts_is_where_the_image_works() -> None:
    (home,) = re.findall(r"--home-dir (\S+)", (ROOT / "Dockerfile").read_text())
    folders = re.findall(r"^WORKDIR (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert folders[-1] == home == "/data"
    assert f"--volume ./definitions:{home}/definitions" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_file_pins_everything_by_hash_and_names_no_place(lock: Path) -> None:
    requirement = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z,]+\])?==\S+( ; .+)? \\$")
    hash_or_comment = re.compile(r"^    (--hash=sha256:[0-9a-f]{64}( \\)?|#.*)$")
    lines = lock.read_text().splitlines()
    assert [
        line for line in lines if not requirement.match(line) and not hash_or_comment.match(line)
    ] == []
    assert not re.search(r"://|index-url|find-links|(^|\s)/", lock.read_text())


def test_what_runs_is_also_what_is_tested() -> None:
    run, dev = (
        set(re.findall(r"^[a-z0-9].*==\S+", lock.read_text(), re.MULTILINE)) for lock in LOCKS
    )
    assert run <= dev


def test_dependencies_are_what_the_code_imports() -> None:
    found = {
        name.partition(".")[0]
        for package in ("orchestrator", "workers")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in _imported(node)
    }
    distributions = importlib.metadata.packages_distributions()
    imported = {
        distributions[module][0].lower()
        for module in found - sys.stdlib_module_names - {"orchestrator", "workers"}
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[^a-z0-9-]", line)[0] for line in project["dependencies"]}
    assert declared - DRIVERS == imported


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module]
    return []


def test_the_licence_is_the_whole_apache_licence() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    assert all(re.search(rf"^   {number}\. [A-Z]", text, re.MULTILINE) for number in range(1, 10))
    assert "Copyright [yyyy] [name of copyright owner]" in text
