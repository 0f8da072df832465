"""Build the graphs that clsm ships in ``clsm_cli/embedding``.

``minilm.onnx`` is the model. It holds no weight: each initialiser is an offset into
``model.safetensors`` as published, so onnxruntime maps the 90 MB in place instead of parsing and
copying them (session in 10 ms of CPU against 180). ``similarity.onnx`` is the exact dot product
that ``clsm_cli/embedding/similarity.py`` explains. ``build_folding`` and ``build_cross_encoder`` make the two
graphs of a head of ``clsm_cli/heads/cross_encoder.py`` from the adapters of ``scripts/cross_encoder.py``: one
computes the head's int8 weights once for a machine, the other reads with them.

The same checkpoint gives the same bytes; ``tests/embedding`` rebuilds and compares.

Run: ``python scripts/build_graph.py [model.safetensors]`` (needs ``onnx``, the dev extra).

Source: BERT encoder (Devlin et al. 2019) with the sizes of
https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 and its pooling (mean, then L2).
"""

from __future__ import annotations

import argparse
import json
import math
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import GRAPH
from clsm_cli.embedding.weights import WEIGHTS
from clsm_cli.heads.cross_encoder import folded_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LAYERS = 6
HEADS = 12
WIDTH = 384
"""Size of a token vector, and of the sentence vector."""
EPSILON = 1e-12
"""Added to the variance by every layer norm; from the model's config.json."""
OPSET = 17
"""First opset with LayerNormalization; onnxruntime has had it since 1.13."""
ADAPTED = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""The matrices of a layer that have one."""
BASIS = Path(__file__).with_name("basis.npy")
"""Made by ``scripts/fit_basis.py``."""
DIRECTIONS = 64
"""Of the basis."""
OUT = ("out.weight", "out.bias")
"""The fitted arrays that turn pooled states into scores."""
STEPS = 64.0
"""Steps from zero to the largest weight, where a graph computes in whole numbers."""
FUSED = "com.microsoft"
"""Operator domain of onnxruntime's fused transformer operators."""


class Place(NamedTuple):
    """Where a tensor lies."""

    file: str
    offset: int
    kind: int
    shape: list[int]

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * (1 if self.kind == TensorProto.INT8 else 4)


def read_header(checkpoint: Path) -> tuple[int, dict[str, Any]]:
    """Read where each tensor of a safetensors file lies.

    Args:
        checkpoint: A ``.safetensors`` file: eight bytes of header length N (little-endian), N
            bytes of JSON, then the tensors.

    Returns:
        The byte at which the tensors begin, and the JSON: name to dtype, shape, data_offsets.
    """
    with checkpoint.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return 8 + length, json.loads(file.read(length))


