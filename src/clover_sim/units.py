"""Unit factors, applied once at the edge; inside the package everything is in base SI units.

>>> 141 * GB, 24 * GIB
(141000000000, 25769803776)
"""

from __future__ import annotations

KB, MB, GB, TB = 10**3, 10**6, 10**9, 10**12
"""Decimal multiples of a byte, as data sheets and drives count."""

KIB, MIB, GIB = 2**10, 2**20, 2**30
"""Binary multiples of a byte, as operating systems and ``nvidia-smi`` count."""

MILLI, MICRO, NANO = 1e-3, 1e-6, 1e-9
"""Decimal fractions of a second."""

GIGA, TERA = 1e9, 1e12
"""Decimal multiples of FLOP/s and of bytes/s."""


def gigabytes(value_bytes: float) -> str:
    """Bytes in decimal gigabytes, to the precision a reader needs.

    >>> gigabytes(18_410_000_000), gigabytes(62_900_000), gigabytes(141e9)
    ('18.4 GB', '0.063 GB', '141 GB')
    """
    value = value_bytes / GB
    if abs(value) >= 100:
        return f"{value:.0f} GB"
    return f"{value:.1f} GB" if abs(value) >= 1 else f"{value:.3f} GB"
