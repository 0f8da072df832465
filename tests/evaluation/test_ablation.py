"""Each mechanism can be taken out, each setting belongs to one, and none of them is dead."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from evaluation.small_sets import write_notes
from tables import column, table

from clsm_cli.config import Settings
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.evaluation import benches
from clsm_cli.evaluation.benches import MECHANISMS, Bench
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Folders, LabelledQuery, LabelledTurn
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.systems import recall_system
from clsm_cli.retrieval.dense_search import Engine

STEPS = " ".join(f"Step {n}: rinse jar {n} and dry it by the stove." for n in range(40))
ASKED = column(__file__, "asked")
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
    for place, (day, speaker, minute, text) in enumerate(table(__file__, "sessions")):
        time = f"{day}T{9 + int(minute) // 60:02}:{int(minute) % 60:02}:00+00:00"
        said = STEPS if text == "STEPS" else text
        yield LabelledTurn(f"{day}:{place}", speaker, "user", said, time, day)


def queries(*texts: str) -> tuple[LabelledQuery, ...]:
    return tuple(LabelledQuery(f"q{place}", text) for place, text in enumerate(texts))


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


@pytest.mark.parametrize(("pair", "reason"), table(__file__, "no setting"))
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
