"""JSONPath in Jayway's meaning, bounded: no evaluation takes more than a million steps."""

from orchestrator.asl.paths.path import Path, compile_path
from orchestrator.asl.paths.reference import ReferencePath, compile_reference_path, place
from orchestrator.asl.paths.syntax import PathSyntaxError
from orchestrator.asl.paths.work import (
    NO_VARIABLES,
    Budget,
    ContextSource,
    PathNotFound,
    Variables,
)

__all__ = [
    "NO_VARIABLES",
    "Budget",
    "ContextSource",
    "Path",
    "PathNotFound",
    "PathSyntaxError",
    "ReferencePath",
    "Variables",
    "compile_path",
    "compile_reference_path",
    "place",
]
