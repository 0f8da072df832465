"""Labels: what is read, what is refused and where, and edits that leave the rest to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.errors import BadInputError
from clsm_cli.store import labels
from clsm_cli.store.labels import Label

FILE = """# mine, by hand
store: ../memory

queries:
# the first
- id: q1
  query: who looks after   the backup box   # a comment
  evidence:
  - "Margaret is the box
     in the shed"
  memories: [f-0123456789ab, 0123456789ab-2]
  concepts: [margaret]
  category: personal
  difficulty: hard

# the second
- query: what is my blood type
  evidence: []
# not labelled
- query: 2026-02-01
# the end
"""


def parse(text: str) -> labels.Labels:
    return labels.parse(text, "q.yaml")


def test_a_file_is_read() -> None:
    found = parse(FILE)
    assert found.store == "../memory"
    first, second, third = found.rows
    assert first._replace(line=0) == Label(
        "q1",
        "who looks after the backup box",
        ("Margaret is the box in the shed",),
        ("f-0123456789ab", "0123456789ab-2"),
        ("margaret",),
        "personal",
        "hard",
    )
    assert (first.line, second.line) == (6, 17)
    assert second.is_labelled
    assert not second.has_gold
    assert second.id == labels.id_of("what is my blood type")
    assert (third.text, third.is_labelled) == ("2026-02-01", False)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("queries:\n- {query: a\n", 3, "is not YAML"),
        ("queries: [!!python/object:x {query: a}]\n", 1, "tag"),
        ("queries: 5\n", 1, "'queries' is not a list"),
        ("- query: a\n", 1, "the file is not a mapping"),
        ("store: x\n", 1, "has no 'queries'"),
        ("queries: []\nmore: 1\n", 2, "unknown key 'more'"),
        ("queries: []\nqueries: []\n", 2, "the file has 'queries' twice"),
        ("queries:\n- a\n", 2, "a query is not a mapping"),
        ("queries:\n- id: x\n  evidence: []\n", 2, "a query has no text"),
        ("queries:\n- query: '  '\n", 2, "a query has no text"),
        ("queries:\n- query: a\n  evidense: []\n", 3, "unknown key 'evidense'"),
        ("queries:\n- query: a\n  query: b\n", 3, "a query has 'query' twice"),
        ("queries:\n- query: [a]\n", 2, "the query is not text"),
        ("queries:\n- query: true\n", 2, "the query is not text"),
        ("queries:\n- query: a\n  evidence: text\n", 3, "evidence is not a list"),
        ("queries:\n- query: a\n  memories:\n  - 5\n", 4, "an entry of memories is not text"),
        ("queries:\n- query: a\n  memories: [x, '']\n", 3, "an entry of memories is empty"),
        ("queries:\n- {id: 1, query: a}\n- {id: 1, query: b}\n", 3, "stands in line 2 already"),
        ("queries:\n- query: a\n- query: a\n", 3, "stands in line 2 already"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"q.yaml, line {line}: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("; ") >= 1  # what to do next


def test_what_is_no_text_is_said() -> None:
    with pytest.raises(BadInputError, match="line 2: is not UTF-8"):
        labels.decode(b"queries:\n- query: \xff\n", "q.yaml")
    with pytest.raises(BadInputError, match="is larger than 1 MiB"):
        labels.decode(b"#" * (labels.MAX_LABELS + 1), "q.yaml")


def test_a_query_is_added_and_the_rest_stays_to_the_byte() -> None:
    made = labels.edit(FILE, fresh=[Label("n", "new: one", memories=("m",))])
    added = '- id: "n"\n  query: "new: one"\n  memories: ["m"]\n'
    assert made == FILE.replace("- query: 2026-02-01\n", f"- query: 2026-02-01\n{added}")


def test_a_query_is_taken_out_with_its_lines_alone() -> None:
    first, second, _ = parse(FILE).rows
    assert labels.edit(FILE, {second.id: None}) == FILE.replace(
        "- query: what is my blood type\n  evidence: []\n", ""
    )
    left = labels.edit(FILE, {first.id: None})
    assert "Margaret" not in left
    assert "# the first\n\n# the second\n" in left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# head\n",
        "queries:\n",
        "queries: []\n",
        "queries: []  # none yet\n# end\n",
        "store: x\nqueries: [{query: a, evidence: []}]\n",
        '{"queries": [{"query": "a", "evidence": []}]}',
        "queries:\n  - query: a\n    evidence: []",
        "queries:\r\n- query: a\r\n  evidence: []\r\n",
        'queries:\n-\n  # why\n  query: "a\u2028b"\n  evidence: []\n# end\n',
    ],
)
def test_every_layout_takes_a_query(text: str) -> None:
    before = parse(text)
    made = labels.edit(text, fresh=[Label("n", "b", concepts=("c",))])
    after = parse(made)
    assert [row.text for row in after.rows] == [*(row.text for row in before.rows), "b"]
    assert after.store == before.store
    assert text.count("# head") == made.count("# head")
    assert parse(labels.edit(made, dict.fromkeys(row.id for row in after.rows))).rows == ()


ODD = (
    "a", "it's: #1", "- x", "? y", "yes", "~", "5", "[", '"', "a\\nb", "caf\u00e9", "\U0001f600",
    "%@`", "{}",
)  # fmt: skip
WORDS = st.lists(st.sampled_from(ODD), min_size=1, max_size=3).map(" ".join)
ROWS = st.builds(
    Label,
    WORDS,
    WORDS,
    st.lists(WORDS, unique=True, max_size=3).map(tuple),
    st.lists(WORDS, unique=True, max_size=2).map(tuple),
    concepts=st.just(()),
    category=WORDS,
    difficulty=WORDS,
    is_labelled=st.just(value=True),
    line=st.just(0),
)


@settings(max_examples=50)
@given(st.lists(ROWS, unique_by=lambda row: row.id, max_size=4), st.integers(0, 9))
def test_what_is_written_is_read_again(rows: list[Label], drop: int) -> None:
    made = labels.edit("", fresh=rows)
    assert [row._replace(line=0) for row in parse(made).rows] == rows
    if rows:
        gone = rows[drop % len(rows)]
        left = parse(labels.edit(made, {gone.id: None})).rows
        assert [row.id for row in left] == [row.id for row in rows if row != gone]
