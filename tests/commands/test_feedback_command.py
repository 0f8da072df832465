"""``clsm feedback``: from a recall to the weights of the next one, and what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from processes import Cli

from clsm_cli.retrieval.learned_weights import FILE
from clsm_cli.store import atomic, layout, logs

NOW = ("--now", "2026-02-25T08:00:00+01:00")
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


def feedback_log(cli: Cli) -> Path:
    return layout.open_store(cli.store, {"CLSM_DEVICE": "test"}).flow / FILE


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


def test_accepted_words_weigh_more_in_the_next_recall(talk: Cli) -> None:
    asked = ("recall", *NOW, "--", "key of the shed")

    def explained() -> list[str]:
        said = talk.ok(*asked[:1], "--explain", "--no-touch", *asked[1:]).out
        return [line for line in said.splitlines() if "because:" in line]

    before = explained()
    for number in range(12):
        line = logs.Feedback(f"r-{number}", "2026-02-25T07:00:00Z", ("0a53",), (), ("bm25",), ())
        atomic.append(feedback_log(talk), logs.render(line))
    after = explained()
    assert after != before
    assert after == explained()
    answer = talk.ok(*asked[:1], "--json", *asked[1:]).json
    judged = (
        "feedback",
        answer["recall_id"],
        "--good",
        answer["memories"][0]["id"],
        "--json",
        *NOW,
    )
    done = talk.ok(*judged)
    assert done.err == ""
    assert done.json["good"][0]["led"]
    assert done.json["weights"]["bm25"] > 1
    feedback_log(talk).unlink()
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
def test_what_is_no_feedback(cli: Cli, words: list[str]) -> None:
    done = cli("feedback", *words, *NOW)
    assert done.code == 2
    assert "Traceback" not in done.err
