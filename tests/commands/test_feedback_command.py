"""``clsm feedback``: from a recall to the weights of the next one."""

from processes import Cli
from small_store import talk

from clsm_cli.retrieval.learned_weights import FILE
from clsm_cli.store import atomic, layout, logs

NOW = ("--now", "2026-02-25T08:00:00+01:00")
TALK = (
    "The float gauge under the Melkbrug is broken.",
    "I shall look at the gauge on Tuesday, with a torch.",
    "Bring the key of the signal shed, please.",
    "The key hangs in the bakery. Henk has it.",
    "Thank you. Juno is ill; I must see Dr. Bakker at four.",
)


def test_accepted_words_weigh_more_in_the_next_recall(cli: Cli) -> None:
    cli.ok("ingest", "-q", "-", *NOW, stdin="".join(talk("yard", *TALK)).encode())
    log = layout.open_store(cli.store, {"CLSM_DEVICE": "test"}).flow / FILE
    question = "key of the shed"

    def explained() -> list[str]:
        said = cli.ok("recall", "--explain", "--no-touch", *NOW, question).out
        return [line for line in said.splitlines() if "because:" in line]

    before = explained()
    for number in range(12):
        line = logs.Feedback(f"r-{number}", "2026-02-25T07:00:00Z", ("0a53",), (), ("bm25",), ())
        atomic.append(log, logs.render(line))
    after = explained()
    assert after != before
    assert after == explained()
    answer = cli.ok("recall", "--json", *NOW, question).json
    judged = ("feedback", answer["recall_id"], "--good", answer["memories"][0]["id"], *NOW)
    done = cli.ok(*judged, "--json")
    assert done.err == ""
    assert done.json["good"][0]["led"]
    assert done.json["weights"]["bm25"] > 1
    known = f"known of {answer['recall_id']}: 1 good, 0 bad\nweight of bm25: 1."
    assert cli.ok(*judged).out.startswith(known)
    assert "shed" not in log.read_text()
    log.unlink()
    assert explained() == before
