from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.text.relations import Named, Relation, relations

PEOPLE = ["ann", "rosa", "tom"]
KINDS = {"ghent": "place", "beacon": "project"}


def found(text: str, *labels: str, speaker: str | None = "ann") -> list[tuple[str, str, str]]:
    """Relations of a text in which the given labels, and the people, are named."""
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, [*labels, "Rosa", "Tom"])) + r")\b")
    named = [
        Named(each.start(), each.end(), each.group().lower(), KINDS.get(each.group().lower(), ""))
        for each in pattern.finditer(text)
    ]
    return [each[:3] for each in relations(text, named, speaker=speaker, people=PEOPLE)]


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("I went camping last week.", "camping", ("ann", "did", "camping")),
        ("Rosa and I love pottery!", "pottery", ("ann", "likes", "pottery")),
        ("Rosa tried a pottery class.", "pottery class", ("rosa", "did", "pottery class")),
        ("I've always been a big fan of opera.", "opera", ("ann", "likes", "opera")),
        ("Tom really hates opera.", "opera", ("tom", "dislikes", "opera")),
        ("Tom prefers tea to coffee.", "tea", ("tom", "prefers", "tea")),
        ("I'm so proud of Tom.", "Tom", ("ann", "emotional", "tom")),
        ("I'm reading *The Long Winter*.", "The Long Winter", ("ann", "reading", "the long winter")),
        ("*The Long Winter* by Rosa is good.", "The Long Winter", ("rosa", "wrote", "the long winter")),
        ("Rosa's novel *The Long Winter* is good.", "The Long Winter", ("rosa", "wrote", "the long winter")),
        ("I joined a chess club.", "chess club", ("ann", "participated_in", "chess club")),
        ("We went to a parade on Friday.", "parade", ("ann", "participated_in", "parade")),
        ("Rosa visited Ghent and came back.", "Ghent", ("rosa", "visited", "ghent")),
        ("Last year I took a short trip to Ghent.", "Ghent", ("ann", "visited", "ghent")),
        ("Tom, who lives in Ghent, called.", "Ghent", ("tom", "located_at", "ghent")),
        ("The barge is moored at the quay.", "quay", None),
        ("I adopted two kittens.", "kittens", ("ann", "owns", "kittens")),
        ("I have a dog.", "dog", ("ann", "owns", "dog")),
        ("My dog Bello sleeps.", "Bello", ("ann", "owns", "bello")),
        ("My sister Rosa called.", "Rosa", ("ann", "personal", "rosa")),
        ("Rosa is Tom's colleague.", "Tom", ("rosa", "personal", "tom")),
        ("- **Rosa**: Tom's niece, ten.", "Tom", ("rosa", "personal", "tom")),
        ("- **Rosa**: baker, 71, owns the yellow shed.", "yellow shed", ("rosa", "owns", "yellow shed")),
        ("Rosa and Tom are old friends.", "Tom", ("rosa", "personal", "tom")),
        ("I work at Hooli.", "Hooli", ("ann", "works_at", "hooli")),
        ("I'm working on Beacon.", "Beacon", ("ann", "works_on", "beacon")),
        ("Tom leads Beacon.", "Beacon", ("tom", "project", "beacon")),
        ("I finally bought a kayak and named it.", "kayak", ("ann", "owns", "kayak")),
        ("I went home and painted a mural.", "mural", ("ann", "did", "mural")),
        ("I have been hiking in the hills.", "hiking", ("ann", "did", "hiking")),
        ("I like rain. Went kayaking on Sunday.", "kayaking", ("ann", "did", "kayaking")),
        ("The parade I went to last week was loud.", "parade", ("ann", "participated_in", "parade")),
        ("I packed a bag and went kayaking.", "kayaking", ("ann", "did", "kayaking")),
        ("Rosa, Tom and I went to Ghent.", "Ghent", ("rosa", "visited", "ghent")),
        ("Rosa, Tom's brother, lives in Ghent.", "Ghent", ("rosa", "located_at", "ghent")),
        ("Opera is one of my favorites.", "Opera", ("ann", "prefers", "opera")),
        ("My favourite hobby is pottery.", "pottery", ("ann", "prefers", "pottery")),
        ("Pottery has been my passion.", "Pottery", ("ann", "likes", "pottery")),
        ("I switched from npm to pnpm.", "pnpm", ("ann", "uses", "pnpm")),
        ("Rosa is the author of Beacon.", "Beacon", ("rosa", "wrote", "beacon")),
        ("Rosa's best friend is Tom.", "Tom", ("rosa", "personal", "tom")),
        ("Tom sees Rosa. I met Rosa.", "Rosa", ("ann", "knows", "rosa")),
        ("I went to a pottery workshop.", "pottery", ("ann", "participated_in", "pottery")),
    ],
)  # fmt: skip
def test_what_persons_do(text: str, label: str, expected: tuple[str, str, str] | None) -> None:
    relations_found = found(text, label)
    assert relations_found == [] if expected is None else expected in relations_found


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("The flood caused the outage.", ["flood", "outage"], ("flood", "caused", "outage")),
        ("The outage was caused by the flood.", ["flood", "outage"], ("flood", "caused", "outage")),
        ("The valve is part of the pump.", ["valve", "pump"], ("valve", "part_of", "pump")),
        ("Beacon replaced Ember.", ["Beacon", "Ember"], ("beacon", "replaces", "ember")),
        ("Beacon, the successor of Ember, is live.", ["Beacon", "Ember"], ("beacon", "replaces", "ember")),
        ("Beacon uses SQLite.", ["Beacon", "SQLite"], ("beacon", "uses", "sqlite")),
        ("The siphon broke. The leak was because of the siphon.", ["leak", "siphon"], ("siphon", "caused", "leak")),
        ("The chess club met at Blue Café.", ["chess club", "Blue Café"], ("chess club", "located_at", "blue café")),
        ("- **Hysteresis** ([[Rosa]]): a lag.", ["Hysteresis"], ("hysteresis", "semantic", "rosa")),
        ("A siphon is a kind of pump.", ["siphon", "pump"], ("siphon", "semantic", "pump")),
        ("The quay wall, also known as bulwark, fell.", ["quay wall", "bulwark"], ("quay wall", "semantic", "bulwark")),
    ],
)  # fmt: skip
def test_things(text: str, labels: list[str], expected: tuple[str, str, str]) -> None:
    assert found(text, *labels) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "I do not like opera.",
        "Rosa never went to the opera.",
        "Do you like opera?",
        "I'd love to try opera.",
        "I want to visit the opera.",
        "If I had a dog, I would sing opera.",
        "I will visit the opera.",
        "You like opera.",
        "She likes opera.",
        "Tom claims that Rosa hates opera.",
        "The brother of Rosa likes opera.",
        'He said: "I love opera."',
        "> I love opera.",
        "- [ ] I visited the opera",
        "I like how Rosa sings opera.",
        "I almost bought the opera.",
        "I love your opera!",
        "# Rosa likes opera",
        "We're going to the opera.",
        "I am happy to sing and do opera.",
        "Neither Rosa nor Tom likes opera.",
        "Rosa has stopped singing opera.",
        "I used to like opera.",
        "I'm proud of studying opera.",
        "I love the thought of a day without opera.",
        "I like watching our neighbours play opera.",
    ],
)
def test_what_is_not_so(text: str) -> None:
    assert found(text, "opera") == []


