"""Answers whose order everybody knows: never to always, strongly disagree to strongly agree, also behind numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

MIN_LEVELS = 3
"""Answers from which on their order matters: two are as far apart in either order."""

# From the lowest to the highest. Words in one place mean the same step, and only one of them may occur in a column.
_SCALES = (
    "very low | low | rather low, fairly low | medium, moderate, average | rather high, fairly high | high | very high",
    "never | almost never, hardly ever | rarely, seldom | occasionally | sometimes | often, frequently"
    " | usually, mostly | very often | almost always, nearly always | always",
    "never | less than monthly, less than once a month | monthly, once a month | weekly, once a week"
    " | daily, every day",
    "strongly disagree, completely disagree, totally disagree | disagree | somewhat disagree, slightly disagree"
    " | neither agree nor disagree, neutral, undecided, neither | somewhat agree, slightly agree | agree"
    " | strongly agree, completely agree, totally agree",
    "strongly disagree | tend to disagree | neither agree nor disagree, neutral | tend to agree | strongly agree",
    "very dissatisfied, extremely dissatisfied | dissatisfied | somewhat dissatisfied, rather dissatisfied"
    " | neither satisfied nor dissatisfied, neutral | somewhat satisfied, rather satisfied | satisfied"
    " | very satisfied, extremely satisfied",
    "very unlikely, extremely unlikely | unlikely | somewhat unlikely | neither likely nor unlikely, neutral"
    " | somewhat likely | likely | very likely, extremely likely",
    "very unhappy | unhappy, not too happy | neutral | fairly happy, pretty happy | happy | very happy",
    "not at all important, unimportant | not very important, slightly important | somewhat important, neutral"
    " | fairly important, moderately important | important | very important | extremely important",
    "not at all | a little, a little bit, slightly | somewhat, moderately | quite a bit, quite a lot"
    " | very much, a lot, very | extremely, completely",
    "none, no | very mild | mild, slight | moderate, medium | severe, strong | very severe",
    "very bad, very poor | bad, poor | fair, average, acceptable | good | very good | excellent",
    "much worse | worse | somewhat worse, slightly worse | about the same, the same, same, unchanged"
    " | somewhat better, slightly better | better | much better",
    "xxs | xs | s | m | l | xl | xxl | xxxl",
    "fair | good | very good | premium | ideal",
    "tiny | small | medium | large, big | huge",
    "primary | secondary | tertiary",
    "bronze | silver | gold | platinum",
    # German
    "sehr niedrig, sehr gering | niedrig, gering | mittel | hoch | sehr hoch",
    "nie, niemals | fast nie | selten | gelegentlich | manchmal | oft, häufig | meistens | sehr oft, sehr häufig"
    " | fast immer | immer",
    "stimme überhaupt nicht zu, stimme gar nicht zu, stimme nicht zu | stimme eher nicht zu"
    " | teils teils, teils/teils, teils-teils, weder noch, neutral, unentschieden | stimme eher zu"
    " | stimme zu | stimme voll zu, stimme voll und ganz zu, stimme völlig zu",
    "trifft überhaupt nicht zu, trifft gar nicht zu, trifft nicht zu | trifft eher nicht zu"
    " | teils teils, teils/teils, teils-teils, neutral | trifft eher zu | trifft zu"
    " | trifft voll zu, trifft voll und ganz zu, trifft völlig zu",
    "sehr unzufrieden | unzufrieden | eher unzufrieden | neutral, teils/teils, weder noch | eher zufrieden | zufrieden"
    " | sehr zufrieden",
    "sehr schlecht | schlecht | mittel, mittelmäßig, mäßig | gut | sehr gut",
    "überhaupt nicht, gar nicht | wenig, ein wenig | etwas, mittel, mittelmäßig | ziemlich | sehr",
    "klein | mittel | groß",
    # French
    "très faible, très bas | faible, bas | moyen | élevé, haut, fort | très élevé, très haut, très fort",
    "jamais | presque jamais | rarement | parfois, quelquefois | souvent | très souvent | presque toujours | toujours",
    "pas du tout d'accord | pas d'accord, plutôt pas d'accord | ni d'accord ni pas d'accord, neutre | plutôt d'accord"
    " | d'accord | tout à fait d'accord",
    "très insatisfait | insatisfait | neutre | satisfait | très satisfait",
    "très mauvais | mauvais | moyen | bon | très bon | excellent",
    # Spanish
    "muy bajo | bajo | medio | alto | muy alto",
    "nunca | casi nunca | rara vez, raramente | a veces, algunas veces | a menudo, frecuentemente | casi siempre"
    " | siempre",
    "totalmente en desacuerdo, muy en desacuerdo | en desacuerdo | ni de acuerdo ni en desacuerdo, neutral"
    " | de acuerdo | totalmente de acuerdo, muy de acuerdo",
    "muy insatisfecho | insatisfecho | neutral | satisfecho | muy satisfecho",
    "muy malo | malo | regular | bueno | muy bueno | excelente",
)

_NUMBERED = re.compile(r"\(?(\d{1,2})\)?\s*[-–—=:.)]?\s*(.*)", re.DOTALL)


def known_order(levels: Sequence[str]) -> tuple[str, ...] | None:
    """Levels from the lowest to the highest, None if they are no scale that is known.

    Parameters
    ----------
    levels : sequence of str
        As they are written in a column. Numbers before the words are allowed, and so is a scale of which only some
        steps have words, such as "1 - not at all", "2", "3 - very much".

    Examples
    --------
    >>> from kfrc_app.tables.scales import known_order
    >>> known_order(["often", "Always", "never"])
    ('never', 'often', 'Always')
    >>> known_order(["5 (very good)", "2", "3", "4", "1 (very bad)"])
    ('1 (very bad)', '2', '3', '4', '5 (very good)')
    >>> known_order(["red", "green", "blue"]) is None
    True
    """
    if len(levels) < MIN_LEVELS:
        return None
    return _by_words(levels, levels) or _by_numbers(levels)


def _by_words(levels: Sequence[str], words: Sequence[str]) -> tuple[str, ...] | None:
    """Levels in the order of what their words say."""
    plain = [_plain(word) for word in words]
    for places in _PLACES:
        found = [places.get(word, -1) for word in plain]
        if min(found) >= 0 and len(set(found)) == len(found):
            return tuple(level for _, level in sorted(zip(found, levels, strict=True)))
    return None


def _by_numbers(levels: Sequence[str]) -> tuple[str, ...] | None:
    """Levels that begin with a number: those of a scale, not codes of things without order."""
    parts = [_NUMBERED.fullmatch(level.strip()) for level in levels]
    if any(part is None for part in parts):
        return None
    numbers = [int(part[1]) for part in parts if part is not None]
    words = [part[2] for part in parts if part is not None]
    if len(set(numbers)) < len(numbers):
        return None
    if all(words):
        return _by_words(levels, words)
    ends = {min(numbers), max(numbers)}
    some_without = all(word or number not in ends for number, word in zip(numbers, words, strict=True))
    complete = max(numbers) - min(numbers) == len(numbers) - 1
    return tuple(level for _, level in sorted(zip(numbers, levels, strict=True))) if some_without and complete else None


def _plain(word: str) -> str:
    """A word without capitals, brackets, and doubled spaces; with one kind of apostrophe."""
    return " ".join(word.strip(" ()[].\t").casefold().replace("’", "'").split())


_PLACES = tuple(
    {_plain(word): place for place, words in enumerate(scale.split(" | ")) for word in words.split(", ")}
    for scale in _SCALES
)
