"""The same session on the onnxruntime Python package, for where its C API cannot be loaded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from clsm_cli.embedding.runtime import OnnxruntimeError, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clsm_cli.embedding.runtime import Kind

_KINDS: dict[str, Kind] = {"float32": "f", "int32": "i", "uint8": "B", "int64": "q"}
"""Kind of a tensor by numpy's name for it; its type characters differ between systems."""


class PortableSession:
    """A graph opened through Python; see :class:`clsm_cli.embedding.runtime.Session`."""

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
        """Run the graph; see :meth:`clsm_cli.embedding.runtime.Session.run`."""
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