class _Graph:
    """Nodes and initialisers in the order in which they are first used."""

    def __init__(
        self,
        start: int,
        header: dict[str, Any],
        folded: Mapping[str, Place] = {},
    ) -> None:
        self.nodes: list[NodeProto] = []
        self.initialisers: dict[str, TensorProto] = {}
        self._start = start
        self._header = header
        self._folded = folded

    def weight(self, name: str) -> str:
        """Name a tensor of the checkpoint: shape and place, no data."""
        entry = self._header[name]
        begin = entry["data_offsets"][0]
        place = Place(WEIGHTS.name, self._start + begin, TensorProto.FLOAT, entry["shape"])
        return self.stored(name, place)

    def stored(self, name: str, place: Place | None = None) -> str:
        """Name a tensor that lies in a file, that of ``build_folding`` unless told otherwise."""
        if name not in self.initialisers:
            place = place or self._folded[name]
            tensor = TensorProto(
                name=name,
                data_type=place.kind,
                dims=place.shape,
                data_location=TensorProto.EXTERNAL,
            )
            fields = {"location": place.file, "offset": place.offset, "length": place.size}
            for key, value in fields.items():
                tensor.external_data.add(key=key, value=str(value))
            self.initialisers[name] = tensor
        return name

    def integers(self, name: str, values: list[int]) -> str:
        """Add a small int64 constant."""
        self.initialisers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def project(self, value: str, basis: NDArray[np.float32]) -> str:
        """``value · basis``."""
        self.initialisers["basis"] = numpy_helper.from_array(basis, "basis")
        return self.node("MatMul", [value, "basis"], "seen")

    def node(
        self, operator: str, inputs: list[str], *outputs: str, domain: str = "", **options: Any
    ) -> str:
        """Add one operator, named as its first output, and return that name."""
        name = outputs[0]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name, "", domain, **options))
        return name

    def dense(self, value: str, layer: str, output: str) -> str:
        """``value · Wᵀ + b``; the checkpoint stores W as [out, in], which Gemm reads as it is."""
        if f"{layer}.codes" not in self._folded:
            parts = [value, self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")]
            return self.node("Gemm", parts, output, transB=1)
        codes, step = self.stored(f"{layer}.codes"), self.stored(f"{layer}.step")
        inputs = [value, codes, step, "", self.weight(f"{layer}.bias")]
        return self.node("DynamicQuantizeMatMul", inputs, output, domain=FUSED)

    def number(self, name: str, values: NDArray[np.float16]) -> str:
        """A fitted array, kept in half the bytes."""
        self.initialisers[name] = numpy_helper.from_array(values, name)
        return self.node("Cast", [name], f"{name}.full", to=TensorProto.FLOAT)

    def fold(self, layer: str, low: str, high: str) -> tuple[str, str]:
        """W + B·A in whole steps of 1/64 of the largest weight of a column, flat, and the steps.

        Steps of seven bits, not eight: on AVX2 without VNNI the sum of two products would overflow.
        """
        parts = [
            self.weight(f"{layer}.weight"),
            self.node("MatMul", [high, low], f"{layer}.fitted"),
        ]
        full = self.node("Add", parts, f"{layer}.full")
        turned = self.node("Transpose", [full], f"{layer}.turned", perm=[1, 0])
        size = self.node("Abs", [turned], f"{layer}.size")
        most = self.node("ReduceMax", [size], f"{layer}.most", axes=[0], keepdims=0)
        self.initialisers["steps"] = helper.make_tensor("steps", TensorProto.FLOAT, [], [STEPS])
        step = self.node("Div", [most, "steps"], f"{layer}.step")
        count = self.node("Div", [turned, step], f"{layer}.count")
        whole = self.node("Round", [count], f"{layer}.whole")
        codes = self.node("Cast", [whole], f"{layer}.matrix", to=TensorProto.INT8)
        return self.flat(codes, f"{layer}.codes"), step

    def flat(self, value: str, output: str) -> str:
        """All numbers of a tensor in one row."""
        return self.node("Reshape", [value, self.integers("flat", [-1])], output)

    def add_and_norm(self, value: str, skip: str, layer: str, output: str) -> str:
        """Layer norm of ``value + skip``, as two operators.

        The fused SkipLayerNormalization is a scalar loop in onnxruntime 1.31: 18.5 ms for
        1,000 x 12 rows, against 2.2 ms for Add and LayerNormalization, which are vectorised.
        """
        scale = [self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")]
        total = self.node("Add", [value, skip], f"{output}.sum")
        return self.node("LayerNormalization", [total, *scale], output, epsilon=EPSILON)


def _embed(graph: _Graph, types: str = "") -> str:
    """Word, position and token-type embeddings, summed and normalised: [B, S, 384]."""
    parts = ["word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm"]
    tables = [graph.weight(f"embeddings.{part}.weight") for part in parts]
    inputs = ["input_ids", types, *tables, graph.weight("embeddings.LayerNorm.bias")]
    # The second output, a count of the mask, has no reader but must be declared.
    return graph.node(
        "EmbedLayerNormalization", inputs, "embedded", "", domain=FUSED, epsilon=EPSILON
    )


def _layer(graph: _Graph, value: str, index: int) -> str:
    """One transformer layer over rows: [B·S, 384] in and out (a matrix suits Gemm)."""
    source, name = f"encoder.layer.{index}", f"layer{index}"
    views = []
    for part in ("query", "key", "value"):
        rows = graph.dense(value, f"{source}.attention.self.{part}", f"{name}.{part}.rows")
        views.append(graph.node("Reshape", [rows, "shape"], f"{name}.{part}"))
    attended = graph.node(
        "MultiHeadAttention",
        [*views, "", "attention_mask"],
        f"{name}.attended",
        domain=FUSED,
        num_heads=HEADS,
    )
    rows = graph.node("Reshape", [attended, "rows"], f"{name}.attended.rows")
    mixed = graph.dense(rows, f"{source}.attention.output.dense", f"{name}.mixed")
    middle = graph.add_and_norm(
        mixed, value, f"{source}.attention.output.LayerNorm", f"{name}.middle"
    )
    wide = graph.dense(middle, f"{source}.intermediate.dense", f"{name}.wide")
    bent = graph.node("Gelu", [wide], f"{name}.bent", domain=FUSED)
    narrow = graph.dense(bent, f"{source}.output.dense", f"{name}.narrow")
    return graph.add_and_norm(narrow, middle, f"{source}.output.LayerNorm", name)


def _pool(graph: _Graph, hidden: str) -> None:
    """Sentence vector: the sum over real tokens, scaled to length 1.

    The division by their number cancels under the L2 norm, so the mean is never taken.
    """
    ones = graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    row = graph.node("Unsqueeze", [ones, graph.integers("axis", [1])], "mask.row")
    pooled = graph.node("MatMul", [row, hidden], "pooled.row")
    pooled = graph.node("Squeeze", [pooled, "axis"], "pooled")
    graph.node("LpNormalization", [pooled], "sentence", axis=-1, p=2)


def build(checkpoint: Path, basis: NDArray[np.float32] | None) -> bytes:
    """Build the graph for a checkpoint.

    Inputs are ``input_ids`` and ``attention_mask``, int32 [B, S]; outputs are ``sentence``,
    float32 [B, 384], and ``tokens``, float32 [B, S, D], rows of length 1: the last layer, seen
    along the directions of the basis.

    Args:
        checkpoint: The official ``model.safetensors``; only its header is read.
        basis: Float32 [384, D]; None: tokens keep their 384 components.

    Returns:
        The serialised ONNX model, 25 KB and the basis, the same bytes for the same input.
    """
    graph = _Graph(*read_header(checkpoint))
    graph.integers("rows", [-1, WIDTH])
    value = _embed(graph)
    graph.node("Shape", [value], "shape")
    value = graph.node("Reshape", [value, "rows"], "embedded.rows")
    for index in range(LAYERS):
        value = _layer(graph, value, index)
    hidden = graph.node("Reshape", [value, "shape"], "hidden")
    seen = hidden if basis is None else graph.project(hidden, basis)
    graph.node("LpNormalization", [seen], "tokens", axis=-1, p=2)
    _pool(graph, hidden)
    width = WIDTH if basis is None else basis.shape[1]
    return bytes(_model(graph, width).SerializeToString(deterministic=True))


def build_folding(checkpoint: Path, fitted: Mapping[str, NDArray[np.float16]]) -> bytes:
    """Build the graph that computes the weights of a cross-encoder, of those of the model and the fitted ones.

    It has no input. Outputs are ``codes``, int8, the matrices of ``dense_layers`` as [in, out] in one row, and
    ``numbers``, float32, what each of their columns counts in, then ``out.weight`` and ``out.bias``.

    Args:
        checkpoint: The official ``model.safetensors``; only its header is read.
        fitted: What ``scripts.cross_encoder.Network.weights`` gives.
    """
    graph = _Graph(*read_header(checkpoint))
    codes, numbers = [], []
    for layer in dense_layers():
        adapter = [graph.number(name, fitted[name]) for name in (f"{layer}.low", f"{layer}.high")]
        matrix, step = graph.fold(layer, *adapter)
        codes.append(matrix)
        numbers.append(step)
    numbers += [graph.flat(graph.number(name, fitted[name]), f"{name}.flat") for name in OUT]
    graph.node("Concat", codes, "codes", axis=0)
    graph.node("Concat", numbers, "numbers", axis=0)
    outputs = [
        helper.make_tensor_value_info("codes", TensorProto.INT8, ["N"]),
        helper.make_tensor_value_info("numbers", TensorProto.FLOAT, ["M"]),
    ]
    tensors = list(graph.initialisers.values())
    body = helper.make_graph(graph.nodes, "folding", [], outputs, tensors)
    return bytes(_shippable(body).SerializeToString(deterministic=True))


def dense_layers() -> list[str]:
    """Names of the adapted matrices, in order."""
    return [f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in ADAPTED]


def _places(header: Mapping[str, Any], file: str, classes: int) -> dict[str, Place]:
    """Where ``clsm_cli.heads.cross_encoder`` writes each tensor of a folding: all codes, then all numbers."""
    matrices = {layer: header[f"{layer}.weight"]["shape"][::-1] for layer in dense_layers()}
    wanted = [(f"{layer}.codes", TensorProto.INT8, shape) for layer, shape in matrices.items()]
    wanted += [(f"{layer}.step", TensorProto.FLOAT, shape[1:]) for layer, shape in matrices.items()]
    shapes = ([classes, 3 * WIDTH], [classes])
    wanted += [(name, TensorProto.FLOAT, shape) for name, shape in zip(OUT, shapes, strict=True)]
    places: dict[str, Place] = {}
    offset = 0
    for name, kind, shape in wanted:
        places[name] = Place(file, offset, kind, shape)
        offset += places[name].size
    return places


def build_cross_encoder(checkpoint: Path, name: str, folding: bytes) -> bytes:
    """Build the graph of a cross-encoder: which of some classes two texts are.

    Inputs are ``input_ids``, ``attention_mask`` and ``second`` (1 in the second text), int32
    [B, S] without padding; the output is ``probabilities``, float32 [B, classes].

    Args:
        checkpoint: The official ``model.safetensors``; only its header is read.
        name: Of the head.
        folding: What ``build_folding`` gives.
    """
    start, header = read_header(checkpoint)
    [classes] = next(
        each.dims
        for each in onnx.load_from_string(folding).graph.initializer
        if each.name == OUT[1]
    )
    graph = _Graph(start, header, _places(header, folded_name(name, folding), classes))
    graph.integers("rows", [-1, WIDTH])
    value = _embed(graph, "second")
    graph.node("Shape", [value], "shape")
    value = graph.node("Reshape", [value, "rows"], "embedded.rows")
    for index in range(LAYERS):
        value = _layer(graph, value, index)
    hidden = graph.node("Reshape", [value, "shape"], "hidden")
    second = graph.node("Cast", ["second"], "in.second", to=TensorProto.FLOAT)
    every = graph.node("Cast", ["attention_mask"], "every", to=TensorProto.FLOAT)
    first = graph.node("Sub", [every, second], "in.first")
    axis = graph.integers("axis", [1])
    first_row = graph.node("Gather", [hidden, graph.integers("start", [0])], "start.row", axis=1)
    pooled = [graph.node("Squeeze", [first_row, axis], "start.state")]
    for mask in (first, second):
        row = graph.node("Unsqueeze", [mask, axis], f"{mask}.row")
        total = graph.node("MatMul", [row, hidden], f"{mask}.total.row")
        total = graph.node("Squeeze", [total, axis], f"{mask}.total")
        count = graph.node("ReduceSum", [mask, axis], f"{mask}.count", keepdims=1)
        pooled.append(graph.node("Div", [total, count], f"{mask}.mean"))
    joined = graph.node("Concat", pooled, "pooled", axis=1)
    parts = [joined, *map(graph.stored, OUT)]
    scores = graph.node("Gemm", parts, "scores", transB=1)
    graph.node("Softmax", [scores], "probabilities", axis=-1)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["B", "S"])
        for name in ("input_ids", "attention_mask", "second")
    ]
    output = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["B", classes])
    tensors = list(graph.initialisers.values())
    body = helper.make_graph(graph.nodes, "cross-encoder", inputs, [output], tensors)
    return bytes(_shippable(body).SerializeToString(deterministic=True))


