from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, texts

from clsm_cli.model import ids
from clsm_cli.model.tombstones import episode_ids

any_text = st.one_of(texts, st.text(st.characters(exclude_categories=[]), max_size=20))


@examples(200)
@given(any_text, any_text, any_text)
def test_everything_that_is_made_is_an_id(a: str, b: str, c: str) -> None:
    made = [
        ids.digest(a, b, c), ids.turn_key(a, b, None, c),
        ids.turn_key(a, b, "2026-02-24T10:00:00Z", c, 5), next(episode_ids(a)), ids.document_id(a),
        ids.statement_id(a, b), ids.closed_copy_id(ids.statement_id(a), b), ids.edge_id(a, b, c),
        ids.file_name_of(a),
    ]  # fmt: skip
    assert all(ids.is_id(value) for value in made), made
    assert all("/" not in value and "." not in value for value in made)


def test_parts_are_kept_apart() -> None:
    assert ids.digest("a", "b") != ids.digest("ab") != ids.digest("a", "b", "")
    assert ids.digest("é") != ids.digest("e\u0301")


def test_only_without_an_exact_time_the_ordinal_counts() -> None:
    timed = [ids.turn_key("s", "mara", "2026-02-24T10:00:00Z", "hi", n) for n in (0, 1)]
    dated = [ids.turn_key("s", "mara", "2026-02-24", "hi", n) for n in (0, 1)]
    bare = [ids.turn_key("s", "mara", None, "hi", n) for n in (0, 1)]
    assert timed[0] == timed[1]
    assert dated[0] != dated[1]
    assert dated == bare


def test_sessions_that_look_alike_get_their_own_files() -> None:
    names = {ids.file_name_of(name) for name in ("a/b", "a-b", "A-B", "a b", "../a/b", "…")}
    assert len(names) == 6
