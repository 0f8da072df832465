import io
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.representer import SafeRepresenter
from strategies import examples, records
from tables import mapping

from clsm_cli.model.codec import Record, encode
from clsm_cli.model.graph import Node
from clsm_cli.store import atomic, shards

PATH = Path("a.yaml")
MARA = '- {"id": "mara", "record": "node", "rev": [1, "pi"], "label": "Mara"}\n'
BRIAN = '- {"id": "brian", "record": "node", "rev": [1, "pi"], "label": "Brian"}\n'


def node(name: str, rev: int = 1, **values: Any) -> Node:
    return Node(id=name, rev=(rev, "pi"), **values)


def ids(shard: shards.Shard) -> list[str]:
    return [record.id for record in shard.records]


def problems(shard: shards.Shard | shards.Graph) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.reason) for problem in shard.problems]


def parse(text: str) -> shards.Shard:
    return shards.parse(text.encode(), PATH)


unique = st.lists(records(), max_size=6, unique_by=lambda record: record.id)


@examples(200)
@given(unique)
def test_what_is_rendered_reads_back(found: list[Record]) -> None:
    data = shards.render(found)
    shard = shards.parse(data, PATH)
    assert shard.problems == ()
    assert list(shard.records) == sorted(found, key=lambda record: record.id)
    assert shards.render(shard.records) == data
    assert shard.sha256 == atomic.sha256(data)


@examples(100)
@given(unique)
def test_any_yaml_reader_reads_a_shard_to_the_same_values(found: list[Record]) -> None:
    data = shards.render(found).decode()
    values = [encode(record) for record in sorted(found, key=lambda record: record.id)]
    for loads in (YAML(typ="safe", pure=True).load, pytest.importorskip("yaml").safe_load):
        assert (loads(data) or []) == values


def test_a_shard_is_two_comments_then_sorted_lines() -> None:
    text = shards.render([node("mara", label="Mara"), node("brian", label="Brian")]).decode()
    assert text == shards.HEADER + BRIAN + MARA
    assert shards.render([]).decode() == shards.HEADER
    assert shards.HEADER.count("\n") == shards.HEADER.count("# ") == 2


def dump_block(value: Any) -> str:
    """A value as a person would rewrite it: YAML in block style."""

    class Escaping(SafeRepresenter):
        """Quotes what YAML would fold or drop: control characters, other line ends."""

        def represent_str(self, data: Any) -> Any:
            style = '"' if not data.isprintable() else None
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Escaping.add_representer(str, Escaping.represent_str)
    out = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Escaping
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # keeps our key order
    yaml.dump(value, out)
    return out.getvalue()


@examples(60)
@given(unique)
def test_block_style_by_hand_is_read_alike(found: list[Record]) -> None:
    block = dump_block([encode(record) for record in found])
    shard = shards.parse(block.encode(), PATH)
    assert (shard.problems, list(shard.records)) == ((), found)


def test_small_slips_of_a_person_are_read() -> None:
    shard = parse('- {"id": "mara", record: node, "rev": [1, "pi"],}\n')
    assert (ids(shard), shard.problems) == (["mara"], ())
    windows = parse("\ufeff" + (shards.HEADER + MARA).replace("\n", "\r\n"))
    assert (ids(windows), windows.problems) == (["mara"], ())


def test_conflict_markers_are_reported_and_both_sides_are_read() -> None:
    shard = parse(f"{shards.HEADER}<<<<<<< HEAD\n{BRIAN}=======\n{MARA}>>>>>>> theirs\n")
    assert ids(shard) == ["brian", "mara"]
    reason = "is a git conflict marker (both sides were read)"
    assert problems(shard) == [(3, reason), (5, reason), (7, reason)]
    block = parse("<<<<<<< HEAD\n- id: a\n  record: node\n  rev: [1, pi]\n=======\n" + MARA)
    assert ids(block) == ["a", "mara"]


BAD = {
    **mapping(__file__, "bad lines"),
    "- {a: " * 99: "nested deeper",
    "\x00\x01": "is not JSON",
}  # fmt: skip


@pytest.mark.parametrize("bad", [*BAD])
def test_a_bad_line_costs_only_itself(bad: str) -> None:
    shard = parse(f"{shards.HEADER}{BRIAN}{bad}\n{MARA}")
    assert ids(shard) == ["brian", "mara"]
    assert [line for line, _ in problems(shard)] == [4]
    assert BAD[bad] in shard.problems[0].reason
    assert shard.problems[0].text.strip() == bad.strip()
    assert (shard.problems[0].path, shard.problems[0].line) == (PATH, 4)


def test_bytes_that_are_no_utf8_are_replaced_and_reported() -> None:
    data = (shards.HEADER + BRIAN + MARA).encode().replace(b"Mara", b"M\xff")
    shard = shards.parse(data, PATH)
    assert ids(shard) == ["brian", "mara"]
    assert problems(shard) == [(4, "is not UTF-8 (bad bytes were replaced)")]


