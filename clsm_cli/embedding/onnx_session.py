"""Run an ONNX graph on the CPU through onnxruntime's C API, called with ctypes.

The library of the wheel loads in 10 ms of CPU; the Python package on top of it, with numpy, takes
100 ms. Tensors are plain buffers. Everything here mirrors ``onnxruntime_c_api.h``: ``OrtApi`` is a table
of function pointers, functions return a status that is null on success, and ``Release`` functions free
what ``Create`` functions made.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from contextlib import ExitStack
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from importlib.machinery import PathFinder
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from _typeshed import ReadableBuffer

    Kind: TypeAlias = Literal["f", "B", "b", "i", "q"]

_VERSION = 23  # of the function table: that of onnxruntime 1.23, the oldest supported

_OUT = POINTER(c_void_p)
_CALLS: dict[str, tuple[int, tuple[Any, ...]]] = {
    "CreateEnv": (3, (c_int, c_char_p, _OUT)),
    "CreateSessionFromArray": (8, (c_void_p, c_char_p, c_size_t, c_void_p, _OUT)),
    "Run": (
        9,
        (c_void_p, c_void_p, POINTER(c_char_p), _OUT, c_size_t, POINTER(c_char_p), c_size_t, _OUT),
    ),
    "CreateSessionOptions": (10, (_OUT,)),
    "DisableMemPattern": (17, (c_void_p,)),
    "DisableCpuMemArena": (19, (c_void_p,)),
    "SetSessionLogSeverityLevel": (22, (c_void_p, c_int)),
    "SetSessionGraphOptimizationLevel": (23, (c_void_p, c_int)),
    "SetIntraOpNumThreads": (24, (c_void_p, c_int)),
    "SetInterOpNumThreads": (25, (c_void_p, c_int)),
    "CreateTensorWithDataAsOrtValue": (
        49,
        (c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_size_t, c_int, _OUT),
    ),
    "GetTensorMutableData": (51, (c_void_p, _OUT)),
    "GetTensorElementType": (60, (c_void_p, POINTER(c_int))),
    "GetDimensionsCount": (61, (c_void_p, POINTER(c_size_t))),
    "GetDimensions": (62, (c_void_p, POINTER(c_int64), c_size_t)),
    "GetTensorTypeAndShape": (65, (c_void_p, _OUT)),
    "CreateCpuMemoryInfo": (69, (c_int, c_int, _OUT)),
    "AddSessionConfigEntry": (130, (c_void_p, c_char_p, c_char_p)),
}
"""Index in the table and argument types of the functions that return a status.

The table only ever grows at the end, so an index stays valid for every later onnxruntime.
"""
_ERROR_MESSAGE = 2
_RELEASE = {
    "Status": 93,
    "Session": 95,
    "Value": 96,
    "TensorTypeAndShapeInfo": 99,
    "SessionOptions": 100,
}
"""Index of the functions that free an object; they return nothing."""

_LOG_ERRORS = 3
_DISABLE_ALL = 0
_DEVICE_ALLOCATOR, _DEFAULT_MEMORY = 0, 0
_ELEMENT_TYPES: dict[Kind, int] = {"f": 1, "B": 2, "b": 3, "i": 6, "q": 7}
"""``ONNXTensorElementDataType`` of each kind of tensor."""
_KINDS = {number: kind for kind, number in _ELEMENT_TYPES.items()}


class Tensor(NamedTuple):
    """Numbers in row-major order.

    A session returns ``data`` as a flat memoryview of ``kind``, valid as long as it is referenced.
    """

    kind: Kind  # as ``array`` names it: f float32, i int32, B uint8, b int8, q int64
    shape: tuple[int, ...]
    data: ReadableBuffer  # C-contiguous


class OnnxruntimeError(RuntimeError):
    """onnxruntime is not installed, or refused a graph or its inputs; not the user's fault."""


