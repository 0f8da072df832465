"""Tags in a three-level ontology, matched by their words and synonyms.

The same function tags stored texts and questions, so both get the same tag.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import stems

MAX_TAGS = 3  # tags of a text, at most

_LEVELS = ("categories", "subcategories", "tags")


class Tag(NamedTuple):
    """A tag; its synonyms give the same tag."""

    word: str
    category: str
    subcategory: str
    synonyms: tuple[str, ...]


Ontology = tuple[Tag, ...]  # all tags, in the order of their file


class OntologyError(ValueError):
    """Invalid ontology; ``place``: category, subcategory, tag and synonym, as far as known."""

    def __init__(self, reason: str, place: tuple[str, ...]) -> None:
        super().__init__(f"{' › '.join(place)}: {reason}" if place else reason)
        self.place = place


def parse(mapping: object) -> Ontology:
    """The ontology of a mapping category → subcategory → tag → list of synonyms.

    Raises:
        OntologyError: The form is wrong, a word is not a single lower-case one or too common,
            or a word occurs twice.

    >>> parse({"leisure": {"pets": {"dog": ["puppy"]}}})
    (Tag(word='dog', category='leisure', subcategory='pets', synonyms=('puppy',)),)
    >>> parse({"leisure": {"dog": ["puppy"]}})
    Traceback (most recent call last):
    clsm_cli.text.tagging.OntologyError: leisure › dog: must hold tags, each with a list of words
    """
    tags: list[Tag] = []
    known: dict[str, tuple[str, ...]] = {}
    for category, level in _items(mapping, ()):
        for subcategory, words in _items(level, (category,)):
            for word, synonyms in _items(words, (category, subcategory)):
                place = (category, subcategory, word)
                _check_word(word, place, known)
                if not isinstance(synonyms, list):
                    raise OntologyError("must be a list of words, as [one, another]", place)
                for synonym in synonyms:
                    _check_word(synonym, (*place, str(synonym)), known)
                tags.append(Tag(word, category, subcategory, tuple(synonyms)))
    return tuple(tags)


def _items(value: object, place: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict):
        inner = ", each with a list of words" if len(place) == len(_LEVELS) - 1 else ""
        raise OntologyError(f"must hold {_LEVELS[len(place)]}{inner}", place)
    for key, inside in value.items():
        if not isinstance(key, str) or not key.strip():
            raise OntologyError(f"{key!r} is no name", place)
        yield key, inside


def _check_word(word: object, place: tuple[str, ...], known: dict[str, tuple[str, ...]]) -> None:
    if not isinstance(word, str) or not word.isalpha() or word != word.lower():
        raise OntologyError("is not a single word in lower case", place)
    if len(stems(word)) != 1:
        raise OntologyError("is too common a word", place)
    if word in known:
        raise OntologyError(f"stands twice, also in {' › '.join(known[word])}", place)
    known[word] = place


def tags_of(text: str, ontology: Ontology) -> tuple[str, ...]:
    """At most three tags that match a text, best first.

    A tag matches if the text has it or a synonym, in any inflection. More different words rank higher; ties
    go to the earlier match.

    >>> pets = parse({"leisure": {"pets": {"dog": ["puppy"], "walk": ["leash", "stroll"]}}})
    >>> tags_of("Our puppies strolled on one leash.", pets), tags_of("Nothing at all.", pets)
    (('walk', 'dog'), ())
    """
    tags = _tags_by_stem(ontology)
    hits = Counter(word for stem in dict.fromkeys(stems(text)) for word in tags.get(stem, ()))
    return tuple(word for word, _ in hits.most_common(MAX_TAGS))


@lru_cache(maxsize=4)
def _tags_by_stem(ontology: Ontology) -> dict[str, list[str]]:
    named = ((tag.word, stems(" ".join([tag.word, *tag.synonyms]))) for tag in ontology)
    return grouped((stem, word) for word, found in named for stem in dict.fromkeys(found))
