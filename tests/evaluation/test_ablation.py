"""Each mechanism can be taken out, each setting belongs to one, and none of them is dead."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from evaluation.small_sets import write_notes

from clsm_cli.config import Settings
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.evaluation import benches
from clsm_cli.evaluation.benches import MECHANISMS, Bench
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Folders, LabelledTurn, Query
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.systems import recall_system
from clsm_cli.retrieval.dense_search import Engine

STEPS = " ".join(f"Step {n}: rinse jar {n} and dry it by the stove." for n in range(40))
SESSIONS: dict[str, list[tuple[str, int, str]]] = {
    "2026-02-02": [
        ("Mara", 0, "I started with pottery last week, the wheel is harder than it looks."),
        ("Brian", 1, "What are you making first?"),
        ("Mara", 2, "A blue bowl for my sister Noor, she collects pottery."),
        ("Brian", 3, "Use metric units in the recipes, please."),
        ("Mara", 4, "Fine. The pump in the cellar runs every 20 minutes now."),
        ("Brian", 5, "By the way, I adopted a grey cat called Biscuit from the shelter."),
        ("Mara", 6, "Biscuit sounds lovely! Does the cat sleep on the sofa?"),
        ("Brian", 7, "The cat sleeps on my keyboard all day long."),
        ("Mara", 200, "Biscuit the cat woke up at last and wants her dinner."),
        ("Brian", 201, "My cat Biscuit always wants dinner when she wakes up."),
    ],
    "2026-02-10": [
        ("Brian", 0, "The migration of the billing database to SQLite is done."),
        ("Mara", 1, "Did the nightly backup of the billing database run?"),
        ("Brian", 2, "The backup of the billing database failed, the disk was full."),
        ("Mara", 3, "Noor and I painted the kitchen yellow on 8 February 2026."),
        ("Brian", 4, "Use metric units in the recipes, please."),
        ("Mara", 5, "From today the pump in the cellar runs every 40 minutes."),
        ("Brian", 6, "My cat Biscuit was ill, the vet gave her drops for three days."),
        ("Mara", 7, "I take violin lessons from Edith Vale on Thursdays."),
        ("Brian", 8, "Edith Vale taught my brother, he plays in the Leiden orchestra."),
        ("Mara", 9, "I bought a violin from Edith Vale at the market in Leiden."),
    ],
    "2026-02-17": [
        ("Mara", 0, "I bought a violin from Edith Vale at the market in Leiden."),
        ("Brian", 1, "You told me. Is the blue bowl for Noor ready?"),
        ("Mara", 2, "The blue bowl cracked in the kiln, so I threw another one."),
        ("Brian", 3, "The vet says that Biscuit is well again."),
        ("Mara", 4, "My hobbies are pottery, the violin and long walks along the canal."),
        ("Brian", 5, STEPS),
        ("Mara", 6, "Edith Vale moved to Leiden in January 2026."),
        ("Brian", 7, "The billing database moved again, to a server in Haarlem."),
        ("Mara", 8, "Noor keeps the bowl of the pottery course in Haarlem."),
        ("Brian", 9, "Noor met Edith Vale in Haarlem."),
    ],
    "2026-02-20": [
        ("Mara", 0, "The tomatoes on the south wall are ripening faster than last year."),
        ("Brian", 1, "I moved the basil next to the peppers and it looks happier there."),
        ("Mara", 2, "The slugs ate half of the lettuce, I put out beer traps."),
        ("Brian", 3, "The compost in the garden was 55 degrees this morning."),
        ("Mara", 4, "I sowed the yellow courgette and the beans in the garden."),
        ("Brian", 5, "Good. The deploy script of the server needs a token before Friday."),
        ("Mara", 6, "Move the cron job of the server to 03:30, after the reindex."),
        ("Brian", 7, "The server keeps seven daily snapshots and four weekly ones."),
        ("Mara", 8, "The logs of the server were never rotated, the disk is 98 percent full."),
        ("Brian", 9, "I will rotate the logs of the server with logrotate."),
    ],
}
ASKED = (
    "What hobbies does Mara have?",
    "Where did Mara buy the violin from Edith Vale?",
    "How often does the pump run?",
    "When did Noor paint the kitchen?",
    "When does Mara have violin lessons?",
    "Use metric units in the recipes",
    "What did Brian do on 10 February 2026?",
    "What did we discuss on 10 February 2026?",
    "Edith Vale",
    "Where are metric units used?",
    "What units should recipes have?",
    "What happened to the billing database?",
    "What is in jar 30?",
    "What is the boiling point of tungsten carbide?",
    "What does logrotate do?",
    "Did the nightly backup of the billing database run?",
)
_AMOUNTS = {
    "context": "loaded",
    "recall": "source_share untrusted_floor k budget bm25_k1 bm25_b candidates concepts refresh_passages",
    "boundary": "max_turns min_turns window gap_half gap_certain",
    "graph": "reach alpha shrink min_count min_npmi top",
    "consolidation": "noise mass_loss review_days step",
}
MEASURES = {f"{group}.{key}" for group, keys in _AMOUNTS.items() for key in keys.split()}
"""Settings that say how much or how long, and switch nothing off.

