import os
import subprocess
import sys
from array import array
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest

from clsm_cli.embedding.onnx_session import OnnxruntimeError, Session, Tensor

ROOT = Path(__file__).parents[2]
GRAPHS = ROOT / "clsm_cli" / "embedding"
MODEL = (GRAPHS / "minilm.onnx").read_bytes()
SIMILARITY = (GRAPHS / "similarity.onnx").read_bytes()


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


@pytest.fixture(scope="module")
def products() -> Session:
    return Session(SIMILARITY)


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
    session = Session(SIMILARITY)
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


def test_a_damaged_graph_and_missing_weights(tmp_path: Path) -> None:
    with pytest.raises(OnnxruntimeError):
        Session(b"no graph")
    with pytest.raises(OnnxruntimeError, match=r"model\.safetensors"):
        Session(MODEL, tmp_path)


def test_nothing_leaks() -> None:
    code = (
        "import resource\n"
        "from clsm_cli.embedding.onnx_session import Session\n"
        "from test_onnx_session import SIMILARITY, _products\n"
        "rows = bytes(1000 * 100)\n"
        "def work(n):\n"
        "    for _ in range(n):\n"
        "        session = Session(SIMILARITY)\n"
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
    "print(len(encoder.encode('Hello world').tokens), 'numpy' in sys.modules)\n"
)


def test_neither_numpy_nor_the_package_is_loaded(model_folder: Path) -> None:
    code = _ROUTE.format(folder=str(model_folder))
    code += "print({'onnxruntime', 'tokenizers', 'numpy'} & set(sys.modules))\n"
    assert _python(code, {}) == "2 False\nset()\n"


@pytest.mark.parametrize("library", [None, b"", b"\x7fELF" + bytes(100)])
def test_what_is_wrong_with_the_library_is_said(tmp_path: Path, library: bytes | None) -> None:
    folder = tmp_path / "onnxruntime" / "capi"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    if library is not None:
        (folder / "libonnxruntime.so.1").write_bytes(library)
    code = "from clsm_cli.embedding.onnx_session import *\nimport sys\n"
    code += (
        "try: Session(b'')\nexcept OnnxruntimeError as error: print('libonnxruntime' in str(error))"
    )
    told = _python(code, {"PYTHONPATH": str(tmp_path)})
    assert told == ("False\n" if library is None else "True\n")


def test_no_telemetry_is_written(model_folder: Path, tmp_path: Path) -> None:
    more = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    more["CLSM_MODEL_DIR"] = str(model_folder)
    _python(_ROUTE.format(folder=str(model_folder)), more)
    assert list(tmp_path.iterdir()) == []
