"""What comes back for a passage: a window of a note, a turn, a statement with its turns; once."""

import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sample_store import ask
from small_store import found, note, row, state, talk, tell

from clsm_cli.config import RecallSettings, with_changes
from clsm_cli.retrieval.recall import touch
from clsm_cli.retrieval.result_items import MAX_LIST_CHARACTERS, grow_window
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.store.layout import Store

LENGTH = RecallSettings().window

WORDS = "Beside the towpath grows a row of old pollard willows, number {}, by the lock."
"""A block of about 80 characters; five of them fill a window."""


def steps(count: int, length: int = 60) -> str:
    """A numbered list, its items in paragraphs of their own."""
    return "\n\n".join(f"{n}. Step {n} {'of the soup ' * length}"[:length] for n in range(1, count))


def test_a_block_comes_with_its_neighbours(store: Store, tmp_path: Path) -> None:
    blocks = [WORDS.format(n) for n in range(12)]
    blocks[6] = "The theremin hangs in the boiler room."
    note(store, tmp_path / "a.md", "\n\n".join(blocks) + "\n")
    (first, *_) = found(store, "theremin", k=1)
    shown = first.text.split("\n\n")
    assert "The theremin hangs in the boiler room." in shown
    assert LENGTH - len(blocks[0]) < len(first.text) <= LENGTH + 2 * len(shown)
    start = blocks.index(shown[0])
    assert shown == blocks[start : start + len(shown)]
    source = first.sources[0]
    assert (source.line_start, source.line_end) == (2 * start + 1, 2 * (start + len(shown)) - 1)
    assert len(source.turn_ids) == len(shown)


def test_a_window_ends_where_its_section_ends(store: Store, tmp_path: Path) -> None:
    text = "# One\n\nSalt.\n\n# Two\n\nThe theremin hangs here.\n\nSugar.\n\n# Three\n\nPepper.\n"
    note(store, tmp_path / "a.md", text)
    first = found(store, "theremin", k=1)[0]
    assert (first.heading, first.text) == ("Two", "The theremin hangs here.\n\nSugar.")


def test_a_numbered_list_is_shown_whole(store: Store, tmp_path: Path) -> None:
    text = f"{steps(15)}\n\n15. Tune the theremin.\n"
    assert LENGTH < len(text) < MAX_LIST_CHARACTERS
    note(store, tmp_path / "a.md", text)
    items = found(store, "theremin", k=1)[0].text.split("\n\n")
    assert [each.split(".")[0] for each in items] == [str(n) for n in range(1, 16)]


def test_a_window_leaves_out_a_list_that_is_too_long(store: Store, tmp_path: Path) -> None:
    note(store, tmp_path / "a.md", f"{steps(20, 100)}\n\nSo the theremin was tuned.\n")
    assert found(store, "theremin tuned", k=1)[0].text == "So the theremin was tuned."


def test_no_block_comes_twice(store: Store, tmp_path: Path) -> None:
    note(store, tmp_path / "a.md", "\n\n".join(WORDS.format(n) for n in range(40)) + "\n")
    memories = found(store, "willows by the lock")
    lines = [line for memory in memories for line in memory.text.split("\n\n")]
    assert sorted(lines) == sorted(WORDS.format(n) for n in range(40))
    spans = sorted((m.sources[0].line_start, m.sources[0].line_end) for m in memories)
    assert all(one[1] < other[0] for one, other in pairwise(spans))


def test_an_item_is_as_sure_as_the_surest_block_that_it_shows(store: Store, tmp_path: Path) -> None:
    """Another one may rank first: the model cannot read Greek."""
    keys = "Το κλειδί της αποθήκης το έχει η Φωτεινή"
    blocks = keys, "Ο Στέλιος δουλεύει στο λιμάνι", "Η γιαγιά δεν τρώει ψάρι"
    note(store, tmp_path / "a.md", "".join(f"- {block}.\n" for block in blocks))
    note(store, tmp_path / "b.md", "\n\n".join(WORDS.format(n) for n in range(40)) + "\n")
    (item, *_) = ask(store, "πρωτεύουσα της Γαλλίας").memories
    assert keys in item.text
    assert item.confidence > 0.5