class Session:
    """A loaded graph, run on one thread."""

    def __init__(
        self,
        graph: bytes,
        folder: Path | None = None,
        *,
        is_long_lived: bool = False,
    ) -> None:
        """Open a serialised ONNX model, with the folder of its external weight files if it has some.

        If it is long-lived, weights are copied once into the order in which matrix products read them,
        which takes 30 ms, and buffers are kept.

        Raises:
            OnnxruntimeError: The graph is not valid or its weights cannot be read.
        """
        # The library reads this when it loads: onnxruntime >= 1.29 would write telemetry files
        # under ~/.cache/Microsoft.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        self._session: int | None = None
        self._api = _load()
        with ExitStack() as stack:
            options = self._options(stack, folder, is_long_lived=is_long_lived)
            self._session = self._api.create(
                "SessionFromArray", self._api.environment, graph, len(graph), options
            )

    def __del__(self) -> None:
        if self._session:
            self._api.release("Session", self._session)

    def _options(self, stack: ExitStack, folder: Path | None, *, is_long_lived: bool) -> int:
        call = self._api.call
        options = self._api.create("SessionOptions")
        stack.callback(self._api.release, "SessionOptions", options)
        call("SetIntraOpNumThreads", options, 1)
        call("SetInterOpNumThreads", options, 1)
        call("SetSessionGraphOptimizationLevel", options, _DISABLE_ALL)
        call("SetSessionLogSeverityLevel", options, _LOG_ERRORS)
        call("DisableMemPattern", options)
        if not is_long_lived:
            call("DisableCpuMemArena", options)
            call("AddSessionConfigEntry", options, b"session.disable_prepacking", b"1")
        if folder is not None:
            key = b"session.model_external_initializers_file_folder_path"
            # Resolved: onnxruntime >= 1.24 refuses weights if a link leads out of the folder.
            call("AddSessionConfigEntry", options, key, os.fsencode(os.path.realpath(folder)))
        return options

    def run(self, feeds: Mapping[str, Tensor], outputs: Sequence[str]) -> list[Tensor]:
        """Run the graph in this thread; several threads may run one session, which reads buffers in place.

        Raises:
            OnnxruntimeError: A name, type or shape is not the graph's.
        """
        with ExitStack() as stack:
            values = [self._value(stack, tensor) for tensor in feeds.values()]
            given = (c_void_p * len(values))(*values)
            # Null pointers: onnxruntime allocates the outputs, since it knows their shapes.
            found = (c_void_p * len(outputs))()
            names = _strings(feeds), given, len(values), _strings(outputs), len(outputs), found
            self._api.call("Run", self._session, None, *names)
            for value in found:
                stack.callback(self._api.release, "Value", value)
            return [self._copy(value) for value in found]

    def _value(self, stack: ExitStack, tensor: Tensor) -> int:
        """Wrap a buffer as an OrtValue without copying it; both live until the stack unwinds."""
        view = _hold_buffer(stack, tensor.data)
        if view.size != _byte_size(tensor.kind, tensor.shape):
            raise OnnxruntimeError(f"{view.size} bytes are no tensor {tensor[:2]}")
        shape = (c_int64 * len(tensor.shape))(*tensor.shape)
        kind = _ELEMENT_TYPES[tensor.kind]
        where = self._api.memory, view.address, view.size, shape, len(shape), kind
        value = self._api.create("TensorWithDataAsOrtValue", *where)
        stack.callback(self._api.release, "Value", value)
        return value

    def _copy(self, value: int | None) -> Tensor:
        call = self._api.call
        number, dimensions, data = c_int(), c_size_t(), c_void_p()
        with ExitStack() as stack:
            info = c_void_p()
            call("GetTensorTypeAndShape", value, byref(info))
            stack.callback(self._api.release, "TensorTypeAndShapeInfo", info)
            call("GetTensorElementType", info, byref(number))
            call("GetDimensionsCount", info, byref(dimensions))
            sizes = (c_int64 * dimensions.value)()
            call("GetDimensions", info, sizes, dimensions)
        call("GetTensorMutableData", value, byref(data))
        kind, shape = _KINDS[number.value], tuple(sizes)
        copied = ctypes.string_at(data, _byte_size(kind, shape))
        return Tensor(kind, shape, memoryview(copied).cast(kind))


