"""Writes ``docs/performance.md`` from the kept figures: ``python -m benchmarks.report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT, load, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DOCUMENT = ROOT / "docs" / "performance.md"
UNNAMED = frozenset({"processor", "architecture", "system"})
NUMPY = 'python -c "import numpy"'
SMALL, LARGE = "1000", "10000"


def shown(quartiles: Sequence[float], digits: int = 2) -> str:
    """Median, and the middle half in brackets.

    Example:
        >>> shown([0.5, 0.55, 0.6])
        '0.55 (0.50–0.60)'
    """
    low, median, high = (f"{value:.{digits}f}" for value in quartiles)
    return f"{median} ({low}–{high})"


def count(number: str | int) -> str:
    """A whole number with commas between thousands."""
    return f"{int(number):,}"


def machines(results: dict[str, dict[str, Any]]) -> str:
    """What each benchmark ran on; those that ran on the same share a line."""
    found: dict[str, list[str]] = {}
    for name, figures in results.items():
        parts = figures["machine"].items()
        on = ", ".join(value if key in UNNAMED else f"{key} {value}" for key, value in parts)
        found.setdefault(on, []).append(name)
    return "\n".join(f"- {', '.join(names)}: {on}" for on, names in found.items())


def targets(cold: dict[str, Any], indexing: dict[str, Any]) -> str:
    """The goals of the project that the figures of this page decide."""
    version = cold["sizes"][SMALL]["clsm --version"]["by_pass"][1]
    recall = cold["recall_by_numpy"][SMALL][1]
    grown = cold["growth"][f"{LARGE} / {SMALL}"][1]
    rows = (
        ("cold recall, 1,000 passages ÷ `import numpy`", recall, 0.8),
        ("cold recall, 10,000 ÷ 1,000 passages", grown, 1.3),
        ("`clsm --version` ÷ `python -c pass`", version, 2.0),
        ("index ÷ text, bytes, 1,000 passages", _index(indexing["sizes"][SMALL]), 10.0),
    )
    return table(
        ["figure", "measured", "target", "met"],
        [
            [name, f"{value:.2f}", f"≤ {most:g}", "yes" if value <= most else "no"]
            for name, value, most in rows
        ],
    )


def _index(figures: dict[str, Any]) -> float:
    parts = figures["bytes"].items()
    size: int = sum(value for name, value in parts if not name.startswith("memory"))
    return size / float(figures["text_bytes"])


def cold_start(figures: dict[str, Any]) -> str:
    """CPU time and ratio of every command at every size, then wall time and memory."""
    sizes = figures["sizes"]
    names = list(next(iter(sizes.values())))
    head = ["command", *(part for size in sizes for part in (count(size), "÷ numpy"))]
    rows = []
    for name in names:
        row = [f"`{name}`" if name.startswith(("python", "clsm", "OPENBLAS")) else name]
        for size in sizes.values():
            cost = size[name]
            row += [f"{cost['cpu_ms'][1]:.0f}", shown(cost["by_numpy"])]
        rows.append(row)
    mean = ["**recall, mean of the kinds of query**"]
    for size in sizes:
        time, ratio = figures["recall_ms"][size][1], figures["recall_by_numpy"][size]
        mean += [f"**{time:.0f}**", f"**{shown(ratio)}**"]
    return table(head, [*rows, mean])


def growth(figures: dict[str, Any]) -> str:
    """How the time of a recall grows with the memory."""
    rows = []
    for name, ratio in figures["growth"].items():
        large, small = name.split(" / ")
        rows.append([f"{count(large)} ÷ {count(small)} passages", shown(ratio)])
    return table(["recall, mean of the kinds of query", "ratio"], rows)


def wall(figures: dict[str, Any]) -> str:
    """Wall time and peak memory."""
    sizes = figures["sizes"]
    names = ["python -c pass", NUMPY, "recall, question", "recall, words only (no model)"]
    head = ["command", *(part for size in sizes for part in (f"{count(size)}: ms", "MB"))]
    rows = []
    for name in names:
        row = [f"`{name}`" if name.startswith("python") else name]
        for size in sizes.values():
            row += [shown(size[name]["wall_ms"], 0), f"{size[name]['peak_mb']:.0f}"]
        rows.append(row)
    return table(head, rows)


def stages(figures: dict[str, Any]) -> str:
    """CPU milliseconds of each stage at each size."""
    by_size = figures["stages"]
    labels = list(dict.fromkeys(label for found in by_size.values() for label in found))
    labels.sort(key=lambda label: (label != "interpreter start", label == "exit"))
    rows = [
        [label, *(f"{1000 * found.get(label, 0):.1f}" for found in by_size.values())]
        for label in labels
    ]
    sums = [f"**{1000 * sum(found.values()):.1f}**" for found in by_size.values()]
    return table(["stage", *map(count, by_size)], [*rows, ["**sum**", *sums]])


def indexing(figures: dict[str, Any]) -> str:
    """What taking in costs."""
    sizes = figures["sizes"]
    lines: dict[str, Callable[[dict[str, Any]], str]] = {
        "source files": lambda size: count(size["files"]),
        "text, kB": lambda size: count(size["text_bytes"] // 1000),
        "passages per CPU second": lambda size: f"{size['passages'] / size['cpu']:.0f}",
        "CPU seconds": lambda size: f"{size['cpu']:.1f}",
        "wall seconds": lambda size: f"{size['wall']:.1f}",
        "peak memory, MB": lambda size: f"{size['peak']:.0f}",
        "files of the store": lambda size: count(size["bytes"]["memory files"]),
    }
    rows = [[name, *map(show, sizes.values())] for name, show in lines.items()]
    return table(["passages", *map(count, sizes)], rows)


def on_disk(figures: dict[str, Any]) -> str:
    """Bytes of every part by bytes of text."""
    sizes = figures["sizes"]
    names = list(dict.fromkeys(name for size in sizes.values() for name in size["bytes"]))

    def shares(name: str) -> list[str]:
        return [f"{s['bytes'].get(name, 0) / s['text_bytes']:.2f}" for s in sizes.values()]

    rows = [[name, *shares(name)] for name in names if not name.startswith("memory")]
    rows.append(["**index, sum**", *(f"**{_index(size):.2f}**" for size in sizes.values())])
    rows.append(["the memory itself", *shares("memory")])
    return table(["part", *map(count, sizes)], rows)


def consolidation(figures: dict[str, Any]) -> str:
    """What a night costs, beside what it cannot do without."""
    pending, weighing = figures["pending"], figures["weighing"]
    graph = f"{count(weighing['nodes'])} nodes, {count(weighing['edges'])} edges"
    named = {
        f"{count(pending['passages'])} pending passages ÷ embedding them": pending,
        f"nothing pending, {graph} ÷ reading their shards": weighing,
    }
    rows = []
    for name, each in named.items():
        seconds = (f"{each['cpu'][1]:.2f}", f"{each['reference'][1]:.2f}")
        limits = (f"≤ {each['target']:g}", f"{each['peak']:.0f}")
        rows.append([name, *seconds, shown(each["ratio"]), *limits])
    return table(["consolidating", "CPU s", "reference s", "ratio", "target", "peak MB"], rows)


def render(results: dict[str, dict[str, Any]]) -> str:
    """The document from the kept figures of each benchmark."""
    cold, taking_in = results["cold_start"], results["indexing"]
    floor = max(float(size["python -c pass"]["peak_mb"]) for size in cold["sizes"].values())
    parts = {
        "machines": machines(results),
        "targets": targets(cold, taking_in),
        "rounds": str(cold["rounds"]),
        "floor": f"{floor:.0f}",
        "queries": "\n".join(f"- {kind}: *{text}*" for kind, text in cold["queries"].items()),
        "cold_start": cold_start(cold),
        "growth": growth(cold),
        "wall": wall(cold),
        "stages": stages(cold),
        "indexing": indexing(taking_in),
        "on_disk": on_disk(taking_in),
        "consolidation": consolidation(results["consolidation"]),
    }
    parts |= {name: "\n".join(results[name]["lines"]) for name in PRINTED}
    return TEMPLATE.read_text(encoding="utf-8").format(**parts)


TEMPLATE = Path(__file__).with_name("performance.template.md")
PRINTED = ("during", "capture", "embedding", "shards")
NAMES = ("cold_start", "indexing", "consolidation", *PRINTED)


def main() -> None:
    """Write the document."""
    DOCUMENT.write_text(render({name: load(name) for name in NAMES}), encoding="utf-8")


if __name__ == "__main__":
    main()
