"""`orchestrator api`, `dev` and `env`: AWS's door, and what its clients need to know."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Optional

import typer

from orchestrator import DEFAULT_PORT
from orchestrator.cli.errors import answered, wrong_use

app = typer.Typer()

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

Host = Annotated[str, typer.Option("--host", help="Where to listen.", metavar="HOST")]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="0: any that is free.", metavar="PORT")
]
Open = Annotated[
    bool,
    typer.Option(
        "--without-authentication",
        help="Listen where others can reach it, though nobody is asked who he is.",
    ),
]


@app.command()
def api(
    host: Host = LOOPBACK[0],
    port: Port = DEFAULT_PORT,
    without_authentication: Open = False,
    database_url: Annotated[Optional[str], typer.Option("--database-url", metavar="URL")] = None,
    broker_url: Annotated[Optional[str], typer.Option("--broker-url", metavar="URL")] = None,
) -> None:
    """Serve AWS's wire protocol over a database, until SIGTERM or Ctrl-C."""
    from orchestrator import main as composition

    _check(host, without_authentication)
    with answered():
        composition.run_api(composition.settings(database_url, broker_url), host, port)


@app.command()
def dev(
    port: Port = DEFAULT_PORT,
    host: Host = LOOPBACK[0],
    without_authentication: Open = False,
    data: Annotated[
        Path, typer.Option("--data", help="The folder that keeps everything.", metavar="FOLDER")
    ] = Path(".orchestrator"),
    handlers: Annotated[
        Optional[list[str]],
        typer.Option(
            "--handlers",
            help="Modules whose handlers to serve. Default: workers.",
            metavar="MODULE",
        ),
    ] = None,
    mock_config: Annotated[
        Optional[Path],
        typer.Option(
            "--mock-config",
            help="A MockConfigFile.json: start executions as STATE_MACHINE_ARN#TEST_CASE.",
            metavar="FILE",
        ),
    ] = None,
    limits: Annotated[
        str,
        typer.Option(
            "--limits", help="strict-aws, or default: without AWS's quotas.", metavar="NAME"
        ),
    ] = "strict-aws",
) -> None:
    """Serve everything in one process: API, worker and scheduler, on SQLite."""
    import sys

    from orchestrator import main as composition

    _check(host, without_authentication)
    if limits not in ("default", "strict-aws"):
        wrong_use(f"--limits {limits}: one of strict-aws, default")
    with answered():
        sys.path.insert(0, "")  # handlers are looked for in the working directory as well
        wish = composition.Dev(data, tuple(handlers or ["workers"]), mock_config, limits)
        composition.run_dev(wish, host, port)


@app.command()
def env(
    host: Host = LOOPBACK[0],
    port: Port = DEFAULT_PORT,
) -> None:
    """Print the variables that boto3 and the aws CLI need, for `eval`."""
    from orchestrator import main as composition

    with answered():
        for name, value in composition.client_environment(host, port).items():
            print(f"export {name}={value}")


def _check(host: str, without_authentication: bool) -> None:
    if host not in LOOPBACK and not without_authentication:
        wrong_use(
            f"--host {host}: anybody who reaches it could do anything, since there is no "
            "authentication yet; say --without-authentication if that is wanted"
        )
