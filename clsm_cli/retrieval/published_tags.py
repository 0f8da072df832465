"""Tags of texts for the CAIM preset: by words, then by meaning, the same way when stored and asked.

There a language model picks two or three tags of the ontology, for any text; here the words of a
text do, and where they are not enough the cosine to "tag: its synonyms".
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from clsm_cli.store import ontology as store_ontology
from clsm_cli.store.index.codes import SENTENCE_STEP
from clsm_cli.text.ontology import tags_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.preset_settings import Tags
    from clsm_cli.retrieval.published_library import Library
    from clsm_cli.retrieval.published_units import Unit


class Tagger:
    """Tags texts of one store."""

    def __init__(self, library: Library, settings: Tags) -> None:
        self._library = library
        self._settings = settings
        self._ontology, _ = store_ontology.load(library.index.store)
        self._of_units: dict[str, tuple[str, ...]] = {}

    @staticmethod
    @lru_cache(maxsize=1)
    def of(library: Library, settings: Tags) -> Tagger:
        """The tagger of a store, kept for its next question."""
        return Tagger(library, settings)

    def of_text(self, text: str) -> tuple[str, ...]:
        """The tags of a text, at most as many as the settings say."""
        near = [self._library.likeness(text, tag) for tag in self._texts]
        return self._filled(text, near)

    def of_unit(self, unit: Unit) -> tuple[str, ...]:
        """The tags of a stored text, by its stored vector."""
        if unit.id not in self._of_units:
            at = unit.vector
            near = [row[at] for row in self._stored if 0 <= at < len(row)]
            self._of_units[unit.id] = self._filled(unit.text, near)
        return self._of_units[unit.id]

    def _filled(self, text: str, near: Sequence[float]) -> tuple[str, ...]:
        """Tags by words, filled up with the nearest ones."""
        how = self._settings
        words = [tag.word for tag in self._ontology.tags]
        found = dict.fromkeys(tags_of(text, self._ontology))
        for cosine, word in sorted(zip(near, words, strict=False), key=lambda c: (-c[0], c[1])):
            if len(found) >= how.most or (len(found) >= how.fewest and cosine < how.least):
                break
            found[word] = None
        return tuple(found)[: how.most]

    @cached_property
    def _texts(self) -> list[str]:
        """What stands for each tag where meaning is compared."""
        return [f"{tag.word}: {', '.join(tag.synonyms)}" for tag in self._ontology.tags]

    @cached_property
    def _stored(self) -> list[memoryview[float]]:
        """For each tag the cosine of every stored sentence vector; empty without a model."""
        vectors = [self._library.encoded(text) for text in self._texts]
        stored = self._library.index.vectors.sentence_rows()
        known = [vector for vector in vectors if vector is not None]
        if stored is None or self._library.engine is None or not known:
            return []
        return self._library.engine.products(stored, len(known[0]), known, SENTENCE_STEP)
