"""Run an ONNX graph on the CPU with few imports: through onnxruntime's C API, else its Python package.

Tensors go in and come out as plain buffers: no caller needs numpy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Literal, TypeAlias

    from _typeshed import ReadableBuffer

    Kind: TypeAlias = Literal["f", "B", "i", "q"]
    from numpy.typing import NDArray


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
    from clsm_cli.embedding import onnx_capi

    try:
        return onnx_capi.NativeSession(graph, entries)
    except onnx_capi.UnavailableError:
        return PortableSession(graph, entries)


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


_KINDS: dict[str, Kind] = {"float32": "f", "int32": "i", "uint8": "B", "int64": "q"}
"""Kind of a tensor by numpy's name for it; its type characters differ between systems."""


class PortableSession:
    """A graph opened through Python; see :class:`clsm_cli.embedding.onnx_session.Session`."""

    route = "Python API"

    def __init__(self, graph: bytes, entries: Mapping[str, str]) -> None:
        """Open a graph on one thread.

        Args:
            graph: A serialised ONNX model.
            entries: Session options that onnxruntime takes as text.

        Raises:
            OnnxruntimeError: The graph is not valid or its weights cannot be read.
        """
        # Read when numpy loads: OpenBLAS would start a thread a core, 40 ms of CPU.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        for key, value in entries.items():
            options.add_session_config_entry(key, value)
        try:
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its classes have no base of their own
            raise OnnxruntimeError(str(error)) from error

    def run(self, feeds: Mapping[str, Tensor], outputs: Sequence[str]) -> list[Tensor]:
        """Run the graph; see :meth:`clsm_cli.embedding.onnx_session.Session.run`."""
        import numpy as np

        try:
            arrays = {
                name: np.frombuffer(memoryview(tensor.data), tensor.kind).reshape(tensor.shape)
                for name, tensor in feeds.items()
            }
            found = self._session.run(list(outputs), arrays)
        except Exception as error:
            raise OnnxruntimeError(str(error)) from error
        return [_tensor(array) for array in found]


def _tensor(array: NDArray[Any]) -> Tensor:
    kind = _KINDS[array.dtype.name]
    return Tensor(kind, array.shape, memoryview(array.tobytes()).cast(kind))
