import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from clsm_cli.consolidation.entity_resolution import Entity, near_pairs, resolve_entities
from clsm_cli.store.index.evidence_queries import Name
from clsm_cli.text.node_ids import node_id


def _seen(label: str, kind: str, *places: str) -> list[Name]:
    """Sightings in places such as "e1/s2/t3": episode, section, turn."""
    found = []
    for place in places:
        episode, section, turn = place.split("/")
        found.append(Name(label, kind, episode, f"{episode}/{section}", place + turn))
    return found


TWO = ("e1/s1/t1", "e2/s1/t1")
THREE = (*TWO, "e3/s1/t1")


def _labels(entries: list[Entity]) -> list[str]:
    return [entry.label for entry in entries]


def _named(entries: list[Entity], label: str) -> Entity:
    [entry] = [entry for entry in entries if entry.label == label]
    return entry


@pytest.mark.parametrize(("enough", "kind", "label", "places"), table(__file__, "enough"))
def test_how_often_a_name_must_stand(enough: str, kind: str, label: str, places: str) -> None:
    entries = resolve_entities(_seen(label, kind, *places.split()), ())
    expected = [(node_id(label), label)] * (enough == "yes")
    assert [(entry.id, entry.label) for entry in entries] == expected


def test_speakers_are_always_entries() -> None:
    assert _labels(resolve_entities((), (), people=["Caroline"])) == ["Caroline"]


def test_forms_of_one_name() -> None:
    seen = _seen("delegation defect", "link", *THREE) + _seen("Delegation-Defect", "tag", *TWO)
    seen += _seen("the delegation defects", "phrase", "e4/s1/t1")
    (found,) = resolve_entities(seen, ())
    aliases = ("Delegation-Defect", "the delegation defects")
    assert found == Entity("delegation-defect", "delegation defect", aliases, frozenset())


@pytest.mark.parametrize(
    ("one", "other"),
    [("memory_v1", "memory_v2"), ("C", "C++"), ("Part 1", "Part 2"), ("Andrew", "Andrews")],
)
def test_what_stays_apart(one: str, other: str) -> None:
    seen = _seen(one, "link", *TWO) + _seen(other, "link", *TWO)
    told = [(one, other)] if one[-1].isdigit() else []
    assert sorted(_labels(resolve_entities(seen, told))) == [one, other]


def test_a_first_name_belongs_to_the_only_full_name() -> None:
    alone = ("e1/s1/t2", "e2/s2/t2", "e3/s1/t2")
    seen = _seen("Brian Okafor", "name", *TWO) + _seen("Brian", "name", *alone)
    persons = ["Brian", "Brian Okafor", "Brian Hart"]
    [entry] = resolve_entities(seen, (), persons=persons)
    assert (entry.id, entry.label, entry.aliases) == ("brian", "Brian", ("Brian Okafor",))
    seen += _seen("Brian Hart", "name", *TWO)
    assert _labels(resolve_entities(seen, (), persons=persons)) == persons[:1] + persons[:0:-1]


def test_a_title_belongs_to_the_name() -> None:
    seen = _seen("Dr. Bakker", "link", "e1/s1/t1") + _seen("Bakker", "name", *THREE)
    entries = resolve_entities(seen, (), persons=["Dr. Bakker"])
    assert _named(entries, "Bakker").aliases == ("Dr. Bakker",)


def test_the_only_full_name_with_a_first_name_is_meant_wherever_that_stands() -> None:
    seen = _seen("Mirabai Oduya", "name", "e8/s1/t1") + _seen("Mirabai", "name", *THREE)
    [entry] = resolve_entities(seen, (), persons=["Mirabai Oduya"])
    assert (entry.label, entry.aliases) == ("Mirabai", ("Mirabai Oduya",))


@pytest.mark.parametrize(("uses", "is_one"), [(9, False), (10, True)])
def test_a_first_name_means_the_full_name_that_is_used_far_more(uses: int, is_one: bool) -> None:
    places = [f"e{n}/s/t" for n in range(uses)]
    fulls = ["Mike Grill", "Mike Cano"]
    seen = _seen("Mike", "name", *TWO) + _seen(fulls[0], "name", *places)
    entries = resolve_entities([*seen, *_seen(fulls[1], "name", "e1/s2/t")], (), persons=fulls)
    assert ("Mike" in _named(entries, fulls[0]).aliases) == is_one


