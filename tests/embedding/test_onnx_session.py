from __future__ import annotations

import os
import subprocess
import sys
from array import array
from importlib.metadata import distribution
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest

from clsm_cli.embedding.onnx_capi import NativeSession
from clsm_cli.embedding.onnx_session import (
    OnnxruntimeError,
    PortableSession,
    Session,
    Tensor,
    config_entries,
    open_session,
)

ROOT = Path(__file__).parents[2]
GRAPHS = ROOT / "clsm_cli" / "embedding"
MODEL = (GRAPHS / "minilm.onnx").read_bytes()
SIMILARITY = (GRAPHS / "similarity.onnx").read_bytes()
PACKAGE = Path(str(distribution("onnxruntime").locate_file("onnxruntime")))
# Sessions are opened here without open_session, which sees to it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def _ids(*ids: int) -> dict[str, Tensor]:
    row = array("i", ids)
    mask = array("i", [1] * len(ids))
    return {
        "input_ids": Tensor("i", (1, len(ids)), row),
        "attention_mask": Tensor("i", (1, len(ids)), mask),
    }


def _products(rows: object, count: int, width: int) -> dict[str, Tensor]:
    """Half the sum of the low four bits of each row."""
    none = Tensor("f", (1, width), array("f", bytes(4 * width)))
    return {
        "rows": Tensor("B", (count, width), rows),  # type: ignore[arg-type]
        "first.high": none,
        "first.low": Tensor("f", (1, width), array("f", [1.0] * width)),
        "second.high": none,
        "second.low": none,
        "offset": Tensor("f", (1, 1), array("f", [0.0])),
        "step": Tensor("f", (1, 1), array("f", [0.5])),
        "blocks": Tensor("q", (3,), array("q", [0, -1, 1])),
    }


@pytest.fixture(scope="module", params=[NativeSession, PortableSession])
def products(request: pytest.FixtureRequest) -> Session:
    session: Session = request.param(SIMILARITY, config_entries(None))
    return session


def test_the_c_api_is_used_here(model_folder: Path) -> None:
    assert open_session(MODEL, model_folder).route == "C API"


def test_both_routes_give_the_same_vectors(model_folder: Path) -> None:
    found = []
    for kind in (NativeSession, PortableSession):
        session = kind(MODEL, config_entries(model_folder))
        found.append(session.run(_ids(101, 7592, 2088, 102), ["tokens", "sentence"]))
    for one, other in zip(*found, strict=True):
        assert (one.kind, one.shape) == (other.kind, other.shape)
        ours, theirs = memoryview(one.data), memoryview(other.data)
        assert ours.format == theirs.format == "f"
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 1e-6
    assert found[0][0].shape[:2] == (1, 4)
    assert found[0][1].shape == (1, 384)


