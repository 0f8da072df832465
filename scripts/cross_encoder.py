"""Fit a cross-encoder, in PyTorch: MiniLM reads two texts at once.

The checkpoint stays as it is. Each matrix of its layers gets an adapter of low rank, W + B·A
(Hu et al. 2022, "LoRA"), and three pooled vectors give the scores of the classes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

from clsm_cli.heads.cross_encoder import WEIGHTS, pack
from scripts.build_graph import (
    EPSILON,
    HEADS,
    LAYERS,
    WIDTH,
    build_cross_encoder,
    build_folding,
    dense_layers,
    read_header,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clsm_cli.embedding.wordpiece import WordPieces

RANK = 16
"""Of an adapter."""
DROPPED = 0.1
"""Share of the numbers that a round of fitting leaves out."""
ROUNDS, DECAY, SIZE, WARMING = 4, 0.01, 32, 0.1
"""Rounds over all examples where no other number is given, decay of the weights, examples of a step, share of the steps whose rate rises."""

MAX_NORM = 1.0
"""Longer gradients of a step are scaled to this length; without it some fits end in one class for all."""

HAS_BFLOAT16 = any(torch.cpu.get_capabilities().get(name) for name in ("avx512_bf16", "amx_bf16"))
"""Without these instructions half precision is emulated, at an eighth of the speed of float32."""


class Packed(NamedTuple):
    """Two texts as the model reads them.

    Attributes:
        ids: Word pieces with their marks.
        second: For each whether it is of the second text.
    """

    ids: list[int]
    second: list[int]


class Batch(NamedTuple):
    """Pairs of one length, filled up: states [n, s, 384], mask and ``second`` [n, s]."""

    states: Any
    mask: Any
    second: Any


class Examples(NamedTuple):
    """Texts with their classes.

    Attributes:
        packed: Each as the model reads it.
        states: What ``Minilm.embedded`` makes of it.
        labels: Place of its class, [n].
        counts: What it counts in the loss, float32 [n].
    """

    packed: Sequence[Packed]
    states: Sequence[Any]
    labels: Any
    counts: Any


class Minilm:
    """The checkpoint, and a pass through some of its layers."""

    def __init__(self, checkpoint: Path) -> None:
        """Read every tensor of a ``model.safetensors``."""
        start, header = read_header(checkpoint)
        data = checkpoint.read_bytes()
        self._tensors: dict[str, Any] = {}
        for name, entry in header.items():
            if name != "__metadata__" and entry["dtype"] == "F32":
                begin, end = (start + place for place in entry["data_offsets"])
                values = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])
                self._tensors[name] = torch.from_numpy(values.copy())

    def embedded(self, pairs: Sequence[Packed], size: int = 64) -> list[Any]:
        """What each pair is before the first layer, the same in every round: float16 [s, 384]."""
        found: list[Any] = [None] * len(pairs)
        order = sorted(range(len(pairs)), key=lambda row: len(pairs[row].ids))
        for begin in range(0, len(order), size):
            rows = order[begin : begin + size]
            ids, second = (filled([pairs[row] for row in rows], part) for part in (0, 2))
            states = self._embedded(ids, second)
            for place, row in enumerate(rows):
                found[row] = states[place, : len(pairs[row].ids)].half()
        return found

    def _embedded(self, ids: Any, second: Any) -> Any:
        tables = [
            self._tensors[f"embeddings.{part}_embeddings.weight"]
            for part in ("word", "position", "token_type")
        ]
        states = tables[0][ids] + tables[1][: ids.shape[1]] + tables[2][second]
        return self._norm(states, "embeddings.LayerNorm")

    def layer(self, states: Any, mask: Any, index: int, adapters: Mapping[str, Any]) -> Any:
        """One transformer layer; an adapter is the pair A [r, in], B [out, r] of its matrix."""
        name = f"encoder.layer.{index}"
        count, length, _ = states.shape

        def dense(values: Any, part: str) -> Any:
            full = f"{name}.{part}"
            found = functional.linear(
                values, self._tensors[f"{full}.weight"], self._tensors[f"{full}.bias"]
            )
            if full in adapters:
                low, high = adapters[full]
                found = found + functional.linear(functional.linear(values, low), high)
            return found

        query, key, value = (
            dense(states, f"attention.self.{part}").view(count, length, HEADS, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        seen = mask[:, None, None, :].bool()
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        rows = attended.transpose(1, 2).reshape(count, length, WIDTH)
        is_fitting = bool(adapters) and torch.is_grad_enabled()
        mixed = functional.dropout(dense(rows, "attention.output.dense"), DROPPED, is_fitting)
        middle = self._norm(states + mixed, f"{name}.attention.output.LayerNorm")
        wide = functional.gelu(dense(middle, "intermediate.dense"))
        narrow = functional.dropout(dense(wide, "output.dense"), DROPPED, is_fitting)
        return self._norm(middle + narrow, f"{name}.output.LayerNorm")

    def _norm(self, values: Any, name: str) -> Any:
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return functional.layer_norm(values, (WIDTH,), weight, bias, EPSILON)

    def shape(self, name: str) -> tuple[int, int]:
        """Outputs and inputs of a matrix."""
        rows, columns = self._tensors[f"{name}.weight"].shape
        return int(rows), int(columns)


class Network(nn.Module):  # type: ignore[misc]  # torch has no types here
    """The adapters and the scores; new ones change nothing of what the checkpoint says."""

    def __init__(self, model: Minilm, classes: int) -> None:
        """Begin: A at random, B zero."""
        super().__init__()
        self._model = model
        self._names = dense_layers()
        self.low, self.high = nn.ParameterList(), nn.ParameterList()
        for name in self._names:
            outputs, inputs = model.shape(name)
            self.low.append(nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs)))
            self.high.append(nn.Parameter(torch.zeros(outputs, RANK)))
        self.out = nn.Linear(3 * WIDTH, classes)
        nn.init.normal_(self.out.weight, std=0.02)
        nn.init.zeros_(self.out.bias)

    def forward(self, batch: Batch) -> Any:
        """Scores [n, classes]: from the first mark, the mean of what is not ``second``, the mean of what is."""
        adapters = dict(zip(self._names, zip(self.low, self.high, strict=True), strict=True))
        states, mask, second = batch
        for layer in range(LAYERS):
            states = self._model.layer(states, mask, layer, adapters)
        parts = [(second == side) & mask.bool() for side in (0, 1)]
        means = [
            (states * part[..., None]).sum(1) / part.sum(1, keepdim=True).clamp(min=1)
            for part in parts
        ]
        pooled = torch.cat([states[:, 0], *means], 1)
        return self.out(functional.dropout(pooled, DROPPED, self.training))

    def go_on_from(self, file: Path, share: float = 1.0) -> None:
        """Take the fitted arrays of a graph that ``scripts/build_graph.py`` wrote, or a share of them.

        The mean of the weights before and after a fit that went on keeps what they knew and has much of
        what was learnt (Wortsman et al., CVPR 2022, "Robust fine-tuning of zero-shot models").
        """
        graph = onnx.load(file, load_external_data=False).graph
        found = {
            each.name: torch.tensor(numpy_helper.to_array(each).astype(np.float32))
            for each in graph.initializer
            if not each.external_data
        }
        own = {"out.weight": self.out.weight, "out.bias": self.out.bias}
        for name, low, high in zip(self._names, self.low, self.high, strict=True):
            own |= {f"{name}.low": low, f"{name}.high": high}
        with torch.no_grad():
            for name, values in own.items():
                values.lerp_(found[name], share)

    def write(self, name: str, checkpoint: Path) -> None:
        """Write both graphs of a head beside the others."""
        folding = build_folding(checkpoint, self.weights())
        reader = build_cross_encoder(checkpoint, name, folding)
        Path(WEIGHTS, f"{name}.onnx").write_bytes(folding)
        Path(WEIGHTS, f"{name}_reader.onnx").write_bytes(reader)

    def weights(self) -> dict[str, Any]:
        """Every fitted array by name, float16."""
        found = {"out.weight": self.out.weight, "out.bias": self.out.bias}
        for name, low, high in zip(self._names, self.low, self.high, strict=True):
            found |= {f"{name}.low": low, f"{name}.high": high}
        return {name: each.detach().numpy().astype(np.float16) for name, each in found.items()}


def read_by(cut: WordPieces, *texts: str) -> Packed:
    """Two texts, and perhaps a question, as the model reads them."""
    return Packed(*pack(*(cut.ids(text)[1:-1] for text in texts)))


def filled(pairs: Sequence[Packed], part: int) -> Any:
    """Ids (0), mask (1) or second (2) of some pairs, [n, s], with zeros behind the shorter ones."""
    length = max(len(pair.ids) for pair in pairs)
    found = torch.zeros(len(pairs), length, dtype=torch.long)
    for row, pair in enumerate(pairs):
        values = (pair.ids, [1] * len(pair.ids), pair.second)[part]
        found[row, : len(values)] = torch.tensor(values)
    return found


def batch_of(states: Sequence[Any], pairs: Sequence[Packed], rows: Sequence[int]) -> Batch:
    """Some pairs with what ``Minilm.embedded`` made of them."""
    chosen = [pairs[row] for row in rows]
    mask, second = filled(chosen, 1), filled(chosen, 2)
    put = torch.zeros(len(rows), mask.shape[1], WIDTH)
    for place, row in enumerate(rows):
        put[place, : len(pairs[row].ids)] = states[row].float()
    return Batch(put, mask, second)


def fit(
    network: Network,
    examples: Examples,
    rows: Any,
    rate: float,
    rounds: int = ROUNDS,
    shown: Callable[[Any, np.random.Generator], Any] | None = None,
) -> None:
    """Fit the adapters on some of the examples; the same ones give the same weights on one machine.

    Args:
        network: A new one.
        examples: All of them.
        rows: Which are fitted on.
        rate: Highest rate of a step.
        rounds: Over all examples.
        shown: Rows → those that a round shows in their place; all as they are without it.
    """
    chance = np.random.default_rng(0)
    descent = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    steps = rounds * (len(rows) // SIZE + 20)
    pace = torch.optim.lr_scheduler.OneCycleLR(descent, rate, total_steps=steps, pct_start=WARMING)
    for _ in range(rounds):
        network.train()
        for chosen in _batches(chance.permutation(rows), examples.packed, chance):
            read = shown(chosen, chance) if shown else chosen
            with torch.autocast("cpu", torch.bfloat16, enabled=HAS_BFLOAT16):
                scores = network(batch_of(examples.states, examples.packed, read.tolist())).float()
            wanted = torch.tensor(examples.labels[chosen])
            weight = torch.tensor(examples.counts[chosen])
            loss = functional.cross_entropy(scores, wanted, reduction="none") * weight
            descent.zero_grad()
            (loss.sum() / weight.sum()).backward()
            nn.utils.clip_grad_norm_(network.parameters(), MAX_NORM)
            descent.step()
            pace.step()


def _batches(order: Any, packed: Sequence[Packed], chance: np.random.Generator) -> list[Any]:
    """Examples of like length together, in any order."""
    found = []
    for begin in range(0, len(order), SIZE * 20):
        near = sorted(order[begin : begin + SIZE * 20], key=lambda row: len(packed[row].ids))
        found += [np.array(near[at : at + SIZE]) for at in range(0, len(near), SIZE)]
    return [found[place] for place in chance.permutation(len(found))]


def probabilities(network: Network, examples: Examples, rows: Any) -> Any:
    """What a network says of some examples: [n, classes]."""
    network.eval()
    with torch.no_grad():
        parts = [
            functional.softmax(
                network(batch_of(examples.states, examples.packed, part.tolist())), 1
            ).numpy()
            for part in np.array_split(rows, max(1, len(rows) // 64))
        ]
    return np.concatenate(parts)