def test_a_first_name_is_meant_sooner_than_a_last_one() -> None:
    names = ["Mara", "Mara Oduya", "Tell Mara"]
    seen = [each for name in names for each in _seen(name, "name", *TWO)]
    entries = resolve_entities(seen, (), persons=names)
    assert _named(entries, "Mara Oduya").aliases == ("Mara",)


def test_links_into_several_folders_are_several_things() -> None:
    seen = _seen("a/README", "link", *TWO) + _seen("b/README", "link", *TWO)
    seen += _seen("people/Mara", "link", *TWO) + _seen("Mara", "name", *TWO)
    assert _labels(resolve_entities(seen, ())) == ["a/README", "b/README", "Mara"]


def test_a_link_is_called_by_its_own_wording() -> None:
    paths = ("people/anna/summary", "people/bo/summary", "people/mo/summary")
    seen = [each for path in paths for each in _seen(path, "link", *TWO)]
    told = [(paths[0], "Anna"), (paths[1], "note"), (paths[2], "note")]

    assert _labels(resolve_entities(seen, told))[0] == "Anna"
    assert not {"note", "summary"} & {*_labels(resolve_entities(seen, told))}


def test_what_names_nothing_is_no_node_unless_its_author_links_it() -> None:
    seen = _seen("Overview", "name", *THREE) + _seen("Maren", "name", *TWO)
    assert _labels(resolve_entities(seen, (), no_things=["Overview"])) == ["Maren"]
    seen += _seen("Overview", "link", "e1/s1/t1")
    assert _labels(resolve_entities(seen, (), no_things=["Overview"])) == ["Maren", "Overview"]


def test_stated_names_are_one() -> None:
    seen = _seen("Magnus Berg", "name", *TWO) + _seen("Bear", "name", *THREE)
    [entry] = resolve_entities(seen, [("Magnus Berg", "Bear")])
    assert (entry.label, entry.aliases) == ("Bear", ("Magnus Berg",))


def test_a_stated_name_counts_wherever_else_it_is_not_seen() -> None:
    [entry] = resolve_entities(_seen("TMM", "name", *TWO), [("Miles Market", "TMM")])
    assert (entry.label, entry.aliases) == ("TMM", ("Miles Market",))


def test_an_alias_of_two_things_is_the_alias_of_none() -> None:
    seen = _seen("Edda Lund", "name", *TWO) + _seen("Magnus Berg", "name", *TWO)
    told = [("Edda Lund", "Bear"), ("Magnus Berg", "Bear")]
    assert [entry.aliases for entry in resolve_entities(seen, told)] == [(), ()]


def test_a_stated_short_form_that_another_full_name_has_is_nobody_s() -> None:
    seen = _seen("Alexandra Berg", "name", *TWO) + _seen("Alex Kim", "name", *TWO)
    seen += _seen("Alex", "name", "e1/s1/t2", "e2/s1/t2")
    persons = ["Alexandra Berg", "Alex Kim", "Alex"]
    entries = resolve_entities(seen, [("Alexandra Berg", "Alex")], persons=persons)
    assert [entry.aliases for entry in entries] == [(), (), ()]


def test_a_name_that_only_begins_like_a_full_name_stays_apart() -> None:
    pairs = [("Boston Marathon", "Boston"), ("Docker Compose", "Docker"), ("Slack Water", "Slack")]
    for full, short in pairs:
        seen = _seen(full, "name", *TWO) + _seen(short, "name", "e1/s1/t2", "e2/s1/t2")
        assert sorted(_labels(resolve_entities(seen, ()))) == sorted([full, short])


def test_two_who_speak_with_each_other_are_never_one() -> None:
    seen = _seen("Caroline", "name", *TWO) + _seen("Melanie", "name", *TWO)
    apart = [("caroline", "melanie")]
    entries = resolve_entities(seen, [("Caroline", "Melanie")], different=apart)
    assert _labels(entries) == ["Caroline", "Melanie"]