def _byte_size(kind: str, shape: tuple[int, ...]) -> int:
    return struct.calcsize(kind) * prod(shape)


class _Api:
    """The functions of the table, and the two objects that all sessions share until the process ends."""

    def __init__(self, table: Any) -> None:
        give_status = CFUNCTYPE(c_void_p)  # shared: one type per function would take 0.5 ms each
        self._calls = {name: give_status(table[place]) for name, (place, _) in _CALLS.items()}
        for name, (_, arguments) in _CALLS.items():
            self._calls[name].argtypes = arguments
        free = CFUNCTYPE(None, c_void_p)
        self._free = {name: free(table[place]) for name, place in _RELEASE.items()}
        self._message = CFUNCTYPE(c_char_p, c_void_p)(table[_ERROR_MESSAGE])
        self.environment = self.create("Env", _LOG_ERRORS, b"clsm")
        self.memory = self.create("CpuMemoryInfo", _DEVICE_ALLOCATOR, _DEFAULT_MEMORY)

    def call(self, name: str, *arguments: Any) -> None:
        status = self._calls[name](*arguments)
        if status:
            message = self._message(status).decode(errors="replace")
            self.release("Status", status)
            raise OnnxruntimeError(message)

    def create(self, name: str, *arguments: Any) -> int:
        """Call a ``Create`` function; return the address that it writes to its last argument."""
        made = c_void_p()
        self.call(f"Create{name}", *arguments, byref(made))
        assert made.value is not None
        return made.value

    def release(self, name: str, address: Any) -> None:
        self._free[name](address)


@cache
def _load() -> _Api:
    try:
        library = ctypes.CDLL(_library())
        library.OrtGetApiBase.restype = POINTER(c_void_p)
        # OrtApiBase is two function pointers: GetApi and GetVersionString.
        get_api = CFUNCTYPE(POINTER(c_void_p), c_int)(library.OrtGetApiBase()[0])
    except (OSError, AttributeError) as error:
        raise OnnxruntimeError(str(error)) from error
    table = get_api(_VERSION)
    if not table:
        raise OnnxruntimeError(f"onnxruntime is older than 1.{_VERSION}")
    return _Api(table)


def _library() -> str:
    """Find the library in the wheel, or where conda installs it, without importing the package.

    Its name is ``libonnxruntime.so.<version>`` on Linux, ``libonnxruntime.<version>.dylib`` on macOS
    and ``onnxruntime.dll`` on Windows.
    """
    package = PathFinder.find_spec("onnxruntime")
    if package is None or not package.submodule_search_locations:
        raise OnnxruntimeError("onnxruntime is not installed")
    wheel = os.path.join(package.submodule_search_locations[0], "capi")
    for folder in (wheel, os.path.join(sys.prefix, "lib")):
        for name in sorted(os.listdir(folder)):
            if name.startswith("libonnxruntime.") or name == "onnxruntime.dll":
                return os.path.join(folder, name)
    raise OnnxruntimeError(f"there is no onnxruntime library in {wheel}")


class _Buffer(ctypes.Structure):
    """CPython's ``Py_buffer``, part of its stable ABI.

    ctypes itself gives the address of writable buffers only; a file mapped for reading is not writable.
    """

    _fields_ = (
        ("address", c_void_p),
        ("owner", ctypes.py_object),
        ("size", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    )


def _hold_buffer(stack: ExitStack, data: ReadableBuffer) -> _Buffer:
    """Get the address and size of a C-contiguous buffer, pinned until the stack unwinds.

    Raises:
        BufferError: It is not contiguous.
    """
    view = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(data), byref(view), 0)
    stack.callback(ctypes.pythonapi.PyBuffer_Release, byref(view))
    return view


def _strings(names: Iterable[str]) -> ctypes.Array[c_char_p]:
    """Names as ``char *[]``; the array keeps their bytes alive."""
    encoded = [name.encode() for name in names]
    return (c_char_p * len(encoded))(*encoded)
