"""``clsm feedback``: from a recall to the weights of the next one, and what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from processes import Cli
from sample_store import SAMPLE

from clsm_cli.retrieval.learned_weights import FILE
from clsm_cli.store import layout, logs
from clsm_cli.store.layout import Store

NOW = ("--now", "2026-02-25T08:00:00+01:00")
EXACT = ("Hardin", "SD card", "signal shed lathe", "the heron", "backup restic NAS")
TALK = (
    ("Mara", "The float gauge under the Melkbrug is broken."),
    ("Brian", "I shall look at the gauge on Tuesday, with a torch."),
    ("Mara", "Bring the key of the signal shed, please."),
    ("Brian", "The key hangs in the bakery. Henk has it."),
    ("Mara", "Thank you. Juno is ill; I must see Dr. Bakker at four."),
)


@pytest.fixture
def talk(cli: Cli) -> Cli:
    """A store with a small conversation."""
    rows = [
        {"speaker": name, "text": text, "session": "yard", "time": f"2026-02-24T09:0{n}:00+01:00"}
        for n, (name, text) in enumerate(TALK)
    ]
    (cli.folder / "talk.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    cli.ok("ingest", "talk.jsonl", *NOW)
    return cli


def opened(cli: Cli) -> Store:
    return layout.open_store(cli.store, {"CLSM_DEVICE": "test"})


def feedback_log(cli: Cli) -> Path:
    return opened(cli).flow / FILE


def test_a_recall_is_judged(talk: Cli) -> None:
    answer = talk.ok("recall", "--json", "where is the key, and who looks at the gauge", *NOW).json
    recall, ids = answer["recall_id"], [memory["id"] for memory in answer["memories"]]
    assert len(ids) >= 3
    words = ("feedback", recall, "--good", ids[0], "--good", ids[1], "--bad", ids[2], *NOW)
    planned = talk.ok(*words, "--dry-run")
    assert planned.out == f"would be noted of {recall}: 2 good, 1 bad\n"
    assert not feedback_log(talk).exists()
    assert talk.ok(*words).out == f"noted of {recall}: 2 good, 1 bad\n"
    assert talk.ok(*words).out == f"known of {recall}: 2 good, 1 bad\n"
    ((_, row),) = logs.rows(feedback_log(talk))[0]
    line = logs.parse(logs.Feedback, row)
    assert (line.recall, line.good, line.bad) == (recall, (ids[0], ids[1]), (ids[2],))
    assert "key" not in feedback_log(talk).read_text()
    turned = talk.ok("feedback", recall, f"--bad={ids[0]}", "--json", *NOW).json
    assert list(turned) == [
        "schema", "dry_run", "recall", "good", "bad", "is_new", "run", "weights",
    ]  # fmt: skip
    assert (turned["schema"], turned["is_new"]) == ("clsm.feedback/1", True)
    assert [each["id"] for each in turned["bad"]] == [ids[0]]
    assert turned["weights"] is None


def by_words(answer: Any) -> list[str]:
    """Items that stand out by their words: no other signal is as large."""
    found = []
    for memory in answer["memories"]:
        others = [
            value for name, value in memory["why"].items() if name not in ("bm25", "question")
        ]
        if memory["why"]["bm25"] > max(others):
            found.append(memory["id"])
    return found


def test_accepted_words_weigh_more_in_the_next_recall(cli: Cli) -> None:
    def explained() -> list[str]:
        said = cli.ok("recall", "--explain", "--no-touch", *NOW, "--", "Hardin").out
        return [line for line in said.splitlines() if "because:" in line]

    cli.ok("ingest", SAMPLE / "workspace" / "memory", *NOW)
    before = explained()
    accepted = 0
    for minute in range(30):
        now = ("--now", f"2026-02-25T08:{minute:02}:00+01:00")
        answer = cli.ok("recall", "--json", *now, "--", EXACT[minute % len(EXACT)]).json
        if items := by_words(answer):
            done = cli.ok(
                "feedback",
                answer["recall_id"],
                *(word for each in items for word in ("--good", each)),
                "--json",
                *now,
            )
            assert {each["led"] for each in done.json["good"]} == {"bm25"}
            assert done.err == ""
            accepted += len(items)
            assert (done.json["weights"] is not None) == (accepted >= 10)
            if accepted < 10:
                assert explained() == before
        if accepted >= 20:
            break
    expected = (1.2 + accepted) / (2.2 + accepted) / (1.2 / 2.2)
    assert done.json["weights"]["bm25"] == pytest.approx(expected, rel=1e-2)
    assert {value for name, value in done.json["weights"].items() if name != "bm25"} == {1.0}
    after = explained()
    assert after != before
    assert after == explained()
    feedback_log(cli).unlink()
    assert explained() == before


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["r-3a9c12d08e41"],
        ["r-3a9c12d08e41", "--good"],
        ["r-3a9c12d08e41", "0a53", "--good", "0a53"],
    ],
)
def test_what_is_no_feedback(talk: Cli, words: list[str]) -> None:
    done = talk("feedback", *words, *NOW)
    assert done.code == 2
    assert "Traceback" not in done.err