def write(folder: Path, changes: list[Record], limit: int = 2000) -> list[str]:
    plan = shards.plan_update(folder, changes, limit)
    before_them = shards.load_graph([folder]).records
    for path, (data, before) in plan.items():
        atomic.put(path, data, read_as=before.sha256)
        there = shards.load_graph([folder]).records  # as after a crash here
        assert before_them.keys() <= there.keys()
    return sorted(path.name for path in plan)


def test_an_update_replaces_and_keeps_the_others(tmp_path: Path) -> None:
    many: list[Record] = [node(f"n-{i}", label=str(i)) for i in range(40)]
    assert len(write(tmp_path, many)) > 10
    changed = node("n-7", 2, label="seven")
    assert write(tmp_path, [changed]) == [shards.shard_name("n-7", 1)]
    graph = shards.load_graph([tmp_path])
    assert graph.problems == ()
    assert graph.records == {r.id: r for r in many} | {"n-7": changed}
    assert write(tmp_path, [changed]) == []
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_duplicate_lines_are_joined_by_an_update_of_their_shard(tmp_path: Path) -> None:
    path = tmp_path / shards.shard_name("mara", 1)
    atomic.put(path, (MARA + MARA.replace("[1,", "[2,").replace('"Mara"', '"M."')).encode())
    neighbour = next(f"n-{i}" for i in range(99) if shards.shard_name(f"n-{i}", 1) == path.name)
    write(tmp_path, [node(neighbour)])
    assert path.read_text().count('"mara"') == 1
    assert '"M."' in path.read_text()


def test_lines_that_cannot_be_read_come_with_the_plan(tmp_path: Path) -> None:
    path = tmp_path / shards.shard_name("mara", 1)
    atomic.put(path, (MARA + "- {torn\n").encode())
    ((data, before),) = shards.plan_update(tmp_path, [node("mara", 2)]).values()
    assert b"torn" not in data
    assert [(p.line, p.text) for p in before.problems] == [(2, "- {torn")]


def test_a_shard_is_split_when_it_grows_and_both_names_are_read(tmp_path: Path) -> None:
    rng = random.Random(3)
    members = [f"n-{i}" for i in range(3000) if shards.shard_name(f"n-{i}", 1) == "c.yaml"]
    small, rest = members[:50], members[50:120]
    write(tmp_path, [node(i) for i in small], 60)
    assert [path.name for path in tmp_path.iterdir()] == ["c.yaml"]
    old_clone = (tmp_path / "c.yaml").read_text()
    written = write(tmp_path, [node(i) for i in rest], 60)
    assert len(written) > 8
    assert (tmp_path / "c.yaml").read_text() == shards.HEADER
    for path in tmp_path.iterdir():
        for record in shards.read(path).records:
            assert path.name == shards.shard_name(record.id, 2)
    # A clone that has not heard of the split adds to the one-digit file; git keeps its lines.
    late = members[130]
    edited = node(small[0], 5, label="late")
    atomic.put(tmp_path / "c.yaml", old_clone.encode() + shards.render([node(late), edited]))
    graph = shards.load_graph([tmp_path])
    assert graph.records.keys() == {*small, *rest, late}
    assert graph.records[small[0]] == edited
    write(tmp_path, [node(rng.choice(rest), 9)], 60)
    assert (tmp_path / "c.yaml").read_text() == shards.HEADER
    assert shards.load_graph([tmp_path]).records.keys() == graph.records.keys()
    assert shards.load_graph([tmp_path]).records[small[0]] == edited


def test_few_but_large_records_split_a_shard_before_it_is_too_large_to_read(tmp_path: Path) -> None:
    members = [f"n-{i}" for i in range(3000) if shards.shard_name(f"n-{i}", 1) == "c.yaml"][:10]
    write(tmp_path, [node(i, summary="x" * 900_000) for i in members])
    assert shards.load_graph([tmp_path]).records.keys() == {*members}
    assert shards.load_graph([tmp_path]).problems == ()


def test_only_shards_are_read_and_strange_files_are_problems(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    write(folder, [node("mara")])
    for name in (".tmp-a.yaml", "a.yaml~", "abc.yaml", "notes.md", "A.yaml"):
        (folder / name).write_text(BRIAN)
    (tmp_path / "target").write_text(BRIAN)
    (folder / "b.yaml").symlink_to(tmp_path / "target")
    (folder / "d.yaml").mkdir()
    (folder / "e.yaml").write_bytes(b"#" * ((8 << 20) + 1))
    graph = shards.load_graph([folder, tmp_path / "missing"])
    assert [*graph.records] == ["mara"]
    assert problems(graph) == [
        (None, "is a symbolic link"),
        (None, "is not a regular file"),
        (None, "is larger than 8 MiB"),
    ]
