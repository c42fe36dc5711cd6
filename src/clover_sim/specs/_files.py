"""A file read as far as it is plausible, and no pipe waited for."""

from __future__ import annotations

import os
from stat import S_ISFIFO

from clover_sim.errors import InputError


def read_limited(path: str, most: int) -> bytes:
    """The bytes of a file, ``most`` and one more where it is longer.

    Raises:
        InputError: no such file, not readable, or a pipe, which would be waited for.
    """
    try:
        if S_ISFIFO(os.stat(path).st_mode):
            raise InputError(f"{path}: is a pipe; expected a file (save what comes through the pipe, and name that)")
        with open(path, "rb") as file:
            return file.read(most + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
