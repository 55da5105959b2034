"""Cutting texts apart at the top: not inside quotes, brackets or parentheses."""


def end_of_string(text: str, start: int) -> int:
    """The place behind the string whose quote stands at `start`."""
    quote, place = text[start], start + 1
    while text[place] != quote:
        place += 2 if text[place] == "\\" else 1
    return place + 1


def end_of_group(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`."""
    depth, place = 0, start
    while True:
        letter = text[place]
        if letter in "'\"":
            place = end_of_string(text, place)
            continue
        if letter in "([{":
            depth += 1
        if letter in ")]}":
            depth -= 1
        place += 1
        if depth == 0:
            return place


def split(text: str, separator: str) -> list[str]:
    """The parts between the separators that stand at the top."""
    parts, start, place = [], 0, 0
    while place < len(text):
        if text[place] in "'\"":
            place = end_of_string(text, place)
        elif text[place] in "([{":
            place = end_of_group(text, place)
        elif text.startswith(separator, place):
            parts.append(text[start:place])
            place += len(separator)
            start = place
        else:
            place += 1
    return [*parts, text[start:]]
