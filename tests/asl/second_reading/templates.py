"""What a payload template comes to."""

from tests.asl.second_reading.intrinsics import evaluate
from tests.asl.second_reading.values import Value


def render(template: Value, document: Value, context: Value) -> Value:
    """The template with every `.$` field replaced by its value."""
    if isinstance(template, list):
        return [render(item, document, context) for item in template]
    if not isinstance(template, dict):
        return template
    made = {}
    for key in template:
        if key.endswith(".$"):
            made[key[: -len(".$")]] = evaluate(template[key], document, context)
        else:
            made[key] = render(template[key], document, context)
    return made
