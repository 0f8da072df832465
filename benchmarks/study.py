"""Every figure of consolidation by readers' labels of strangers' memories, in one report.

``python -m benchmarks.study COPIES STORES --locomo FOLDER`` (as in ``scripts/join_labels.py``; ``--only`` some of
``PARTS``). Classifiers are fitted anew without each memory, by the functions of the scripts that fit them
(*left out*). What nights made is read from stores of workspaces in STORES (*of stores*: their classifiers have
seen labels of these); parts that need one that is missing make it as of the morning of its labels.
Cross-encoders are not fitted again: what stands beside their weights is told (*recorded*). ``cost`` times a
first night over memories of ``--megabytes``. ``--keep`` keeps the parts in ``benchmarks/results/study.json`` and
writes ``docs/evaluation-figures.md``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter, defaultdict
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import evaluation, labelled_memory, starts
from benchmarks.labelled_memory import Concept, normal_names
from benchmarks.measure import CLSM, RESULTS, SAMPLE, environment, load, run, save
from clsm_cli.config import RecallSettings
from clsm_cli.consolidation import active_learning
from clsm_cli.consolidation.statement_selection import ScoredUnit
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.weights import default_folder
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads.definition_head import Form
from clsm_cli.heads.owner_model import Decision, Owner
from clsm_cli.model.grouping import grouped
from clsm_cli.store import layout
from clsm_cli.text.plain import to_plain
from scripts import fit_definitions, fit_doubts, fit_heads, fit_kinds, fit_names, fit_relations
from scripts.fitting import every_eighth
from scripts.join_labels import CHAT, LABELS, digest, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from clsm_cli.model.graph import Node
    from scripts.fit_heads import Labelled

LEFT_OUT, OF_STORES = "left out", "of stores"
TAUGHT = "keep AUROC, 20 decisions of the owner"
WORTH = 0.33
"""``keep`` of the unit head from which it would keep a sentence, as in ``fit_heads``."""
MOST_BYTES = 1 << 20
"""Larger files are no notes."""
TARGETS = {
    "noise AUROC": "≥ .88",
    "keep AUROC": "≥ .80",
    "alone AUROC": "≥ .84",
    TAUGHT: "≥ .84",
    "good of what is kept": "≥ .60",
    "junk of what is kept": "≤ .08",
    "persons that are": "≥ .80",
    "noise of the 40 strongest": "≤ 4",
    "concepts found": "≥ .92",
    "unmatched a label": "≤ .45",
    "concepts split": "≤ .03",
    "of ten things to know": "≥ 7",
    "CPU s a MB of a night": "≤ 20",
}


class Given(NamedTuple):
    """Checkouts, stores, LoCoMo, and the sizes of the memories that are timed, MB."""

    copies: Path
    stores: Path
    locomo: Path | None
    megabytes: Sequence[float]


class Figure(NamedTuple):
    """A figure, of how many labels and memories, and how it came about."""

    of: str
    name: str
    value: float
    labels: int
    memories: int
    how: str
    target: str


def documents(given: Given) -> Iterator[Figure]:
    """Roles of documents."""
    found = fit_heads.of_documents(given.copies)
    chances = fit_heads.left_out(found, fit_heads.DOCUMENT, fit_heads.OF_DOCUMENTS)
    told = fit_heads.document_figures(found, chances)
    yield from _each(told, int(told.pop("documents")), len({*found.groups}), LEFT_OUT)


def units(given: Given) -> Iterator[Figure]:
    """Noise, what is worth keeping, what stands alone, and what decisions of an owner change."""
    labelled = list(fit_heads.of_units(given.copies, given.locomo))
    every = fit_heads.unit_examples(labelled, fit_heads.of_documents(given.copies))
    found = fit_heads.left_out(every, fit_heads.UNIT, fit_heads.OF_UNITS["unit"])[: len(labelled)]
    notes = [each.group for each in labelled if each.document]
    memories = {"all": {each.group for each in labelled}, "notes": {*notes}}
    memories["chat"] = memories["all"] - memories["notes"]
    for of, told in fit_heads.unit_figures(labelled, found).items():
        chosen = {name: told[name] for name in told if name in TARGETS}
        yield from _each(chosen, int(told["units"]), len(memories[of]), LEFT_OUT, of)
    pairs = [*taught(labelled, found[:, 1])]
    told = dict(zip(("keep AUROC inside a workspace", TAUGHT), np.mean(pairs, 0), strict=True))
    yield from _each(told, len(notes), len(pairs), LEFT_OUT, "notes")


def taught(labelled: Sequence[Labelled], chances: Any) -> Iterator[tuple[float, float]]:
    """AUROC of ``keep`` in each workspace, before and after its owner decided what ``clsm review`` offers."""
    encoder = Encoder.open(default_folder())
    for group in sorted({each.group for each in labelled if each.document}):
        rows = {e.text: (row, e.label) for row, e in enumerate(labelled) if e.group == group}
        vectors = {
            text: np.array(found.sentence)
            for text, found in zip(rows, encoder.encode([*rows]), strict=True)
        }
        every = [
            Decision("", text, label["file"], vectors[text], chances[row], label["keep"] == 2)
            for text, (row, label) in rows.items()
        ]
        asked = _offered(every)
        owner = Owner([each for each in every if each.text in asked])
        rest = [each for each in every if each.text not in asked]
        is_kept = np.array([each.is_kept for each in rest], bool)
        if is_kept.any() and not is_kept.all():
            after = [owner.chance(e.chance, e.vector, e.document) for e in rest]
            before = np.array([each.chance for each in rest])
            yield auroc(before, is_kept), auroc(np.array(after), is_kept)


def _offered(every: Sequence[Decision]) -> set[str]:
    """The texts that ``clsm review`` would offer of some sentences."""
    vectors = {each.text: each.vector for each in every}
    scored = (ScoredUnit("", 0, 0, e.text, "", e.chance, 0, e.chance, worth=WORTH) for e in every)
    return {e.text for e in active_learning.most_informative(scored, lambda _: vectors, ())}


def names(given: Given) -> Iterator[Figure]:
    """What names a thing, and of which kind."""
    every = fit_names.examples(given.copies, default_folder())
    told = fit_names.left_out(every)
    told["persons that are"] = told.pop("called persons that are") / told.pop("called persons")
    counts = [int(told.pop(name)) for name in ("labels", "things", "persons")]
    yield from _each(told, counts[0], len({*every.repos}), LEFT_OUT)


def kinds(given: Given) -> Iterator[Figure]:
    """Preferences and decisions."""
    told = [*fit_kinds.of_public(given.copies, given.locomo), *fit_kinds.of_worlds()]
    told += fit_kinds.of_talks()
    some = fit_kinds.examples(told)
    found = fit_heads.left_out(some, fit_kinds.OUTPUTS, fit_kinds.SETTINGS)
    parts = np.array([each.part for each in told])
    for of, row in fit_kinds.figures(some, found, parts).items():
        memories = {each.memory for each in told if each.part == of}
        yield from _each(_aurocs(row), int(row["sentences"]), len(memories), LEFT_OUT, of)


def relations(given: Given) -> Iterator[Figure]:
    """Pairs of names that a text relates."""
    rows = (*fit_relations.labelled(given.copies), *fit_relations.told())
    told = fit_relations.figures(rows, fit_relations.examples(rows))
    for of, is_real in (("model", True), ("invented", False)):
        memories = {about for about, *_ in rows if ("/" in about) is is_real}
        chosen = {name: told[of][name] for name in ("AUROC", "related of those taken")}
        yield from _each(chosen, told[of]["pairs"], len(memories), LEFT_OUT, of)


def definitions(given: Given) -> Iterator[Figure]:
    """What says what a name is."""
    every = [*fit_definitions.examples(given.copies, given.stores)]
    columns = range(len(Form._fields))
    right = fit_definitions.right(every, fit_definitions.left_out(every, columns))
    told = dict(zip(("best sentence right", "of the best three"), right, strict=True))
    yield from _each(told, len(every), len({each.workspace for each in every}), LEFT_OUT)


def doubts(_: Given) -> Iterator[Figure]:
    """Questions of a night about two statements."""
    told = fit_doubts.left_out()
    yield from _each(told, int(told.pop("questions")), int(told.pop("memories")), LEFT_OUT)


def cross_encoders(_: Given) -> Iterator[Figure]:
    """What stands beside the weights of the heads that read two texts at once."""
    for head, count in (("statement", "statements"), ("pair", "pairs")):
        told = json.loads((fit_heads.WEIGHTS / f"{head}.json").read_text("utf-8"))
        groups = told["figures"] if head == "pair" else {"of workspaces": told["figures"]}
        for of, row in (groups | {of: told[of] for of in told if of.startswith("of ")}).items():
            how = f"recorded, labels {told['labels'][:8]}"
            yield from _each(_aurocs(row), row[count], 0, how, f"{head}, {of}")
    told = json.loads((fit_heads.WEIGHTS / "answer.json").read_text("utf-8"))
    silent = told[f"silent in percent, with reading, floor {RecallSettings().floor}"]
    chosen = {f"silent, {kind}": silent[kind] / 100 for kind in ("with an answer", "near topic")}
    yield from _each(chosen, told["left out"], 0, "recorded", "answer")


def readers(_: Given) -> Iterator[Figure]:
    """How far two readers of the same agree."""
    columns = {"units": ("keep", "alone", "kind", "stream"), "documents": ("role", "owner")}
    columns |= {"names": ("thing",), "pairs": ("label",)}
    columns |= dict.fromkeys(("statements", "told_statements", "told_notes"), ("judged",))
    for name, fields in columns.items():
        rows = [row for row in _rows(name) if "second" in row]
        memories = {row.get("repo") or row["world"] for row in rows}
        second = ([e] if isinstance(e := row["second"], str) else e for row in rows)
        for field, said in zip(fields, zip(*second, strict=False), strict=False):
            equal, kappa = agreement([(row[field], e) for row, e in zip(rows, said, strict=True)])
            told = {f"{field} equal": equal, f"{field}, κ": kappa}
            yield from _each(told, len(rows), len(memories), "counted", name)


def agreement(pairs: Sequence[tuple[Any, Any]]) -> tuple[float, float]:
    """Share of equal labels, and κ = (equal − chance) / (1 − chance) (Cohen 1960).

    >>> agreement([(0, 0), (1, 1), (0, 1), (1, 0)])
    (0.5, 0.0)
    """
    equal = sum(a == b for a, b in pairs) / len(pairs)
    first, second = (Counter(column) for column in zip(*pairs, strict=True))
    chance = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return equal, (equal - chance) / (1 - chance)


def nights(given: Given) -> Iterator[Figure]:
    """What stands in the stores that are there, by what readers said of sentences and names."""
    sentences, strings = (
        grouped((label["repo"], label) for label in joined(name, given.copies, None))
        for name in ("statements", "names")
    )
    rows = [row for name in ("statements", "units", "units_held") for row in _rows(name)]
    held = every_eighth(
        f"{CHAT}/{row['file']}" if row["repo"] == CHAT else row["repo"] for row in rows
    )
    sheet = {row["hash"]: row["judged"] for row in _rows("kept")}
    judged: dict[str, list[tuple[str, str]]] = defaultdict(list)
    things = []
    for repo in sorted(sentences):
        place = given.stores / repo.replace("/", "+", 1)
        if place.exists():
            nodes, statements = labelled_memory.kept(layout.open_store(place, {}))
            texts = {row.text for row in statements}
            ends = {end for text in texts for end in accumulate(text.split(": ")[::-1], _above)}
            of = "not seen by the reader" if repo in held else "seen by the reader"
            each_judged = (
                (to_plain(e["text"], has_addresses=True), e["judged"]) for e in sentences[repo]
            )
            judged[of] += [(repo, verdict) for text, verdict in each_judged if text in ends]
            judged["sheets"] += [(repo, sheet[d]) for d in map(digest, sorted(texts)) if d in sheet]
            things.append(of_names(strings[repo], nodes))
    for of, pairs in (each for each in judged.items() if each[1]):
        counts = Counter(said for _, said in pairs)
        told = {f"{word} of what is kept": counts[word] / len(pairs) for word in ("good", "junk")}
        yield from _each(told, len(pairs), len({repo for repo, _ in pairs}), OF_STORES, of)
    for name in things[0] if things else ():
        values, weights = zip(*(each[name] for each in things), strict=True)
        told = {name: float(np.average(values, weights=weights))} if any(weights) else {}
        yield from _each(told, sum(weights), len(things), OF_STORES)


def _above(end: str, title: str) -> str:
    return f"{title}: {end}"


def of_names(
    labels: Sequence[Mapping[str, Any]], nodes: Sequence[Node]
) -> dict[str, tuple[float, int]]:
    """Figures of a workspace's nodes, and what each counts; nodes without a label count nothing."""
    things = {row["hash"]: row for row in labels if row["thing"]}
    concepts = {}
    for row in things.values():
        same = (things[other]["text"] for other in row.get("same", ()) if other in things)
        mine = normal_names([row["text"], *same])
        concepts[mine] = Concept(row["text"], mine, row.get("kind"))
    known = frozenset[str]().union(*concepts)
    wrong = normal_names([row["text"] for row in labels if not row["thing"]]) - known
    persons = normal_names([e["text"] for e in things.values() if e.get("kind") == "person"])
    names = {node.id: labelled_memory.names_of(node) for node in nodes}
    labelled = [node for node in nodes if names[node.id] & (known | wrong)]
    called = [node for node in labelled if node.kind == "person"]
    strongest = sorted(nodes, key=lambda node: (-node.prominence, node.id))[:40]
    noise = sum(not names[e.id] & known and bool(names[e.id] & wrong) for e in strongest)
    told = labelled_memory.concept_figures([*concepts.values()], labelled)
    right = sum(bool(names[node.id] & persons) for node in called)
    return {
        "concepts found": (told["concepts found"], len(concepts)),
        "labelled no thing, a label": (told["unmatched a label"], len(concepts)),
        "concepts split": (told["concepts split"], len(concepts)),
        "noise of the 40 strongest": (noise, 1),
        "persons that are": (right / max(1, len(called)), len(called)),
    }