What the two that are about sources do is measured in docs/poisoning.md; what the night draws in the
graph is for looking at and for presets.
"""
OFF = {"recall.weight_context"}
"""Mechanisms that are shipped switched off."""
ONLY_IN_LARGE = {"refinement", "statements"}
"""What changes nothing here: the first moves boundaries by a turn or two, the others lead to what the
passages of so small a store say anyway. Answers of the sample memory change without each."""
DAY = """## Pump

[[Brian]] mended the pump in the cellar.

- [ ] Ask [[Brian]] for the invoice of the pump

From today the pump runs every 40 minutes.
"""
ASKED_OF_NOTES = ("what happened to the pump in the cellar", "what stood on the gauge")


def told() -> Iterator[LabelledTurn]:
    for day, turns in SESSIONS.items():
        for place, (speaker, minute, text) in enumerate(turns):
            time = f"{day}T{9 + minute // 60:02}:{minute % 60:02}:00+00:00"
            yield LabelledTurn(f"{day}:{place}", speaker, "user", text, time, day)


def queries(*texts: str) -> tuple[Query, ...]:
    return tuple(Query(f"q{place}", text) for place, text in enumerate(texts))


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, shop: StoreFactory, engine: Engine
) -> list[Bench]:
    notes = write_notes(tmp_path_factory.mktemp("ablation") / "memory")
    (notes / "workspace" / "2026-03-03.md").write_text(DAY, encoding="utf-8")
    chat = Case("chat", Chat(("Mara", "Brian"), tuple(told())), queries(*ASKED))
    written = Case("notes", Folders(notes, ("workspace", "sessions")), queries(*ASKED_OF_NOTES))
    dataset = Dataset("small", "small", "0" * 64, "turn", "recall@10", (chat, written))
    return benches.make_benches(dataset, shop, engine)


@pytest.fixture(scope="module")
def answers(made: list[Bench]) -> list[list[Retrieved]]:
    return [list(recall_system()(bench, bench.case.queries)) for bench in made]


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in ONLY_IN_LARGE])
def test_no_mechanism_is_dead(name: str, made: list[Bench], answers: list[list[Retrieved]]) -> None:
    ask = recall_system(MECHANISMS[name].without)
    assert any(
        one != other
        for bench, known in zip(made, answers, strict=True)
        for one, other in zip(ask(bench, bench.case.queries), known, strict=True)
    ), f"{name}: no answer changes without it"


def test_each_setting_is_a_mechanism_a_measure_or_off_as_shipped() -> None:
    """A new weight or switch must be put into ``MECHANISMS``, or be named here."""
    switched = {
        key
        for mechanism in MECHANISMS.values()
        if not isinstance(mechanism.off, str)
        for key in mechanism.off
    }
    every = {
        f"{group}.{key}"
        for group, values in Settings()._asdict().items()
        if group not in ("ingest", "status", "store")
        for key in values._fields
    }
    assert switched <= every
    assert not switched & (MEASURES | OFF)
    assert every - switched == MEASURES | OFF
    weights = {key for key in every if key.startswith("recall.weight_")}
    assert weights <= switched | OFF
    for key in OFF:
        group, _, name = key.partition(".")
        assert getattr(getattr(Settings(), group), name) == 0


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ("recall.k", "is no KEY=VALUE"),
        (
            "recall.weight_bm2=1",
            "unknown setting 'recall.weight_bm2'; did you mean recall.weight_bm25",
        ),
        ("recall.k=five", "must be a number like 10"),
        ("recall.floor=.nan", "must be a number like|not a number|no number|too large"),
        ("recall.floor={{", "is not YAML"),
        ("graph.top=6", "for the second time"),
    ],
)
def test_what_is_no_setting_is_refused(pair: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason) as caught:
        benches.parse(["graph.top=5", pair])
    assert str(caught.value).startswith("--set ")
    assert "\n" not in str(caught.value)


def test_a_store_with_planted_concepts_is_asked_but_never_made_again(made: list[Bench]) -> None:
    bench = replace(made[1], dataset=made[1].dataset._replace(kind=benches.PLANTED))
    assert benches.with_settings(bench, {"recall.k": 3}).store.root == bench.store.root
    for changes in ({"graph.min_npmi": 2}, {"boundary.refine": 0}):
        with pytest.raises(RefusedError, match="is asked as it is"):
            benches.with_settings(bench, changes)
    left = [name for name, each in MECHANISMS.items() if each.applies(bench)]
    assert "words" in left
    assert "model" in left
    assert not {"consolidation", "gists", "boundaries"} & {*left}
    assert all(each.applies(made[1]) for each in MECHANISMS.values())