def test_inflected_verbs_and_adverbs_are_no_things() -> None:
    assert found("I watched opera recently.", "watched", "recently", "opera") == [
        ("ann", "did", "opera")
    ]


def test_words_of_a_title_are_not_its_objects() -> None:
    assert found('I finished "A Dance of Dragons" today.', "Dance") == []
    assert found('I finished "Dragons" today.', "Dragons") == [("ann", "reading", "dragons")]


def test_lists_of_objects() -> None:
    assert found("I love tea, rain and opera.", "tea", "rain", "opera") == [
        ("ann", "likes", "tea"),
        ("ann", "likes", "rain"),
        ("ann", "likes", "opera"),
    ]


def test_without_a_speaker_only_names_are_subjects() -> None:
    assert found("I love tea. Rosa loves tea.", "tea", speaker=None) == [("rosa", "likes", "tea")]


def test_the_sentence_is_told_and_repeats_count_once() -> None:
    text = "It rains. I love tea. I love tea!"
    named = [Named(17, 20, "tea"), Named(29, 32, "tea")]
    assert relations(text, named, speaker="ann") == [
        Relation("ann", "likes", "tea", directed=True, start=10, end=21)
    ]


def test_the_longest_of_overlapping_mentions_counts() -> None:
    text = "I love mint tea."
    named = [Named(7, 11, "mint"), Named(7, 15, "mint tea"), Named(12, 15, "tea")]
    assert [each.target for each in relations(text, named, speaker="ann")] == ["mint tea"]


_WORDS = ["I", "Rosa", "Tom", "likes", "went", "to", "and", ",", "tea", "'s", "sister", "is", "who", "not", ".", ":"]  # fmt: skip


@given(st.lists(st.sampled_from(_WORDS), max_size=25).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_ends_are_named_and_differ(text: str) -> None:
    for source, _, target in found(text, "tea"):
        assert source != target
        assert {source, target} <= {"ann", "rosa", "tom", "tea"}
