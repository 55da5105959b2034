"""Configuration from the environment: every field as `ORCHESTRATOR_` plus its name in capitals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_DATABASE_URL: Final = "sqlite:///orchestrator.db"
_PREFIX: Final = "ORCHESTRATOR_"

Seconds: TypeAlias = Annotated[float, Field(ge=0.001, le=86_400)]
"""A duration: from a millisecond to a day."""


class WrongSetting(Exception):
    """An environment variable has a value that it cannot have; the text names it."""


class Settings(BaseSettings):
    """What a process of this deployment needs to know."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="ignore")

    database_url: str = DEFAULT_DATABASE_URL
    """`postgresql+psycopg://…` or `sqlite:///FILE`."""
    broker_url: str | None = None
    """`redis://…`; without it bells ring only inside the process."""
    region: str = Field(default="us-east-1", pattern=r"^[a-z0-9-]+$")
    account: str = Field(default="000000000000", pattern=r"^\d{12}$")
    lease_seconds: Seconds = 30.0
    """How long a claim holds without a renewal; renewed every third of it."""
    poll_seconds: Seconds = 0.25
    """How often a scheduler looks for moments that are due."""
    sweep_seconds: Seconds = 1.0
    """How often a scheduler looks for lapsed leases, bells to ring again and tasks without a queue.
    """
    slice_seconds: Seconds = 1.0
    """How long a worker slot goes on claiming before it lets others have a turn."""
    slice_tasks: int = Field(default=100, gt=0)
    """How many tasks a worker slot runs before it lets others have a turn."""
    hung_seconds: Seconds = 30.0
    """How long a handler may go on after its attempt is over before its slot is given up."""
    states_per_transaction: int = Field(default=1_000, gt=0, le=100_000)
    """How many states one decision follows before it is cut and continued."""
    document_bytes: int = Field(default=8 * 1024 * 1024, gt=0, le=64 * 1024 * 1024)
    """The largest document."""
    limits: Literal["default", "strict-aws"] = "default"
    """`strict-aws` switches on the quotas of AWS Step Functions."""
    ledger_url: SecretStr | None = None
    """Where the sample handlers of `workers` note what they did; default: beside the data."""
    data: Path | None = None
    """The folder of the embedded mode."""
    hosts: str = ""
    """Names under which the API may be asked, besides those of loopback: separated by commas."""
    log_level: Literal["debug", "info", "warning", "error"] = "warning"


def read() -> Settings:
    """The settings of this process's environment; raises WrongSetting."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = f"{_PREFIX}{first['loc'][0]}".upper()
        raise WrongSetting(f"{name} is {first['input']!r}: {first['msg']}") from None