def test_a_person_decides() -> None:
    seen = _seen("clock key", "link", *TWO) + _seen("winding key", "link", *TWO)
    assert len(resolve_entities(seen, ())) == 2
    [entry] = resolve_entities(seen, (), same=[("winding-key", "clock-key")])
    assert {entry.label, *entry.aliases} == {"clock key", "winding key"}
    seen = _seen("heartbeat", "link", *TWO) + _seen("heartbeats", "link", *TWO)
    assert len(resolve_entities(seen, ())) == 1
    assert len(resolve_entities(seen, (), different=[("heartbeats", "heartbeat")])) == 2


def test_nobody_joins_what_a_person_keeps_apart_by_a_detour() -> None:
    seen = [each for name in ("A Bc", "D Ef", "G Hi") for each in _seen(name, "link", *TWO)]
    told = [("A Bc", "D Ef"), ("D Ef", "G Hi")]
    entries = resolve_entities(seen, told, different=[("a-bc", "g-hi")])
    owner = {name: entry.id for entry in entries for name in (entry.label, *entry.aliases)}
    assert owner["A Bc"] != owner["G Hi"]


def test_a_part_of_a_longer_name_counts_only_alone() -> None:
    seen = _seen("Reasons and Persons", "phrase", *TWO) + _seen("Persons", "name", *TWO)
    assert _labels(resolve_entities(seen, ())) == ["Reasons and Persons"]
    seen += _seen("Persons", "name", "e3/s1/t1", "e4/s1/t1")
    assert _labels(resolve_entities(seen, ())) == ["Persons", "Reasons and Persons"]


def test_two_names_with_and_are_no_title() -> None:
    seen = _seen("Mara and Hardin", "phrase", *TWO)
    seen += [each for name in ("Mara", "Hardin") for each in _seen(name, "name", *THREE)]
    assert _labels(resolve_entities(seen, ())) == ["Hardin", "Mara"]


def test_words_that_are_names_need_their_capital() -> None:
    seen = _seen("Will", "name", *TWO) + _seen("Ilse", "name", *TWO) + _seen("NAP", "name", *TWO)
    exact = {entry.label: entry.exact for entry in resolve_entities(seen, ())}
    assert exact == {"Will": {"Will"}, "Ilse": frozenset(), "NAP": {"NAP"}}


def test_a_name_in_capitals_counts_with_its_capitals() -> None:
    seen = [each for name in ("READY", "Lantern") for each in _seen(name, "name", *TWO)]
    exact = {each.label: each.exact for each in resolve_entities(seen, ())}
    assert exact == {"READY": {"READY"}, "Lantern": frozenset()}


KINDS = st.sampled_from(["link", "tag", "title", "code", "name", "phrase"])
LABELS = st.sampled_from(
    ["Brian", "Brian Okafor", "Brian Hart", "clock key", "clock keys", "Clock-Key", "key", "Will"]
)
IDS = st.sampled_from(["1", "2", "3"])
SEEN = st.lists(st.builds(Name, LABELS, KINDS, IDS, IDS, IDS), max_size=30)
TOLD = st.lists(st.tuples(LABELS, LABELS), max_size=3)


@given(SEEN, TOLD, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(
    seen: list[Name], told: list[tuple[str, str]], shuffler: random.Random
) -> None:
    entries = resolve_entities(seen, told)
    again = seen * 2
    shuffler.shuffle(again)
    assert resolve_entities(again, told[::-1]) == entries
    assert [entry.id for entry in entries] == sorted({entry.id for entry in entries})
    names = [name for entry in entries for name in (entry.label, *entry.aliases)]
    assert len(names) == len(set(names))


def test_near_pairs() -> None:
    labels = [
        "Tidewatch", "Tidewach", "memory_v1", "memory_v2", "Part II", "Part III", "cat", "cats",
    ]  # fmt: skip
    entries = [Entity(node_id(label), label, (), frozenset()) for label in labels]
    assert near_pairs(entries, {e.id for e in entries}) == [("tidewach", "tidewatch", 94.1)]


def test_many_sightings_take_seconds() -> None:
    chooser = random.Random(7)
    seen = [
        Name(f"word{n} term{chooser.randrange(90)}", "phrase", f"{n % 900}", f"{n % 7000}", str(n))
        for n in (chooser.randrange(10_000) for _ in range(10_000))
    ]
    start = time.process_time()
    resolve_entities(seen, ())
    assert time.process_time() - start < 1.5
