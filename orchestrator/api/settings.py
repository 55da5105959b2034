"""What comes with a definition: role, logging, tracing, encryption; checked, kept, shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from orchestrator.api.arn import MOST_CHARACTERS
from orchestrator.api.errors import ApiError, bad_arn
from orchestrator.api.given import Given
from orchestrator.asl.document import Json
from orchestrator.service.machines import PLAIN, MachineSettings

MOST_TAGS: Final = 50
LEVELS: Final = ("ALL", "ERROR", "FATAL", "OFF")


def machine_settings(given: Given) -> MachineSettings:
    """Read what comes with a new machine."""
    role = given.text("roleArn", MOST_CHARACTERS)
    if not role.startswith("arn:"):
        raise bad_arn(f"Invalid Role Arn: {role}")
    check_tags(given)
    settings = replace(PLAIN, role_arn=role)
    logging, tracing = logging_of(given), tracing_of(given)
    encryption = encryption_of(given)
    if logging is not None:
        settings = replace(settings, logging=logging)
    if tracing is not None:
        settings = replace(settings, tracing=tracing)
    if encryption is not None:
        settings = replace(settings, encryption=encryption)
    return settings


def check_tags(given: Given) -> None:
    """Raise TooManyTags for more tags than a machine may have."""
    tags = given.items("tags")
    if len(tags) > MOST_TAGS:
        raise ApiError("TooManyTags", f"Too many tags: {len(tags)}, at most {MOST_TAGS}")


def logging_of(given: Given) -> Json:
    """Read the logging configuration, None if there is none."""
    found = given.structure("loggingConfiguration")
    if found is None:
        return None
    level = found.get("level", "OFF")
    if level not in LEVELS:
        raise ApiError("InvalidLoggingConfiguration", f"Invalid Logging Configuration: '{level}'")
    destinations = found.get("destinations") or []
    if level != "OFF" and not destinations:
        raise ApiError(
            "InvalidLoggingConfiguration",
            "Invalid Logging Configuration: Must specify exactly one Log Destination.",
        )
    included = found.get("includeExecutionData", False)
    shown: dict[str, Json] = {"level": level, "includeExecutionData": included}
    if destinations:
        shown["destinations"] = destinations
    return shown


def tracing_of(given: Given) -> Json:
    """Read the tracing configuration, None if there is none."""
    found = given.structure("tracingConfiguration")
    return None if found is None else {"enabled": bool(found.get("enabled", False))}


def encryption_of(given: Given) -> Json:
    """Read the encryption configuration, None if there is none; there are no keys of customers."""
    found = given.structure("encryptionConfiguration")
    if found is None:
        return None
    if found.get("type", "AWS_OWNED_KEY") != "AWS_OWNED_KEY":
        raise ApiError(
            "InvalidEncryptionConfiguration",
            "Invalid Encryption Configuration: there are no keys but those of AWS_OWNED_KEY",
        )
    return {"type": "AWS_OWNED_KEY"}