def ten_things(given: Given) -> Iterator[Figure]:
    """What an agent should know at the start of a session, in its context."""
    found = [*starts.held(given.copies, given.stores)]
    every = ("all", sum(count for _, count, _ in found), sum(things for *_, things in found))
    for repo, count, things in (*found, every):
        memories = len(found) if repo == "all" else 1
        told = {"of ten things to know": 10 * count / things}
        yield from _each(told, things, memories, OF_STORES, repo)


def sample(_: Given) -> Iterator[Figure]:
    """The sample memory, whose labels the rules were tuned on, with its markup and without."""
    for of, is_plain in (("", False), ("without markup", True)):
        for count, told in labelled_memory.figures(SAMPLE, is_plain=is_plain):
            yield from _each(told, count, 1, "tuned on", of)


def cost(given: Given) -> Iterator[Figure]:
    """CPU time of a first night over so many MB of notes, the smallest workspaces first."""
    copies = [copy for copy in given.copies.iterdir() if copy.suffix != ".git"]
    notes = [[p for p in sorted(copy.rglob("*.md")) if _is_note(p)] for copy in copies]
    notes.sort(key=lambda files: sum(path.stat().st_size for path in files))
    every = [path for files in notes for path in files]
    ends = [*accumulate(path.stat().st_size for path in every)]
    for size in given.megabytes:
        taken = [path for path, end in zip(every, ends, strict=True) if end <= size * 1e6]
        with tempfile.TemporaryDirectory() as work:
            for path in taken:
                to = Path(work, "notes", path.relative_to(given.copies))
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, to)
            here = environment(Path(work, "store"))
            run([*CLSM, "init", f"{work}/store", "--quiet"], here)
            ingest = run([*CLSM, "ingest", f"{work}/notes", "--quiet"], here).cpu
            night = run([*CLSM, "consolidate", "--quiet"], here).cpu
            _, statements = labelled_memory.kept(layout.open_store(Path(work, "store"), here))
        megabytes = ends[len(taken) - 1] / 1e6
        told = {
            "CPU s a MB of a night": night / megabytes,
            "CPU ms a statement of it": 1000 * night / max(1, len(statements)),
            "CPU s a MB of ingest": ingest / megabytes,
        }
        memories = {path.relative_to(given.copies).parts[0] for path in taken}
        yield from _each(told, 0, len(memories), "timed", f"{megabytes:.2f} MB")


