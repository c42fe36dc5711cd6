"""Worked arithmetic; every number that is said to be equal is."""

from __future__ import annotations

from clover_sim.streams.grammar_draws import Draw, often, pick, whole, words

_NAMES = words("Anna Ben Carla David Emma Farid Grace Hugo Ines Jack Kim Liam Maya Noah Olga Paul Rosa Sam Tara Wei")
_THINGS = words("apples books pencils stamps tickets marbles cookies stickers cards shells coins bottles flowers eggs")
_BOXES = words("boxes bags baskets crates shelves rows packs jars")


def _purchase(draw: Draw) -> str:
    name, thing = pick(draw, _NAMES), pick(draw, _THINGS)
    count, price = whole(draw, 3, 48), whole(draw, 2, 25)
    total = count * price
    paid = (total // 100 + 1) * 100
    return (
        f"Problem: {name} buys {count} {thing} at ${price} each and pays with ${paid}. How much change is left?\n"
        f"Step 1: The {thing} cost {count} * {price} = {total} dollars.\n"
        f"Step 2: The change is {paid} - {total} = {paid - total} dollars.\n"
        f"Answer: {paid - total}\n\n"
    )


def _packing(draw: Draw) -> str:
    name, thing, box = pick(draw, _NAMES), pick(draw, _THINGS), pick(draw, _BOXES)
    size, full = whole(draw, 4, 36), whole(draw, 5, 90)
    rest = whole(draw, 0, size - 1)
    total = size * full + rest
    ending = f"and {rest} {thing} remain" if rest else "and nothing remains"
    return (
        f"Problem: {name} packs {total} {thing} into {box} of {size}. How many {box} are full, and what remains?\n"
        f"Step 1: Divide: {total} // {size} = {full}, because {full} * {size} = {full * size}.\n"
        f"Step 2: Subtract: {total} - {full * size} = {rest}.\n"
        f"Answer: {full} {box} are full {ending}.\n\n"
    )


def _chain(draw: Draw) -> str:
    value = whole(draw, 10, 400)
    lines = [f"Start with {value}."]
    for step in range(1, whole(draw, 4, 7)):
        kind, other = int(draw() * 4), whole(draw, 2, 60)
        if kind == 0 or (kind == 1 and other > value):
            result, sign, verb = value + other, "+", "Add"
        elif kind == 1:
            result, sign, verb = value - other, "-", "Subtract"
        elif kind == 2 and value < 5000:
            other = whole(draw, 2, 9)
            result, sign, verb = value * other, "*", "Multiply by"
        else:
            divisors = [d for d in range(2, 13) if value % d == 0] or [1]
            other = pick(draw, divisors)
            result, sign, verb = value // other, "/", "Divide by"
        lines.append(f"Step {step}: {verb} {other}: {value} {sign} {other} = {result}.")
        value = result
    return "\n".join(lines) + f"\nThe result is {value}.\n\n"


def _mean(draw: Draw) -> str:
    size = whole(draw, 3, 6)
    mean = whole(draw, 20, 95)
    spread = mean // size  # so that the last value stays above zero
    values = [mean + whole(draw, -spread, spread) for _ in range(size - 1)]
    values.append(mean * size - sum(values))
    joined = " + ".join(map(str, values))
    return (
        f"Problem: What is the mean of {', '.join(map(str, values))}?\n"
        f"Step 1: Add them: {joined} = {sum(values)}.\n"
        f"Step 2: There are {size} numbers, so the mean is {sum(values)} / {size} = {mean}.\n"
        f"Answer: {mean}\n\n"
    )


def _percent(draw: Draw) -> str:
    name, thing = pick(draw, _NAMES), pick(draw, _THINGS)
    percent, hundreds = pick(draw, (5, 10, 12, 15, 20, 25, 30, 40, 60, 75)), whole(draw, 1, 40)
    base = hundreds * 100
    part = percent * hundreds
    word, result = ("more", base + part) if draw() < 0.5 else ("fewer", base - part)
    sign = "+" if word == "more" else "-"
    return (
        f"Problem: Last year {name} sold {base} {thing}. This year it was {percent}% {word}. How many were sold?\n"
        f"Step 1: {percent}% of {base} is {base} * {percent} / 100 = {part}.\n"
        f"Step 2: {base} {sign} {part} = {result}.\n"
        f"Answer: {result}\n\n"
    )


def _equation(draw: Draw) -> str:
    x, a, b = whole(draw, -15, 30), whole(draw, 2, 12), whole(draw, 1, 60)
    right = a * x + b
    return (
        f"Solve {a}x + {b} = {right}.\n"
        f"Subtract {b} from both sides: {a}x = {right} - {b} = {right - b}.\n"
        f"Divide by {a}: x = {right - b} / {a} = {x}.\n"
        f"Check: {a} * {f'({x})' if x < 0 else x} + {b} = {a * x} + {b} = {right}.\n\n"
    )


def _fraction(draw: Draw) -> str:
    from math import gcd

    a, b, c, d = whole(draw, 1, 9), whole(draw, 2, 12), whole(draw, 1, 9), whole(draw, 2, 12)
    left, right, under = a * d, c * b, b * d
    top = left + right
    common = gcd(top, under)
    reduced = f" Both are divisible by {common}, which gives {top // common}/{under // common}." if common > 1 else ""
    return (
        f"Compute {a}/{b} + {c}/{d}.\n"
        f"With {b} * {d} = {under} below, this is {left}/{under} + {right}/{under} = {top}/{under}.{reduced}\n\n"
    )


def _area(draw: Draw) -> str:
    width, height, tile = whole(draw, 3, 40), whole(draw, 3, 40), whole(draw, 2, 9)
    area = width * height
    return (
        f"Problem: A floor measures {width} m by {height} m, and a square metre costs ${tile}. What is the cost?\n"
        f"Step 1: The area is {width} * {height} = {area} square metres.\n"
        f"Step 2: The cost is {area} * {tile} = {area * tile} dollars.\n"
        f"Answer: {area * tile}\n\n"
    )


_KINDS = (_purchase, _chain, _equation, _packing, _mean, _percent, _fraction, _area)


def record(draw: Draw, index: int) -> str:
    """One worked problem and an empty line."""
    return often(draw, _KINDS)(draw)
