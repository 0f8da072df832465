"""What a system is worth is kept in the work folder, and found again only where nothing changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from evaluation.small_sets import write_notes
from ingesting import embedder

from clsm_cli.evaluation import benches, run
from clsm_cli.evaluation.benches import Bench, System
from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.loaders import own_memory
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.run import Measured
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.systems import system_registry
from clsm_cli.evaluation.systems.system_registry import Recall
from clsm_cli.retrieval.dense_search import Engine


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Bench:
    folder = tmp_path_factory.mktemp("asked")
    factory = StoreFactory(folder / "work", embedder(), None, fresh=False, progress=lambda *_: None)
    (bench,) = benches.make_benches(own_memory.load(write_notes(folder / "set")), factory, engine)
    return bench


@pytest.fixture
def bench(made: Bench, tmp_path: Path) -> Bench:
    """The same stores; what is measured lies in a folder of the test."""
    return replace(made, factory=replace(made.factory, folder=tmp_path))


@dataclass
class Counted:
    """A system that is asked for real, and remembers how often."""

    system: System = field(default_factory=lambda: Recall("clsm"))
    name: str = "clsm"
    about: str = "as it is"
    times: int = 0

    def ask(self, bench: Bench, queries: Sequence[Query]) -> Iterator[Retrieved]:
        self.times += 1
        yield from self.system.ask(bench, queries)


def measure(bench: Bench, system: System, queries: Sequence[Query] | None = None) -> list[Measured]:
    chosen = bench.case.queries if queries is None else queries

    def without() -> list[Retrieved]:
        return list(system_registry.baseline_named(system_registry.MINILM).ask(bench, chosen))

    return run.measure_system(system, bench, chosen, without)


def kept(bench: Bench) -> list[Path]:
    return sorted((bench.factory.folder / run.FOLDER).iterdir())


def test_what_was_measured_is_not_asked_again(bench: Bench) -> None:
    system = Counted()
    first = measure(bench, system)
    assert measure(bench, system) == first
    assert system.times == 1
    assert len(kept(bench)) == 1


@pytest.mark.parametrize("broken", [b"", b"[1, 2, 3, 4]", b'[["figures"]]'])
def test_a_broken_file_is_measured_anew(bench: Bench, broken: bytes) -> None:
    system = Counted()
    first = measure(bench, system)
    (place,) = kept(bench)
    whole = place.read_bytes()
    for content in (broken, whole[:-2]):
        place.write_bytes(content)
        again = measure(bench, system)
        assert [each.ranks for each in again] == [each.ranks for each in first]
    assert system.times == 3
    assert measure(bench, system) == again


def test_whatever_decides_the_answers_decides_the_place(bench: Bench) -> None:
    queries = bench.case.queries
    measure(bench, Counted())
    measure(bench, Counted(name="other"))
    measure(bench, Counted(about="with other settings"))
    measure(bench, Counted(), queries[:1])
    measure(bench, Counted(), (queries[0]._replace(gold=("stood on the gauge",)), *queries[1:]))
    measure(bench, Counted(), (queries[0]._replace(at="2026-03-01T00:00:00Z"), *queries[1:]))
    measure(replace(bench, dataset=bench.dataset._replace(digest="0")), Counted())
    measure(replace(bench, store=bench.raw), Counted())
    assert len(kept(bench)) == 8