def test_a_file_mapped_to_be_read(products: Session, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(bytes(range(100)))
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        (found,) = products.run(_products(mapped, 50, 2), ["products"])
        part = memoryview(mapped)[40:60]
        (tail,) = products.run(_products(part, 10, 2), ["products"])
        part.release()
    # Both are closed now, which a buffer that is still held would prevent.
    assert memoryview(tail.data).tolist() == memoryview(found.data).tolist()[20:30]


def test_an_output_outlives_the_session() -> None:
    session = NativeSession(SIMILARITY, {})
    (found,) = session.run(_products(b"\x01\x02", 1, 2), ["products"])
    session.run(_products(b"\x07\x07", 1, 2), ["products"])
    del session
    assert memoryview(found.data).tolist() == [1.5]


def test_what_is_not_the_graphs_is_refused(products: Session) -> None:
    good = _products(b"\x01\x02", 1, 2)
    bad: list[tuple[dict[str, Tensor], str]] = [
        ({**good, "rows": good["offset"]}, "products"),
        ({**good, "rows": Tensor("B", (2, 2), b"\x01\x02")}, "products"),
        ({**good, "rows": Tensor("B", (1, 1), b"\x01\x02")}, "products"),
        ({**good, "more": good["step"]}, "products"),
        (good, "nothing"),
    ]
    for feeds, output in bad:
        with pytest.raises(OnnxruntimeError):
            products.run(feeds, [output])
    products.run(good, ["products"])


@pytest.mark.parametrize("kind", [NativeSession, PortableSession])
def test_a_damaged_graph_and_missing_weights(kind: type, tmp_path: Path) -> None:
    with pytest.raises(OnnxruntimeError):
        kind(b"no graph", config_entries(None))
    with pytest.raises(OnnxruntimeError, match=r"model\.safetensors"):
        kind(MODEL, config_entries(tmp_path))


def test_nothing_leaks() -> None:
    code = (
        "import resource\n"
        "from clsm_cli.embedding.onnx_capi import NativeSession\n"
        "from test_onnx_session import SIMILARITY, _products\n"
        "rows = bytes(1000 * 100)\n"
        "def work(n):\n"
        "    for _ in range(n):\n"
        "        session = NativeSession(SIMILARITY, {})\n"
        "        for _ in range(10): session.run(_products(rows, 1000, 100), ['products'])\n"
        "        try: session.run({}, ['products'])\n"
        "        except RuntimeError: pass\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = work(20)\n"
        "print(work(200) - before)\n"
    )
    # 200 sessions and 2,000 outputs of 4 kB, and as many values and descriptions.
    assert int(_python(code, {})) < 2000


def _python(code: str, more: dict[str, str]) -> str:
    path = os.pathsep.join([*more.get("PYTHONPATH", "").split(os.pathsep), str(ROOT)])
    env = {**os.environ, **more, "PYTHONPATH": f"{path}{os.pathsep}{Path(__file__).parent}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


_ROUTE = (
    "import sys\nfrom pathlib import Path\n"
    "from clsm_cli.embedding.query_vectors import QueryEncoder\n"
    "encoder = QueryEncoder.open(Path({folder!r}))\n"
    "print(encoder.route, len(encoder.encode('Hello world').tokens), 'numpy' in sys.modules)\n"
)


def _without_library(folder: Path) -> Path:
    """The installed onnxruntime by links, but for the library that ctypes loads."""
    (folder / "onnxruntime" / "capi").mkdir(parents=True)
    for entry in (*PACKAGE.iterdir(), *(PACKAGE / "capi").iterdir()):
        is_library = entry.name.startswith(("libonnxruntime.", "onnxruntime.dll"))
        if entry.name != "capi" and not is_library:
            (folder / "onnxruntime" / entry.relative_to(PACKAGE)).symlink_to(entry)
    return folder


def test_neither_numpy_nor_the_package_is_loaded(model_folder: Path) -> None:
    code = _ROUTE.format(folder=str(model_folder))
    code += "print({'onnxruntime', 'tokenizers', 'numpy'} & set(sys.modules))\n"
    assert _python(code, {}) == "C API 2 False\nset()\n"


@pytest.mark.parametrize("library", [None, b"", b"no library", b"\x7fELF" + bytes(100)])
def test_without_the_library_the_package_does_it(
    model_folder: Path, tmp_path: Path, library: bytes | None
) -> None:
    path = _without_library(tmp_path)
    if library is not None:
        (path / "onnxruntime" / "capi" / "libonnxruntime.so.1").write_bytes(library)
    code = _ROUTE.format(folder=str(model_folder))
    assert _python(code, {"PYTHONPATH": str(path)}) == "Python API 2 True\n"


def test_a_library_without_the_function(model_folder: Path, tmp_path: Path) -> None:
    path = _without_library(tmp_path)
    # Any shared library: this one is the package's own, which hides the C API.
    (other,) = (PACKAGE / "capi").glob("*providers_shared*")
    (path / "onnxruntime" / "capi" / "libonnxruntime.so.1").symlink_to(other)
    code = _ROUTE.format(folder=str(model_folder))
    assert _python(code, {"PYTHONPATH": str(path)}) == "Python API 2 True\n"


def test_no_telemetry_is_written(model_folder: Path, tmp_path: Path) -> None:
    more = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    more["CLSM_MODEL_DIR"] = str(model_folder)
    _python(_ROUTE.format(folder=str(model_folder)), more)
    assert list(tmp_path.iterdir()) == []
