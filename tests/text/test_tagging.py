import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NASTY, examples

from clsm_cli.store.ontology import shipped
from clsm_cli.text.tagging import OntologyError, parse, tags_of
from clsm_cli.text.tokens import stems

SMALL = parse(
    {
        "leisure": {
            "pets": {"dog": ["puppy", "leash"], "cat": ["kitten"]},
            "food": {"meal": ["dinner", "lunch"], "drinks": ["coffee", "tea"]},
        },
        "project": {"quality": {"testing": ["pytest", "coverage"]}},
    }
)


def test_three_levels_are_read_in_order() -> None:
    assert [(t.category, t.subcategory, t.word) for t in SMALL] == [
        ("leisure", "pets", "dog"),
        ("leisure", "pets", "cat"),
        ("leisure", "food", "meal"),
        ("leisure", "food", "drinks"),
        ("project", "quality", "testing"),
    ]
    assert SMALL[0].synonyms == ("puppy", "leash")
    assert parse({}) == ()


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        (None, "must hold categories"),
        ([], "must hold categories"),
        ({"a": None}, "a: must hold subcategories"),
        ({"a": {"b": ["dog"]}}, "a › b: must hold tags, each with a list of words"),
        ({"a": {"b": {"dog": "puppy"}}}, "a › b › dog: must be a list of words, as [one, another]"),
        ({"a": {"b": {"dog": {"c": []}}}}, "a › b › dog: must be a list of words"),
        ({"a": {"b": {"dog": ["hot dog"]}}}, "a › b › dog › hot dog: is not a single word"),
        ({"a": {"b": {"Dog": []}}}, "a › b › Dog: is not a single word in lower case"),
        ({"a": {"b": {"dog": [7]}}}, "a › b › dog › 7: is not a single word"),
        ({"a": {"b": {"dog": ["the"]}}}, "a › b › dog › the: is too common a word"),
        ({"a": {"b": {"dog": ["dog"]}}}, "a › b › dog › dog: stands twice, also in a › b › dog"),
        ({"a": {"b": {"dog": []}}, "c": {"d": {"cat": ["dog"]}}}, "twice, also in a › b › dog"),
        ({"a": {"": {}}}, "a: '' is no name"),
        ({7: {}}, "7 is no name"),
    ],
)
def test_what_is_wrong_is_said(mapping: object, reason: str) -> None:
    with pytest.raises(OntologyError) as caught:
        parse(mapping)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("We walked two dogs.", ("dog",)),
        ("Puppies and kittens!", ("dog", "cat")),
        ("Kittens and puppies!", ("cat", "dog")),
        ("A kitten bit the puppy's leash.", ("dog", "cat")),
        ("Dog, dog, dog, tea and coffee.", ("drinks", "dog")),
        ("A dog, a cat, lunch, tea, tests.", ("dog", "cat", "meal")),
        ("`pytest` says so.", ("testing",)),
        ("A dogma about catalogues.", ()),
        ("", ()),
    ],
)
def test_more_words_win_then_earlier_ones(text: str, tags: tuple[str, ...]) -> None:
    assert tags_of(text, SMALL) == tags


@examples(200)
@given(st.one_of(st.sampled_from(NASTY), st.text(max_size=200)))
def test_any_text_has_at_most_three_tags_of_the_ontology(text: str) -> None:
    found = tags_of(text, shipped())
    assert len(set(found)) == len(found) <= 3
    assert {*found} <= {tag.word for tag in shipped()}
    assert found == tags_of(text, shipped())


def test_the_shipped_ontology_leads_each_word_to_one_tag() -> None:
    tags = shipped()
    assert len(tags) >= 120
    owner: dict[str, str] = {}
    for tag in tags:
        assert 3 <= len(tag.synonyms) <= 12, tag.word
        for word in (tag.word, *tag.synonyms):
            [stem] = stems(word)
            assert owner.setdefault(stem, word) == word, f"{word} of {tag.word}"
    assert len({tag.category for tag in tags}) == 9


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("My grandmother turned ninety.", "parents"),
        ("She broke her wrist and the doctor sent her to the hospital.", "medicine"),
        ("We baked bread after a new recipe.", "cooking"),
        ("The endpoint returns a payload over HTTP.", "api"),
        ("He was promoted, and his salary went up.", "income"),
        ("The rollback of the deployment took an hour.", "deployment"),
        ("We decided to keep it.", "decision"),
        ("It rained all day.", "weather"),
        ("They play soccer on Sundays.", "sport"),
        ("The test fails with a traceback.", "bug"),
    ],
)
def test_the_shipped_ontology_knows_everyday_things(text: str, tag: str) -> None:
    assert tag in tags_of(text, shipped())


def test_everyday_words_with_the_stem_of_another_bring_no_tag() -> None:
    text = """Of course, that is important to me. It went well, and it fits. What an experience!
        A beautiful person, busy and polite. I set it apart and accept it."""
    assert tags_of(text, shipped()) == ()
