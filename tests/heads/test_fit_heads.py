"""The trainer: it learns what no line separates, gives the same bytes, and judges without having seen."""

import json

import numpy as np

from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads.classifier import Classifier, unpack
from scripts.fit_heads import Examples, Settings, fit, left_out
from scripts.fitting import pack

OUTPUTS = {"odd": ("odd",)}
CHANCE = np.random.default_rng(3)
INPUTS = CHANCE.normal(size=(240, 2))
ODD = (INPUTS[:, :1] * INPUTS[:, 1:] > 0).astype(float)


def _head(settings: Settings) -> Classifier:
    mean, scale, layers = fit(INPUTS, ODD, OUTPUTS, settings)
    first, bias, second, offset = layers
    return Classifier(("a", "b"), OUTPUTS, mean, scale, (first, bias, second, offset))


def test_same_examples_give_the_same_bytes_which_say_what_was_learnt() -> None:
    settings = Settings(12, 0.0001, rounds=400, dropped=0.0)
    texts = [json.dumps(pack(_head(settings))) for _ in range(2)]
    assert texts[0] == texts[1]
    told = unpack(json.loads(texts[0])).probabilities(INPUTS.tolist())
    assert auroc(np.array([each["odd"] for each in told]), ODD[:, 0] == 1) > 0.95


def test_a_group_that_was_left_out_is_not_known_by_heart() -> None:
    inputs = np.eye(60)  # each row is known by its own input alone
    truths = np.tile([[1.0], [0.0]], (30, 1))
    groups = [str(place // 6) for place in range(60)]
    found = left_out(Examples(inputs, truths, groups), OUTPUTS, Settings(0, 0.0, dropped=0.0))
    assert auroc(found[:, 0], truths[:, 0] == 1) < 0.6
