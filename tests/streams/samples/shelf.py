# A small inventory, used as a sample of ordinary Python.

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Item", "Shelf", "OutOfStock", "read_items"]

DEFAULT_CAPACITY = 250
_SEPARATOR = ";"


class OutOfStock(LookupError):
    """Raised when an item is asked for that nobody has."""

    def __init__(self, sku: str, wanted: int, available: int = 0) -> None:
        super().__init__(f"{sku}: wanted {wanted}, only {available} left")
        self.sku = sku
        self.wanted = wanted


@dataclass(order=True)
class Item:
    sku: str
    price_cents: int = field(compare=False, default=0)
    tags: tuple[str, ...] = ()

    @property
    def price(self) -> float:
        return self.price_cents / 100

    def with_discount(self, percent: int) -> Item:
        """
        Return a copy that costs ``percent`` less.

        :param percent: between 0 and 100; anything else is a :class:`ValueError`.
        """
        if not 0 <= percent <= 100:
            raise ValueError("percent must be between 0 and 100")
        return Item(self.sku, self.price_cents * (100 - percent) // 100, self.tags)


class Shelf:
    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._stock: dict[str, int] = defaultdict(int)
        self._listeners: list[Callable[[str, int], None]] = []

    def __len__(self) -> int:
        return sum(self._stock.values())

    def __iter__(self) -> Iterator[tuple[str, int]]:
        yield from sorted(self._stock.items(), key=lambda pair: (-pair[1], pair[0]))

    def put(self, item: Item, count: int = 1) -> int:
        if len(self) + count > self._capacity:
            raise OverflowError("the shelf is full")
        self._stock[item.sku] += count
        for listener in self._listeners:
            listener(item.sku, self._stock[item.sku])
        return self._stock[item.sku]

    def take(self, sku: str, count: int = 1) -> None:
        available = self._stock.get(sku, 0)
        if available < count:
            raise OutOfStock(sku, count, available)
        self._stock[sku] = available - count
        if not self._stock[sku]:
            del self._stock[sku]


def read_items(path: str, limit: int | None = None) -> Iterable[Item]:
    with open(path, newline="", encoding="utf-8") as handle:
        reader = csv.DictReader(handle, delimiter=_SEPARATOR)
        for row in itertools.islice(reader, limit):
            try:
                cents = round(float(row["price"].replace(",", ".")) * 100)
            except (KeyError, ValueError):
                continue  # a line without a usable price
            yield Item(row["sku"].strip(), cents, tuple(row.get("tags", "").split("|")))


if __name__ == "__main__":
    shelf = Shelf(capacity=10)
    shelf.put(Item("A-100", 1250, ("red", "large")), 3)
    print(len(shelf), list(shelf))
