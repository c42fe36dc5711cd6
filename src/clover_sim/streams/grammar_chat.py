"""English prose: paragraphs of sentences from templates, with drawn words and now and then an invented name."""

from __future__ import annotations

from clover_sim.streams.grammar_draws import Draw, invented, often, pick, whole

_NOUNS = """plan answer question idea team city house garden river road story letter problem reason market school
meeting report price table window machine engine teacher doctor train bridge village forest island harbour kitchen
recipe winter summer morning evening week neighbour customer manager budget contract project deadline method result
example pattern signal theory experiment climate battery sensor library museum orchestra painting novel chapter poem
journey ticket suitcase luggage border language accent dialect habit routine exercise breakfast dinner vegetable
cheese bakery orchard cottage cellar attic lantern compass telescope microscope glacier volcano canyon meadow swamp
reef lighthouse cathedral monastery quarry workshop carpenter plumber tailor violinist sculptor librarian geologist
botanist apprentice"""
_PLURALS = """people children students workers friends birds trees cars houses letters numbers mistakes details choices
tools books songs stories rules costs taxes wages hours days weeks visitors tourists farmers sailors engineers nurses
citizens neighbours cousins strangers merchants beetles sparrows salmon wolves mushrooms orchids pebbles lanterns"""
_ADJECTIVES = """good new small large old long short clear simple quiet early late cheap useful strange heavy bright
careful honest patient local common modern difficult serious gentle narrow crowded distant reliable stubborn fragile
ancient damp rusty elegant clumsy generous reluctant peculiar abundant mediocre tedious lucrative obsolete
picturesque"""
_VERBS = """needs explains changes shows keeps follows opens makes takes brings finds reaches leaves supports improves
describes requires protects connects replaces reflects surprises delays attracts repairs measures compares predicts
interrupts undermines illuminates exaggerates postpones accumulates abandons"""
_PAST = """found kept left built sold brought opened followed changed described visited repaired measured noticed
forgot carried painted translated borrowed planted postponed rescued inherited rehearsed catalogued"""
_BASE = """compare check explain write plan repair measure visit replace describe improve follow organise translate
simplify rehearse dismantle postpone negotiate"""
_ADVERBS = """usually often rarely quickly slowly already finally carefully almost quietly simply clearly reluctantly
gradually occasionally deliberately abruptly meanwhile"""
_OPENERS = """In my view,|As far as I know,|On the other hand,|For example,|Still,|Of course,|Most of the time,
|At first,|In the end,|To be fair,|By contrast,|Even so,|In practice,|Sooner or later,"""
_PLACES = """near the station|in the north|by the sea|across the border|behind the church|on the hill|at the office
|in the old town|along the canal|under the bridge|beyond the forest|in a nearby valley"""
_REPLIES = """Sure, here is a short answer.|Good question.|Yes, that works.|Let me explain.|That depends.|Thanks for the
details.|Happy to help.|I would not worry too much."""
_QUESTIONS = """How would you {base} the {noun}?|Can you tell me why the {noun} {verb} the {other}?
|What is the best way to {base} {adjective} {plural}?|Should I {base} the {noun} first, or wait for {name}?
|Could you {base} this {noun} in two or three sentences?"""
_TEMPLATES = """The {adjective} {noun} {verb} the {other}, and {plural} {adverb} notice it.
|{opener} a {adjective} {noun} {verb} more than a {noun2}.
|{name} {past} the {noun} {place} and {adverb} {past2} it again.
|If you {base} the {noun} {place}, the {other} becomes {adjective}.
|There are {number} {plural} {place}, but only {small} of them are {adjective}.
|{opener} it is better to {base} the {noun} before the {other} {verb} the {noun2}.
|{name} said that the {other} was too {adjective} for {plural}.
|Nobody {past} the {noun}, because the {noun2} was {adjective} and the {other} was not.
|You could also {base} a {noun}; it {adverb} {verb} the {other}.
|The {noun} of {name} costs about {number} euros, which is {adjective} for a {other}.
|"I {past} it in {year}," {name} said, "when the {noun} was still {adjective}."
|When the {adjective} {plural} came back, the {noun} {place} had changed.
|That is why {plural} {adverb} {base} their {noun} and not the {other}.
|Between {year} and {year2}, the {noun} grew by {number} percent."""


def _phrases(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("|")]


_WORDS = {
    "noun": _NOUNS.split(), "plural": _PLURALS.split(), "adjective": _ADJECTIVES.split(), "verb": _VERBS.split(),
    "past": _PAST.split(), "base": _BASE.split(), "adverb": _ADVERBS.split(), "opener": _phrases(_OPENERS),
    "place": _phrases(_PLACES),
}  # fmt: skip
_WORDS.update(other=_WORDS["noun"], noun2=_WORDS["noun"], past2=_WORDS["past"])


def _compile(template: str) -> tuple[tuple[str, str], ...]:
    """Cut a template into (text before, name of the slot) pairs."""
    pieces = []
    for part in template.split("{"):
        slot, closed, rest = part.partition("}")
        pieces.append((slot, rest) if closed else ("", part))
    return tuple(pieces)


_SENTENCES = [_compile(template) for template in _phrases(_TEMPLATES)]
_ASKED = [_compile(template) for template in _phrases(_QUESTIONS)]
_ANSWERED = _phrases(_REPLIES)


def _word(draw: Draw, slot: str) -> str:
    words = _WORDS.get(slot)
    if words is not None:
        return often(draw, words)
    if slot == "name":
        return invented(draw)
    if slot == "number":
        return str(whole(draw, 3, 480))
    if slot == "small":
        return pick(draw, ("two", "three", "a few", "some", "half"))
    return str(whole(draw, 1850, 2025))


def _sentence(draw: Draw, template: tuple[tuple[str, str], ...]) -> str:
    text = "".join([(_word(draw, slot) if slot else "") + rest for slot, rest in template])
    text = text[0].upper() + text[1:]
    for vowel in "aeio":  # "an hour" and "a unit" are not among the words
        text = text.replace(f" a {vowel}", f" an {vowel}").replace(f"A {vowel}", f"An {vowel}")
    return text


def record(draw: Draw, index: int) -> str:
    """A question and its answer, or a paragraph; then an empty line."""
    if draw() < 0.3:
        answer = " ".join([_sentence(draw, pick(draw, _SENTENCES)) for _ in range(whole(draw, 1, 3))])
        return f"User: {_sentence(draw, pick(draw, _ASKED))}\n\nAssistant: {pick(draw, _ANSWERED)} {answer}\n\n"
    return " ".join([_sentence(draw, pick(draw, _SENTENCES)) for _ in range(whole(draw, 2, 6))]) + "\n\n"
