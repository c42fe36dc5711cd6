"""Python functions and small classes that compile; made of common shapes with drawn names and numbers."""

from __future__ import annotations

from clover_sim.streams.grammar_draws import Draw, invented, often, pick, whole, words

_VERBS = """get load parse build update find count merge filter compute collect validate format resolve sort group apply
remove split write read convert check normalize register schedule encode decode render flatten sample rotate"""
_NOUNS = """item user record node entry event token path line row order message config field batch score task
price chunk label session request header weight frame widget tensor bucket ticket segment edge layer account"""
_ADJECTIVES = words(
    "active valid pending cached remote default visible sorted unique stale partial nested hidden recent"
)
_TYPES = words("int str float bool list[int] list[str] dict[str,·int] tuple[int,·...]")
_ATTRIBUTES = words("name size amount count status height parent children total created limit kind")
_ERRORS = words("ValueError KeyError TypeError RuntimeError IndexError LookupError")
_MODULES = words("json math os re sys time random itertools functools collections")
_VERB_LIST, _NOUN_LIST = _VERBS.split(), _NOUNS.split()


class _Names:
    """The names of one record: a function, its data, and what is taken from it."""

    def __init__(self, draw: Draw) -> None:
        self.verb = often(draw, _VERB_LIST)
        first = int(draw() ** 2 * len(_NOUN_LIST))
        self.noun = _NOUN_LIST[first]
        self.other = _NOUN_LIST[(first + whole(draw, 1, len(_NOUN_LIST) - 1)) % len(_NOUN_LIST)]
        self.many = (
            self.noun[:-1] + "ies" if self.noun[-1] == "y" else self.noun + ("es" if self.noun[-1] == "h" else "s")
        )
        # A name of the project at hand, which no list of frequent words has.
        self.own = invented(draw).lower() if draw() < 0.35 else pick(draw, _ADJECTIVES)
        self.function = f"{self.verb}_{self.own}_{self.many}" if draw() < 0.6 else f"{self.verb}_{self.many}"
        self.attribute = pick(draw, _ATTRIBUTES)
        self.limit = whole(draw, 2, 500)
        self.kind = pick(draw, _TYPES).replace("·", " ")


def _document(draw: Draw, n: _Names) -> str:
    if draw() < 0.45:
        return ""
    extra = pick(draw, ("", f" The limit is {n.limit}.", f" Raises {pick(draw, _ERRORS)}.", f" See {n.other}_{n.own}."))
    return f'    """{n.verb.capitalize()} every {n.own} {n.noun} of the {n.other}.{extra}"""\n'


def _loop(draw: Draw, n: _Names) -> str:
    sign = pick(draw, ("<", ">", "<=", ">=", "!="))
    return (
        f"def {n.function}({n.many}, limit={n.limit}):\n{_document(draw, n)}"
        f"    result = []\n"
        f"    for {n.noun} in {n.many}:\n"
        f"        if {n.noun}.{n.attribute} {sign} limit:\n"
        f"            continue\n"
        f"        result.append({n.noun}.{pick(draw, _ATTRIBUTES)})\n"
        f"    return result\n"
    )


def _comprehension(draw: Draw, n: _Names) -> str:
    condition = pick(
        draw, (f" if {n.noun}", f" if {n.noun}.{n.attribute} is not None", f" if len({n.noun}) > {n.limit}", "")
    )
    return (
        f"def {n.function}({n.many}: {n.kind}) -> {pick(draw, _TYPES).replace('·', ' ')}:\n{_document(draw, n)}"
        f"    return {pick(draw, ('sorted', 'list', 'tuple', 'set'))}({n.noun} for {n.noun} in {n.many}{condition})\n"
    )