def test_a_turn_stands_in_the_place_of_its_statement(store: Store) -> None:
    """The statement has one sentence of it; the turn has all, found or not, and names the statement."""
    whole = "The soup was good. Ilse mends theremins. She starts at nine."
    tell(store, *talk("a", whole, "The ferry leaves at six."))
    (turn,) = [memory for memory in found(store, "theremins") if memory.text == whole]
    known = state(store, "projects", "trades", "Ilse mends theremins.", (turn.id,))
    first, *others = found(store, "Who mends theremins?")
    assert (first.kind, first.text, first.states) == ("passage", whole, (known,))
    one = store._replace(settings=with_changes(store.settings, {"recall.candidates": 1}))
    assert [each.text for each in found(one, "Ilse mends theremins.")] == [whole]
    alone = Filters(kind="statement")
    assert [each.id for each in found(one, "Ilse mends theremins.", filters=alone)] == [known]
    assert known not in {memory.id for memory in others}
    answer = ask(store, "Who mends theremins?")
    touch(store, answer)
    used = (store.flow / "activation.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert {turn.id, known} <= {*json.loads(used)["ids"]}


def test_a_short_item_stands_in_the_place_of_a_statement_with_its_headings(
    store: Store, tmp_path: Path
) -> None:
    note(store, tmp_path / "a.md", "# Suppliers of parts\n\n## Van Dorp\n\n- customer 40817\n")
    (block,) = found(store, "customer 40817")
    text = "Suppliers of parts › Van Dorp: customer 40817"
    known = state(store, "projects", "parts", text, (block.id,))
    assert [each.states for each in found(store, text)] == [(known,)]


def test_what_a_person_made_of_a_statement_stands_for_itself(store: Store) -> None:
    """The turn has the words that were mended."""
    tell(store, *talk("a", "Ilse mends theremins every Friday.", "The ferry leaves at six."))
    (turn,) = [memory for memory in found(store, "theremins") if "Friday" in memory.text]
    known = state(store, "projects", "trades", "Ilse mends theremins every Friday.", (turn.id,))
    path = store.root / "projects" / "trades.md"
    path.write_text(path.read_text(encoding="utf-8").replace("Friday", "Monday"), encoding="utf-8")
    texts = {memory.id: memory.text for memory in found(store, "Who mends theremins?")}
    assert texts[known] == "Ilse mends theremins every Monday."


def test_k_counts_the_turns_that_a_statement_rests_on(store: Store) -> None:
    tell(store, *(row(f"The ferry leaves at {n}.", session=f"s{n}") for n in range(6)))
    keys = tuple(memory.id for memory in found(store, "ferry"))
    assert len(keys) == 6
    known = state(store, "projects", "ferries", "Ilse mends theremins.", keys[:4])
    first, *others = found(store, "Who mends theremins?", k=6)
    assert (first.id, first.kind) == (known, "statement")
    own, *turns = first.sources
    assert own.path == "projects/ferries.md"
    assert sorted(turn.turn_ids for turn in turns) == sorted((key,) for key in keys[:4])
    assert len(others) == 2
    assert len(found(store, "Who mends theremins?", k=1)) == 1


def test_a_turn_in_two_files_comes_once(store: Store) -> None:
    """As on two machines that took in the same conversation."""
    tell(store, row("The theremin is in the attic."))
    box = next(iter(store.inbox.iterdir()))
    other = store.root / "flow" / "other" / "inbox"
    other.mkdir(parents=True)
    (other / box.name).write_bytes(box.read_bytes())
    assert [m.text for m in found(store, "theremin")] == ["The theremin is in the attic."]


@given(st.lists(st.integers(1, 600), min_size=1, max_size=30), st.data())
def test_a_window_holds_its_block_and_is_no_longer_than_it_may_be(
    lengths: list[int], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(lengths) - 1))
    blocked = data.draw(st.sets(st.integers(0, len(lengths) - 1)))
    start, end = grow_window(lengths, place, blocked - {place}, LENGTH)
    assert start <= place < end
    assert not (blocked - {place}) & set(range(start, end))
    assert end - start == 1 or sum(lengths[start:end]) <= LENGTH
