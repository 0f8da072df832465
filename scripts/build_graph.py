"""Build ``clsm_cli/embedding/minilm.onnx``, the graph that clsm runs on the official weights.

The graph holds no weight: each initialiser is an offset into ``model.safetensors`` as published,
so onnxruntime maps the 90 MB in place instead of parsing and copying them (session in 10 ms of
CPU against 180). The same checkpoint gives the same bytes; ``tests/embedding`` rebuilds and
compares.

Run: ``python scripts/build_graph.py [model.safetensors]`` (needs ``onnx``, the dev extra).

Source: BERT encoder (Devlin et al. 2019) with the sizes of
https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 and its pooling (mean, then L2).
"""

from __future__ import annotations

import argparse
import json
import struct
from pathlib import Path
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper

from clsm_cli.embedding import weights
from clsm_cli.embedding.pins import WEIGHTS
from clsm_cli.embedding.session import GRAPH

LAYERS = 6
HEADS = 12
WIDTH = 384
"""Size of a token vector, and of the sentence vector."""
EPSILON = 1e-12
"""Added to the variance by every layer norm; from the model's config.json."""
OPSET = 17
"""First opset with LayerNormalization; onnxruntime has had it since 1.13."""
FUSED = "com.microsoft"
"""Operator domain of onnxruntime's fused transformer operators."""


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

    def __init__(self, start: int, header: dict[str, Any]) -> None:
        self.nodes: list[NodeProto] = []
        self.initialisers: dict[str, TensorProto] = {}
        self._start = start
        self._header = header

    def weight(self, name: str) -> str:
        """Name a tensor of the checkpoint: shape and place, no data."""
        if name not in self.initialisers:
            entry = self._header[name]
            begin, end = entry["data_offsets"]
            tensor = TensorProto(
                name=name,
                data_type=TensorProto.FLOAT,
                dims=entry["shape"],
                data_location=TensorProto.EXTERNAL,
            )
            place = {
                "location": WEIGHTS.name,
                "offset": self._start + begin,
                "length": end - begin,
            }
            for key, value in place.items():
                tensor.external_data.add(key=key, value=str(value))
            self.initialisers[name] = tensor
        return name

    def integers(self, name: str, values: list[int]) -> str:
        """Add a small int64 constant."""
        self.initialisers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def node(
        self, operator: str, inputs: list[str], *outputs: str, domain: str = "", **options: Any
    ) -> str:
        """Add one operator, named as its first output, and return that name."""
        name = outputs[0]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name, "", domain, **options))
        return name

    def dense(self, value: str, layer: str, output: str) -> str:
        """``value · Wᵀ + b``; the checkpoint stores W as [out, in], which Gemm reads as it is."""
        parts = [value, self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")]
        return self.node("Gemm", parts, output, transB=1)

    def add_and_norm(self, value: str, skip: str, layer: str, output: str) -> str:
        """Layer norm of ``value + skip``, as two operators.

        The fused SkipLayerNormalization is a scalar loop in onnxruntime 1.31: 18.5 ms for
        1,000 x 12 rows, against 2.2 ms for Add and LayerNormalization, which are vectorised.
        """
        scale = [self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")]
        total = self.node("Add", [value, skip], f"{output}.sum")
        return self.node("LayerNormalization", [total, *scale], output, epsilon=EPSILON)


def _embed(graph: _Graph) -> str:
    """Word, position and token-type embeddings, summed and normalised: [B, S, 384]."""
    parts = ["word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm"]
    tables = [graph.weight(f"embeddings.{part}.weight") for part in parts]
    inputs = ["input_ids", "", *tables, graph.weight("embeddings.LayerNorm.bias")]
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


def build(checkpoint: Path) -> bytes:
    """Build the graph for a checkpoint.

    Inputs are ``input_ids`` and ``attention_mask``, int32 [B, S]; outputs are ``sentence``,
    float32 [B, 384], and ``tokens``, float32 [B, S, 384] (last layer), rows of length 1.

    Args:
        checkpoint: The official ``model.safetensors``; only its header is read.

    Returns:
        The serialised ONNX model, about 25 KB, the same bytes for the same checkpoint.
    """
    graph = _Graph(*read_header(checkpoint))
    graph.integers("rows", [-1, WIDTH])
    value = _embed(graph)
    graph.node("Shape", [value], "shape")
    value = graph.node("Reshape", [value, "rows"], "embedded.rows")
    for index in range(LAYERS):
        value = _layer(graph, value, index)
    hidden = graph.node("Reshape", [value, "shape"], "hidden")
    graph.node("LpNormalization", [hidden], "tokens", axis=-1, p=2)
    _pool(graph, hidden)
    return bytes(_model(graph).SerializeToString(deterministic=True))


def _model(graph: _Graph) -> ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["B", "S"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [
        helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["B", WIDTH]),
        helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["B", "S", WIDTH]),
    ]
    body = helper.make_graph(
        graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(graph.initialisers.values())
    )
    # IR 8 is what belongs to opset 17; a newer default would shut out older onnxruntimes.
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(body, opset_imports=versions, ir_version=8, producer_name="clsm")


def main() -> None:
    """Write the graph, beside the encoder unless told otherwise."""
    parser = argparse.ArgumentParser(description="Build the ONNX graph that clsm ships.")
    default = weights.default_folder() / WEIGHTS.name
    parser.add_argument("checkpoint", type=Path, nargs="?", default=default)
    parser.add_argument("--output", type=Path, default=GRAPH)
    options = parser.parse_args()
    data = build(options.checkpoint)
    options.output.write_bytes(data)
    print(f"{options.output}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
