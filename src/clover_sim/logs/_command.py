"""A command that a shell reads from several lines, each but the last ending in a backslash."""

from __future__ import annotations

_MOST_LINES = 100


class Command:
    """The lines of a command until the last of them."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def more(self, text: str) -> bool:
        """Take a line; whether the command is whole."""
        line = text.rstrip()
        self.parts.append(line.removesuffix("\\"))
        return not goes_on(line) or len(self.parts) > _MOST_LINES

    def take(self) -> tuple[str, int]:
        """The command as one line, and the lines it took; the next one begins."""
        parts, self.parts = self.parts, []
        return " ".join(parts), len(parts)


def goes_on(text: str) -> bool:
    """Whether a line ends in a backslash."""
    return text.rstrip().endswith("\\")
