"""Run an ONNX graph on the CPU, with the fewest imports that will do.

Tensors go in and come out as plain buffers: no caller needs numpy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Literal, TypeAlias

    from _typeshed import ReadableBuffer

    Kind: TypeAlias = Literal["f", "B", "i", "q"]


class Tensor(NamedTuple):
    """Numbers in row-major order.

    Attributes:
        kind: Their type, as ``array`` names it: ``f`` float32, ``i`` int32, ``B`` uint8,
            ``q`` int64.
        shape: Sizes of the dimensions.
        data: The numbers, C-contiguous. What a session gives back is a flat memoryview of
            ``kind``, which stays valid as long as it is referenced.
    """

    kind: Kind
    shape: tuple[int, ...]
    data: ReadableBuffer


class OnnxruntimeError(RuntimeError):
    """onnxruntime refused a graph or its inputs: a fault of the program, not of its user."""


class Session(Protocol):
    """A graph that is ready to run.

    Attributes:
        route: Which interface of onnxruntime it uses: ``C API`` or ``Python API``.
    """

    route: str

    def run(self, feeds: Mapping[str, Tensor], outputs: Sequence[str]) -> list[Tensor]:
        """Run the graph in this thread; several threads may run one session.

        Args:
            feeds: Every input of the graph by name. Buffers are read in place.
            outputs: Names of the outputs that are wanted.

        Returns:
            The outputs, in that order.

        Raises:
            OnnxruntimeError: A name, type or shape is not the graph's.
        """
        ...


def open_session(graph: bytes, folder: Path | None = None) -> Session:
    """Open a graph to run it a few times: cheap to open, on one thread.

    The C API is tried first; it needs neither numpy nor the Python package, whose import costs
    more than opening the model and embedding a query. Where it cannot be loaded the Python package
    runs the same graph with the same options.

    Args:
        graph: A serialised ONNX model.
        folder: Where the files lie that the graph takes its weights from; None if it names none.

    Raises:
        OnnxruntimeError: The graph is not valid or its weights cannot be read.
    """
    # Read when the library loads: onnxruntime >= 1.29 would write telemetry files under
    # ~/.cache/Microsoft.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    entries = config_entries(folder)
    from clsm_cli.embedding import native

    try:
        return native.NativeSession(graph, entries)
    except native.UnavailableError:
        from clsm_cli.embedding import portable

        return portable.PortableSession(graph, entries)


def config_entries(folder: Path | None) -> dict[str, str]:
    """Session options that onnxruntime takes as text.

    Weights stay where the file is mapped: copying them into the order in which the matrix product
    reads them takes 30 ms, which pays only after several runs. The folder is resolved because
    onnxruntime >= 1.24 refuses weights that a link leads out of it.
    """
    entries = {"session.disable_prepacking": "1"}
    if folder is not None:
        entries["session.model_external_initializers_file_folder_path"] = os.path.realpath(folder)
    return entries