def _is_note(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size < MOST_BYTES


_PARTS = (
    *(documents, units, names, kinds, relations, definitions, doubts, cross_encoders, readers),
    *(ten_things, nights, sample, cost),  # nights read the stores that others made
)
PARTS: dict[str, Callable[[Given], Iterable[Figure]]] = {
    each.__name__.replace("_", "-"): each for each in _PARTS
}


def _each(
    told: Mapping[str, float], labels: int, memories: int, how: str, of: str = ""
) -> Iterator[Figure]:
    for name, value in told.items():
        yield Figure(of, name, round(float(value), 3), labels, memories, how, TARGETS.get(name, ""))


def _aurocs(told: Mapping[str, float]) -> dict[str, float]:
    return {name: told[name] for name in told if name.endswith("AUROC")}


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LABELS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("stores", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--megabytes", nargs="+", type=float, default=[0.25, 0.5, 1.0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true")
    told = parser.parse_args(arguments)
    given = Given(told.copies, told.stores, told.locomo, told.megabytes)
    parts = {name: [each._asdict() for each in PARTS[name](given)] for name in told.only}
    print(json.dumps(parts, indent=1) if told.json else "\n".join(evaluation.study_table(parts)))
    if told.keep:
        kept = (load("study")["parts"] if (RESULTS / "study.json").exists() else {}) | parts
        save("study", {"parts": {name: kept[name] for name in PARTS if name in kept}})
        evaluation.write()


if __name__ == "__main__":
    main()
