"""Labelled sets as published or written by hand: what is read, what is left out and said, what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluation.small_sets import (
    haystack,
    locomo_talk,
    write_gvd,
    write_locomo,
    write_longmemeval,
    write_notes,
)
from tables import table

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Dataset, Folders
from clsm_cli.evaluation.loaders import dataset_registry, gvd, locomo, longmemeval, own_memory
from clsm_cli.evaluation.nodes import case_chat

WRITERS = {
    "locomo": write_locomo,
    "gvd": write_gvd,
    "longmemeval": write_longmemeval,
    "memory": write_notes,
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_set_is_known_by_its_looks(tmp_path: Path, kind: str) -> None:
    folder = WRITERS[kind](tmp_path / "x")
    found = dataset_registry.load_dataset(str(folder))
    assert found.kind == kind
    assert dataset_registry.load_dataset(f"{kind}={folder}") == found
    assert dataset_registry.kind_of(folder) == kind


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (
            str(Path(__file__).parent / "presets"),
            r"no labelled set .* KIND one of locomo, gvd, lon",
        ),
        ("  ", "has no path"),
        ("locomo=", "has no path"),
        ("locomo=no-such-folder", "^no-such-folder: does not exist"),
        ("locomoo=no-such-folder", "'locomoo' is no kind of labelled set; use one of locomo"),
        ("a\0b", "does not exist"),
    ],
)
def test_a_spec_that_names_nothing(spec: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        dataset_registry.load_dataset(spec)


def test_the_first_stores_are_another_set(tmp_path: Path) -> None:
    found = dataset_registry.load_dataset(str(write_locomo(tmp_path / "x")))
    part = dataset_registry.limit_cases(found, 1)
    assert (part.cases, part.digest != found.digest) == (found.cases[:1], True)
    assert part.notes[-1] == "only the first 1 of 2 stores are used"
    assert dataset_registry.limit_cases(found, 2) is found


def test_a_folder_of_conversations(tmp_path: Path) -> None:
    found = locomo.load(write_locomo(tmp_path / "set"))
    assert (found[:2], found[3:5]) == (("locomo", "set"), ("turn", "recall@10"))
    assert [each.name for each in found.cases] == ["1", "2"]
    talk = case_chat(found.cases[0])
    assert talk.participants == ("Ann", "Bob")
    assert [turn.id for turn in talk.turns] == [
        "D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D2:3", "D10:1", "D10:2",
    ]  # fmt: skip
    assert talk.turns[2].text == "Look at this! [shares a photo of a cat on a sofa]"
    times = [talk.turns[place].time.removesuffix("+00:00") for place in (0, 1, 3)]
    assert times == ["2023-05-08T13:56:00", "2023-05-08T13:56:01", "2023-05-20T12:30:00"]
    assert {turn.session for turn in talk.turns} == {"session 1", "session 2", "session 10"}


def test_what_stands_twice_is_refused(tmp_path: Path) -> None:
    talk = locomo_talk("Ann", "Bob", "cat")
    published = {"sample_id": "7", "conversation": {**talk}, "qa": []}
    (tmp_path / "all.json").write_text(json.dumps([published, published]))
    with pytest.raises(BadInputError, match="the store 7 stands in it twice"):
        dataset_registry.load_dataset(str(tmp_path / "all.json"))
    talk["session_1"].append({"speaker": "Bob", "dia_id": "D1:1", "text": "Not this one."})
    (tmp_path / "all.json").write_text(json.dumps([{**published, "conversation": talk}]))
    with pytest.raises(BadInputError, match="two of its turns have one id"):
        dataset_registry.load_dataset(str(tmp_path / "all.json"))


def test_evidence_is_repaired_and_what_has_none_is_left_out(tmp_path: Path) -> None:
    found = locomo.load(write_locomo(tmp_path / "set"))
    own = [q for q in found.cases[0].queries if q.negative not in ("off topic", "nameless")]
    assert [(q.id, q.category, q.gold, q.negative, q.answer) for q in own] == [
        ("1-1", "temporal", ("D1:2",), "", "8 May 2023"),
        ("1-2", "multi-hop", ("D1:3", "D10:1"), "", ""),
        ("1-3", "single-hop", ("D2:1",), "", "1"),
        ("1-5", "adversarial", (), "wrong person", ""),
    ]
    repaired = "'D1:3; D10:01' -> D1:3, D10:1", "'D:2:1' -> D2:1"
    mended, lost, dropped, _ = found.notes
    assert mended == (
        "evidence entry repaired (4):"
        f" 1-2: {repaired[0]}; 1-3: {repaired[1]}; 2-2: {repaired[0]}; 2-3: {repaired[1]}"
    )
    assert lost == (
        "evidence entry names no turn and is left out (4):"
        " 1-3: 'D9:9'; 1-4: 'D'; 2-3: 'D9:9'; 2-4: 'D'"
    )
    assert dropped == "query is left out, nothing that answers it is known (2): 1-4; 2-4"


def test_the_one_file_of_all(tmp_path: Path) -> None:
    talk = locomo_talk("Ann", "Bob", "cat")
    talk["session_2"][2]["text"] = " "
    qa = [{"question": "Who slept?", "evidence": [17, "D1:1"], "category": 4}]
    talk.pop("qa")
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"qa": qa, "conversation": talk, "sample_id": "conv-26"}]))
    (case,) = locomo.load(path).cases
    assert (case.name, case.queries[0].id, case.queries[0].gold) == ("26", "26-1", ("D1:1",))
    assert [turn.id for turn in case_chat(case).turns[3:]] == ["D2:1", "D2:2", "D10:1", "D10:2"]


DAYS = {  # stems
    "2023-05-01": frozenset({"trip", "museum"}),
    "2023-05-02": frozenset({"trip", "hors", "museum"}),
    "2023-05-03": frozenset({"trip", "hors"}),
    "2023-05-04": frozenset({"trip", "violin"}),
}


def test_labels_of_a_set(tmp_path: Path) -> None:
    found = gvd.load(write_gvd(tmp_path / "set"))
    assert [(q.text, q.category, q.gold) for q in found.cases[0].queries] == [
        ("What was my mood on May 4th?", "dated", ("2023-05-04",)),
        ("What did I see in Xiamen?", "lexical", ("2023-05-02",)),
        ("Tell me of the horse.", "lexical", ("2023-05-02", "2023-05-04")),
    ]
    rules, fault = found.notes
    assert rules == (
        "the set names no evidence; the days that answer a query are derived by two rules:"
        " 1 name a day or a period (dated),"
        " 2 have words that were said on one or two days only (lexical)"
    )
    assert fault == "query is left out, neither rule decides (1): Emily-3"


@pytest.mark.parametrize(("question", "gold", "why"), table(__file__, "rules"))
def test_rules(question: str, gold: str, why: str) -> None:
    assert gvd.label_question(question, DAYS)[1] == gold.split(), why


def test_each_question_has_its_own_store(tmp_path: Path) -> None:
    found = longmemeval.load(write_longmemeval(tmp_path / "set"))
    assert found.name == "longmemeval_s_cleaned.json"
    assert found[3:5] == ("turn", "recall@10")
    first, second = found.cases
    assert [(turn.id, turn.role, turn.time, turn.session) for turn in case_chat(first).turns] == [
        ("1:filler_1:1", "user", "2023-05-19T10:00:00+00:00", "1:filler_1"),
        ("1:filler_1:2", "assistant", "2023-05-19T10:00:01+00:00", "1:filler_1"),
        ("0:answer_1:1", "user", "2023-05-20T02:21:00+00:00", "0:answer_1"),
        ("0:answer_1:2", "assistant", "2023-05-20T02:21:01+00:00", "0:answer_1"),
    ]
    (query,) = first.queries
    assert (first.name, query.id, query.category) == ("q1", "q1", "single-session-user")
    # filler_1:1 is marked too, but its session is none of those with the evidence
    assert (query.gold, query.negative, query.answer) == (("0:answer_1:1",), "", "a violin")
    assert query.at == "2023-05-30T23:40:00+00:00"
    (unknown,) = second.queries
    assert (unknown.id, unknown.gold, unknown.negative) == ("q2_abs", (), "near topic")
    assert found.notes == ()


def test_a_question_without_evidence_is_left_out_and_said(tmp_path: Path) -> None:
    unmarked, twice = haystack("q2"), haystack("q4")
    unmarked["haystack_sessions"][0][0].pop("has_answer")
    twice["haystack_session_ids"] = ["answer_1", "answer_1"]
    twice["haystack_sessions"][0][1]["content"] = ""
    lost = haystack("q3", question_type=None, answer_session_ids=["answer_1", "answer_2"])
    rows = [haystack("q1"), unmarked, lost, twice]
    found = longmemeval.load(write_longmemeval(tmp_path / "set", *rows))
    assert [case.name for case in found.cases] == ["q1", "q3", "q4"]
    assert found.cases[1].queries[0].category == ""
    assert found.cases[2].queries[0].gold == ("1:answer_1:1", "0:answer_1:1")
    assert found.notes == (
        "query is left out, no turn of its haystack is marked as its evidence (1): q2",
    )


def _changed(folder: Path, old: str, new: str) -> Dataset:
    queries = write_notes(folder) / own_memory.QUERIES
    assert old in queries.read_text("utf-8")
    queries.write_text(queries.read_text("utf-8").replace(old, new), "utf-8")
    return own_memory.load(folder)


def test_queries_concepts_and_negatives(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "set")
    found = own_memory.load(folder)
    assert (found.name, found.unit, found.headline) == ("set", "quote", "f1")
    (case,) = found.cases
    assert case.source == Folders(folder, ("workspace", "sessions"))
    first, second, *negative = case.queries
    assert first.gold == ("in the cellar failed at noon.",)  # over two lines in the note
    assert first.category == "project"
    assert second.concepts == (frozenset({"heron", "theheron"}),)
    assert [(q.id, q.text, q.negative) for q in negative] == [
        ("p1", "when was the pump bought", "near topic"),
        ("o1", "how far is the moon", "off topic"),
    ]
    assert found.notes == ()


def test_evidence_that_is_not_there_is_left_out_and_said(tmp_path: Path) -> None:
    found = _changed(tmp_path, "stood on the gauge", "stood on the weir")
    assert found.cases[0].queries[1].gold == ()
    assert found.notes == (
        "piece of evidence is not in the file that it names and is left out (1): q2, piece 1",
    )


def test_a_quote_from_a_transcript_is_looked_for_in_its_texts(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    said = {"message": {"content": [{"text": 'It "stood\non the gauge" for hours.'}]}}
    (tmp_path / "sessions" / "a.jsonl").write_text("{\n" + json.dumps(said) + "\n")
    old = 'workspace/MEMORY.md\n    quote: "stood on the gauge"'
    new = "sessions/a.jsonl\n    quote: '\"stood on the gauge\" for'"
    found = _changed(tmp_path, old, new)
    assert found.cases[0].queries[1].gold == ('"stood on the gauge" for',)


def _broken_locomo(content: str) -> Callable[[Path], Dataset]:
    def load(folder: Path) -> Dataset:
        folder.write_text(content)
        return locomo.load(folder)

    return load


def _broken_gvd(name: str, content: str) -> Callable[[Path], Dataset]:
    def load(folder: Path) -> Dataset:
        (write_gvd(folder) / name).write_text(content)
        return gvd.load(folder)

    return load


def _broken_haystack(**change: Any) -> Callable[[Path], Dataset]:
    return lambda folder: longmemeval.load(write_longmemeval(folder, haystack("q1", **change)))


def _broken_label(old: str, new: str) -> Callable[[Path], Dataset]:
    return lambda folder: _changed(folder, old, new)


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        *(
            (_broken_locomo(content), reason)
            for content, reason in table(__file__, "broken conversations")
        ),
        (_broken_gvd(gvd.MEMORY, "[]"), "it holds no users"),
        (_broken_gvd(gvd.MEMORY, '{"E": {"history": {"May 4": []}}}'), "user E: Invalid isoformat"),
        (_broken_gvd(gvd.QUESTIONS, "\n{"), "line 2: "),
        (_broken_gvd(gvd.QUESTIONS, '{"Emily": [3]}'), "line 1: something is of another type"),
        (_broken_gvd(gvd.QUESTIONS, ""), "no question to a user"),
        (_broken_haystack(question_date="yesterday"), "question 1: 'yesterday' is no time"),
        (_broken_haystack(haystack_dates=["2023/05/20 (Sat) 02:21"]), "question 1: zip"),
        (_broken_haystack(haystack_sessions=[[], [{"role": "user"}]]), "1: it has no content"),
        (_broken_haystack(haystack_sessions=[[], []]), "its haystack is empty"),
        *(
            (_broken_label(old, new), reason)
            for old, new, reason in table(__file__, "broken labels")
        ),
    ],
)
def test_what_is_not_of_the_set_is_refused(
    tmp_path: Path, load: Callable[[Path], Dataset], reason: str
) -> None:
    with pytest.raises(BadInputError, match=reason) as error:
        load(tmp_path / "set")
    assert str(tmp_path / "set") in str(error.value)