def _model(graph: _Graph, width: int) -> ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["B", "S"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [
        helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["B", WIDTH]),
        helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["B", "S", width]),
    ]
    body = helper.make_graph(
        graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(graph.initialisers.values())
    )
    return _shippable(body)


def build_similarity() -> bytes:
    """Build the graph of exact dot products of rows of 4-bit codes.

    Inputs are ``rows``, uint8 [N, D/2], two codes a byte; ``first.high``, ``first.low``,
    ``second.high`` and ``second.low``, whole numbers as float32 [M, D/2], for the codes in the low
    and in the high half of the bytes; ``offset``, float32 [M, 1]; ``step``, float32 [M, 1]; and
    ``blocks``, int64 [3]: 0, −1 and B. The output is ``products``, float32 [M, N / B], the largest
    of each B columns of

        step · (128 · (first.high · lowᵀ + second.high · highᵀ)
                + first.low · lowᵀ + second.low · highᵀ − offset)

    The casts to float32 are nearly all of the time, and still they are as fast as MatMulInteger,
    whose uint8-by-int8 products saturate on AVX2 without VNNI.
    """
    nodes = [
        helper.make_node("Cast", ["rows"], ["values"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["values", "sixteenth"], ["shifted"]),
        helper.make_node("Floor", ["shifted"], ["high"]),
        helper.make_node("Mul", ["high", "sixteen"], ["high.bits"]),
        helper.make_node("Sub", ["values", "high.bits"], ["low"]),
    ]
    for part in ("high", "low"):
        nodes += [
            helper.make_node("Gemm", [f"first.{part}", "low"], [f"first.{part}.sums"], transB=1),
            helper.make_node("Gemm", [f"second.{part}", "high"], [f"second.{part}.sums"], transB=1),
            helper.make_node(
                "Add", [f"first.{part}.sums", f"second.{part}.sums"], [f"{part}.sums"]
            ),
        ]
    nodes += [
        helper.make_node("Mul", ["high.sums", "base"], ["high.steps"]),
        helper.make_node("Add", ["high.steps", "low.sums"], ["codes"]),
        helper.make_node("Sub", ["codes", "offset"], ["steps"]),
        helper.make_node("Mul", ["steps", "step"], ["each"]),
        helper.make_node("Reshape", ["each", "blocks"], ["blocked"]),
        helper.make_node("ReduceMax", ["blocked"], ["products"], axes=[2], keepdims=0),
    ]
    parts = ("first.high", "first.low", "second.high", "second.low")
    inputs = [
        helper.make_tensor_value_info("rows", TensorProto.UINT8, ["N", "D"]),
        *(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["M", "D"]) for name in parts),
        helper.make_tensor_value_info("offset", TensorProto.FLOAT, ["M", 1]),
        helper.make_tensor_value_info("step", TensorProto.FLOAT, ["M", 1]),
        helper.make_tensor_value_info("blocks", TensorProto.INT64, [3]),
    ]
    outputs = [helper.make_tensor_value_info("products", TensorProto.FLOAT, ["M", "N"])]
    constants = {"sixteenth": 1 / 16, "sixteen": 16.0, "base": 128.0}
    tensors = [
        helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        for name, value in constants.items()
    ]
    body = helper.make_graph(nodes, "exact dot products", inputs, outputs, tensors)
    return bytes(_shippable(body).SerializeToString(deterministic=True))


def _shippable(body: GraphProto) -> ModelProto:
    # IR 8 is what belongs to opset 17; a newer default would shut out older onnxruntimes.
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(body, opset_imports=versions, ir_version=8, producer_name="clsm")


def main() -> None:
    """Write the graphs, beside the encoder unless told otherwise."""
    parser = argparse.ArgumentParser(description="Build the ONNX graphs that clsm ships.")
    default = weights.default_folder() / WEIGHTS.name
    parser.add_argument("checkpoint", type=Path, nargs="?", default=default)
    parser.add_argument("--output", type=Path, default=GRAPH.parent, metavar="FOLDER")
    options = parser.parse_args()
    graphs = {
        GRAPH.name: build(options.checkpoint, np.load(BASIS)),
        "similarity.onnx": build_similarity(),
    }
    for name, data in graphs.items():
        (options.output / name).write_bytes(data)
        print(f"{options.output / name}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
