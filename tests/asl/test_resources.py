"""A Resource says by its form who does the work."""

from __future__ import annotations

import pytest

from orchestrator.asl.resources import (
    Kind,
    Pattern,
    ResourceError,
    is_well_formed,
    parse_resource,
)

FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:book"


def test_a_celery_task_is_called_by_its_name() -> None:
    resource = parse_resource("celery:orders.book")
    assert resource.kind is Kind.CELERY
    assert resource.name == "orders.book"
    assert (resource.resource_type, resource.resource_action) == ("celery", "orders.book")


def test_a_function_is_called_by_its_name_without_its_version() -> None:
    plain, versioned = parse_resource(FUNCTION), parse_resource(f"{FUNCTION}:live")
    assert (plain.kind, plain.name, plain.qualifier) == (Kind.LAMBDA_ARN, "book", None)
    assert (versioned.function_name, versioned.qualifier) == ("book", "live")


@pytest.mark.parametrize(
    ("text", "action", "pattern"),
    [
        ("arn:aws:states:::lambda:invoke", "invoke", Pattern.REQUEST),
        (
            "arn:aws:states:::lambda:invoke.waitForTaskToken",
            "invoke.waitForTaskToken",
            Pattern.TASK_TOKEN,
        ),
    ],
)
def test_invoke_takes_its_function_from_the_parameters(
    text: str, action: str, pattern: Pattern
) -> None:
    resource = parse_resource(text)
    assert resource.kind is Kind.LAMBDA_INVOKE
    assert resource.function_name is None
    assert (resource.resource_type, resource.resource_action) == ("lambda", action)
    assert resource.pattern is pattern
    assert resource.waits_for_token is (pattern is Pattern.TASK_TOKEN)


@pytest.mark.parametrize(
    ("text", "name", "kind", "action", "pattern"),
    [
        (
            "arn:aws:states:::sqs:sendMessage",
            "arn:aws:states:::sqs:sendMessage",
            "sqs",
            "sendMessage",
            Pattern.REQUEST,
        ),
        (
            "arn:aws:states:::ecs:runTask.sync",
            "arn:aws:states:::ecs:runTask",
            "ecs",
            "runTask.sync",
            Pattern.SYNC,
        ),
        (
            "arn:aws:states:::states:startExecution.sync:2",
            "arn:aws:states:::states:startExecution",
            "states",
            "startExecution.sync:2",
            Pattern.SYNC_2,
        ),
        (
            "arn:aws:states:::aws-sdk:s3:getObject",
            "arn:aws:states:::aws-sdk:s3:getObject",
            "aws-sdk:s3",
            "getObject",
            Pattern.REQUEST,
        ),
    ],
)
def test_a_service_goes_to_the_handler_of_its_name_whatever_its_pattern(
    text: str, name: str, kind: str, action: str, pattern: Pattern
) -> None:
    resource = parse_resource(text)
    assert resource.kind is Kind.SERVICE
    assert resource.name == name
    assert (resource.resource_type, resource.resource_action) == (kind, action)
    assert resource.pattern is pattern
    assert is_well_formed(resource)


def test_other_partitions_of_aws_name_the_same_services() -> None:
    resource = parse_resource("arn:aws-cn:states:::sqs:sendMessage")
    assert resource.name == "arn:aws:states:::sqs:sendMessage"


def test_an_activity_has_its_name() -> None:
    resource = parse_resource("arn:aws:states:eu-central-1:123456789012:activity:approve")
    assert (resource.kind, resource.name) == (Kind.ACTIVITY, "approve")


@pytest.mark.parametrize(
    "text",
    [
        "go://host/f",
        "arn:aws:swf:us-east-1:123456789012:task:X",
        "arn:aws:states:us-east-1:123456789012:sqs:sendMessage",
        "arn:aws:states:::nothing",
        "a name",
        "${Substitution}",
    ],
)
def test_any_other_name_is_a_handlers_own(text: str) -> None:
    resource = parse_resource(text)
    assert (resource.kind, resource.name, resource.text) == (Kind.SERVICE, text, text)
    assert not is_well_formed(resource)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\nb",
        "a\0",
        "\ud800",
        "celery:",
        "celery:a b",
        "x" * 2_049,
        "arn:aws:lambda:us-east-1:123456789012:function:",
    ],
)
def test_what_cannot_be_a_name_is_refused(text: str) -> None:
    with pytest.raises(ResourceError):
        parse_resource(text)
