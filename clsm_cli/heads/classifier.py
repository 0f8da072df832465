"""A classifier with one hidden layer, and its weights as JSON."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

CLIP = 4.0
"""Standardised inputs are clipped to ± this many standard deviations."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """``softmax or sigmoid(tanh(z W + b) U + c)`` with ``z`` the standardised inputs.

    Attributes:
        inputs: Names of the inputs.
        groups: Question → its outputs: several are mutually exclusive (softmax), a single one is a
            probability (sigmoid).
        mean: Mean of each input in the training data.
        scale: Its standard deviation.
        layers: ``W``, ``b``, ``U`` and ``c``.
    """

    inputs: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    mean: Any
    scale: Any
    layers: tuple[Any, Any, Any, Any]

    def probabilities(self, rows: Sequence[Sequence[float]]) -> list[dict[str, float]]:
        """Output name → probability, to four decimals, for each row of inputs.

        >>> import numpy as np
        >>> one = Classifier(("x",), {"a": ("a",)}, np.zeros(1), np.ones(1),
        ...     (np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), np.zeros(1)))
        >>> one.probabilities([[0.0], [9.0]])
        [{'a': 0.5}, {'a': 0.7309}]
        """
        import numpy as np

        if len(rows) == 0:
            return []
        first, bias, second, offset = self.layers
        inputs = np.clip((np.asarray(rows, np.float64) - self.mean) / self.scale, -CLIP, CLIP)
        outputs = np.tanh(inputs @ first + bias) @ second + offset
        found: list[dict[str, float]] = [{} for _ in rows]
        start = 0
        for names in self.groups.values():
            part = outputs[:, start : start + len(names)]
            start += len(names)
            if len(names) == 1:
                chances = 1 / (1 + np.exp(-part))
            else:
                chances = np.exp(part - part.max(1, keepdims=True))
                chances /= chances.sum(1, keepdims=True)
            for row, values in zip(found, chances.tolist(), strict=True):
                row.update(zip(names, (round(value, 4) for value in values), strict=True))
        return found


@cache
def load(name: str) -> Classifier:
    """The shipped classifier ``weights/NAME.json``."""
    data = json.loads(
        (resources.files("clsm_cli.heads") / "weights" / f"{name}.json").read_text("utf-8")
    )
    return unpack(data)


def unpack(data: Mapping[str, Any]) -> Classifier:
    """A classifier from its JSON, whose matrix columns are int8, each with a scale (``scripts/fitting.pack``)."""
    import numpy as np

    matrices = []
    for layer in data["layers"]:
        scales = np.array(layer["scales"])
        codes = np.frombuffer(base64.b64decode(layer["codes"]), np.int8).reshape(-1, len(scales))
        matrices.append(codes.astype(np.float64) * scales)
    first, bias, second, offset = matrices
    return Classifier(
        inputs=tuple(data["inputs"]),
        groups={name: tuple(outputs) for name, outputs in data["groups"].items()},
        mean=np.array(data["mean"]),
        scale=np.array(data["scale"]),
        layers=(first, bias[0], second, offset[0]),
    )