def _guarded(draw: Draw, n: _Names) -> str:
    error = pick(draw, _ERRORS)
    return (
        f'def {n.function}(path, encoding="utf-8"):\n{_document(draw, n)}'
        f"    try:\n"
        f"        with open(path, encoding=encoding) as handle:\n"
        f"            {n.many} = {pick(draw, ('handle.read().splitlines()', 'json.load(handle)', 'list(handle)'))}\n"
        f"    except {error} as error:\n"
        f'        raise {pick(draw, _ERRORS)}(f"cannot {n.verb} {n.own} {n.noun}: {{error}}") from error\n'
        f"    return {n.many}[:{n.limit}]\n"
    )


def _tally(draw: Draw, n: _Names) -> str:
    return (
        f"def {n.function}({n.many}, {n.other}=None):\n{_document(draw, n)}"
        f"    totals = {{}}\n"
        f"    for index, {n.noun} in enumerate({n.many}):\n"
        f'        key = {n.noun}["{n.attribute}"]\n'
        f"        totals[key] = totals.get(key, {whole(draw, 0, 9)}) + {n.noun}[{n.other!r}] * {whole(draw, 2, 99)}\n"
        f"    if {n.other} is None:\n"
        f"        return totals\n"
        f"    return totals[{n.other}], index\n"
    )


def _numbers(draw: Draw, n: _Names) -> str:
    a, b = whole(draw, 1, 20), whole(draw, 21, 4096)
    step = pick(draw, ("+=", "-=", "*=", "//="))
    return (
        f"def {n.function}(start={a}, stop={b}):\n{_document(draw, n)}"
        f"    {n.own}_total = {whole(draw, 0, 9)}.{whole(draw, 0, 99)}\n"
        f"    while start < stop and {n.own}_total < {n.limit}:\n"
        f"        {n.own}_total {step} start % {whole(draw, 2, 31)}\n"
        f"        start += {whole(draw, 1, 7)}\n"
        f"    return round({n.own}_total / {whole(draw, 2, 64)}, {whole(draw, 1, 6)})\n"
    )


def _class(draw: Draw, n: _Names) -> str:
    title = n.own.capitalize() + n.noun.capitalize()
    return (
        f"class {title}:\n{_document(draw, n)}"
        f"    def __init__(self, {n.attribute}, {n.other}={n.limit}):\n"
        f"        self.{n.attribute} = {n.attribute}\n"
        f"        self.{n.other} = {n.other}\n"
        f"\n"
        f"    def {n.verb}(self, {n.noun}):\n"
        f"        if not isinstance({n.noun}, {title}):\n"
        f'            raise TypeError("expected {title}, got " + type({n.noun}).__name__)\n'
        f"        return self.{n.other} {pick(draw, ('+', '-', '*', '==', '<'))} {n.noun}.{n.other}\n"
    )


def _dispatch(draw: Draw, n: _Names) -> str:
    words = [pick(draw, _ADJECTIVES), pick(draw, _NOUN_LIST), n.own]
    branches = "".join(
        f'    {"if" if i == 0 else "elif"} {n.noun} == "{word}":\n'
        f"        return {n.verb}_{word}({n.limit + i}, {n.other})\n"
        for i, word in enumerate(words)
    )
    return f"def {n.function}({n.noun}, {n.other}):\n{_document(draw, n)}{branches}    return None\n"


def _imports(draw: Draw, n: _Names) -> str:
    first, second = pick(draw, _MODULES), pick(draw, _MODULES)
    return (
        f"import {first}\nfrom {second} import *\nfrom {n.own}.{n.other} import {n.own}_{n.noun}\n\n"
        f"{n.many.upper()} = {{{', '.join(f'{pick(draw, _NOUN_LIST)!r}: {whole(draw, 0, 999)}' for _ in range(4))}}}\n"
    )


_KINDS = (_loop, _comprehension, _tally, _guarded, _class, _numbers, _dispatch, _imports)


def record(draw: Draw, index: int) -> str:
    """One function, class or block of constants, and two empty lines."""
    return often(draw, _KINDS)(draw, _Names(draw)) + "\n\n"
