"""What a user has without clsm: each baseline against what it says it does, on real stores."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from evaluation.small_sets import bench_of
from ingesting import embedder, tree

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Chat, Folders, LabelledQuery, LabelledTurn
from clsm_cli.evaluation.measures import Retrieved, answer_result
from clsm_cli.evaluation.presets.library import Library
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.recall import recall
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.tokens import count_tokens

SAID = (
    ("1", "2024-03-01", "Ann", "I adopted a grey cat from the shelter in Leiden."),
    ("1", "2024-03-01", "Bob", "Lovely! What do you call the cat?"),
    ("1", "2024-03-01", "Ann", "The cat is called Margaret."),
    ("2", "2024-03-11", "Bob", "How is the cat called Margaret, the grey one from the shelter?"),
    ("2", "2024-03-11", "Ann", "Margaret sleeps on the violin."),
    ("3", "2024-03-12", "Bob", "I painted my kitchen yellow."),
    ("3", "2024-03-12", "Ann", "Yellow kitchens are cheerful, and paint is cheap."),
)
QUESTION = "What is the name of Ann's grey cat?"
NOTES = {
    "SOUL": "# Soul\n\nI am calm.\n",
    "USER": "# User\n\nIlse measures water.\n",
    "MEMORY": "# Memory\n\nThe pump stands in the cellar of [[Brian]].\n\nThe heron is grey.\n",
}
DAYS = {
    "2026-03-01": "# 2026-03-01\n\nA heron stood on the gauge.\n",
    "2026-03-02": "# 2026-03-02\n\n[[Brian]] mended the pump.\n",
    "2026-03-03": "# 2026-03-03\n\nThe pump failed again, and [[Brian]] was ill.\n",
}


@pytest.fixture(scope="module")
def chat(shop: StoreFactory, engine: QueryEngine) -> Bench:
    turns = tuple(
        LabelledTurn(f"t{n}", speaker, "user", text, f"{day}T10:00:{n:02}+00:00", session)
        for n, (session, day, speaker, text) in enumerate(SAID)
    )
    query = LabelledQuery("q", QUESTION, gold=("t2",))
    return bench_of(Case("talk", Chat(("Ann", "Bob"), turns), (query,)), shop, engine)


@pytest.fixture(scope="module")
def notes(
    shop: StoreFactory, engine: QueryEngine, tmp_path_factory: pytest.TempPathFactory
) -> Bench:
    root = tmp_path_factory.mktemp("set")
    (root / "workspace" / "memory").mkdir(parents=True)
    for name, text in (NOTES | {f"memory/{day}": text for day, text in DAYS.items()}).items():
        (root / "workspace" / f"{name}.md").write_text(text, encoding="utf-8")
    query = LabelledQuery("q", "who repaired the pump")
    source = Folders(root, ("workspace", "sessions"))
    return bench_of(Case("notes", source, (query,)), shop, engine, "quote")


def _asked(name: str, bench: Bench, *texts: str) -> list[Retrieved]:
    queries = [LabelledQuery(str(number), text) for number, text in enumerate(texts)]
    return list(systems.BASELINES[name](bench, queries))


def _turns(found: Retrieved) -> list[str]:
    return [turn for item in found.items for turn in item.turns]


def test_grep_finds_the_lines_that_grep_finds(chat: Bench, tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_text("".join(f"{who} {text}\n" for _, _, who, text in SAID), encoding="utf-8")
    pattern = "|".join(sorted(systems.query_words(QUESTION)))
    assert pattern == "ann|cat|grey|name"
    lines = subprocess.run(
        ["grep", "-iwnE", pattern, str(file)], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    counts = {}
    for line in lines:
        number, text = line.split(":", 1)
        found = {each.casefold() for each in re.findall(rf"(?i)\b(?:{pattern})\b", text)}
        counts[f"t{int(number) - 1}"] = len(found)
    (answer,) = _asked("grep", chat, QUESTION)
    assert _turns(answer) == sorted(counts, key=lambda turn: -counts[turn])
    assert _turns(answer)[0] == "t0"
    assert answer.confidence == 3 / 4


def test_no_system_keeps_anything_of_a_question(chat: Bench, notes: Bench) -> None:
    for bench in (chat, notes):
        before = tree(bench.store.root), tree(bench.raw.root)
        for name in systems.BASELINES:
            one, other, again = _asked(name, bench, QUESTION, "the pump", QUESTION)
            assert (one, [other]) == (again, _asked(name, bench, "the pump"))
        assert (tree(bench.store.root), tree(bench.raw.root)) == before


def test_minilm_is_the_cosine_of_the_model(chat: Bench) -> None:
    whole = np.array(
        [vectors.sentence for vectors in embedder().embed()([text for *_, text in SAID])]
    )
    asked = np.asarray(chat.engine.encode("What is the name of my grey cat?").sentence)
    exact = whole @ asked
    with open_index(chat.store, chat.factory.embedder) as opened:
        pool = systems.PassagePool(Library(opened.index, chat.engine))
        assert pool.cosines(QUESTION) == pytest.approx(exact, abs=0.03)
    (found,) = _asked("MiniLM", chat, QUESTION)
    assert len(found.items) == len(SAID)
    assert found.confidence == pytest.approx(exact.max(), abs=0.03)
    assert _turns(found)[0] == f"t{exact.argmax()}"


def test_what_is_loaded_at_every_start(chat: Bench, notes: Bench) -> None:
    (talk,) = _asked("static", chat, "anything")
    assert _turns(talk) == ["t5", "t6", "t3", "t4", "t0", "t1", "t2"]
    (loaded,) = _asked("static", notes, "anything")
    assert [item.text for item in loaded.items] == [
        "I am calm.", "Ilse measures water.", "The pump stands in the cellar of [[Brian]].",
        "The heron is grey.", "[[Brian]] mended the pump.",
        "The pump failed again, and [[Brian]] was ill.",
    ]  # fmt: skip


def test_the_whole_is_what_would_be_loaded(chat: Bench, notes: Bench) -> None:
    assert chat.whole == sum(count_tokens(text) for *_, text in SAID)
    last = [text for _, text in sorted(DAYS.items())][-2:]
    assert notes.whole == sum(map(count_tokens, (*NOTES.values(), *last)))


def test_packed_is_what_recall_gives_for_a_budget(chat: Bench) -> None:
    (found,) = systems.ask_packed(chat, chat.case.queries)
    assert found.items == ()
    assert found.packed is not None
    assert 1000 in found.packed
    for budget, items in found.packed.items():
        asked = [chat.query(chat.case.queries[0], budget=budget)]
        (answer,) = recall(chat.store, asked, chat.engine, chat.factory.embedder)
        assert items == answer_result(answer).items


def test_a_query_is_asked_at_its_own_time(chat: Bench) -> None:
    text = "what did we discuss about the kitchen yesterday"  # hard bounds: it speaks of the talk
    spoken = LabelledQuery("spoken", text, at="2024-03-13T09:00:00+00:00")
    silent = LabelledQuery("silent", text, at="2024-03-29T09:00:00+00:00")
    one, other = systems.recall_system()(chat, [spoken, silent])
    assert one.items
    assert not other.items
