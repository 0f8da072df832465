"""What the shipped heads say of documents and units that they were not fitted on."""

import json
from importlib import resources
from pathlib import Path

import pytest
from tables import table

from clsm_cli.config import ConsolidationSettings
from clsm_cli.consolidation.statement_selection import MIN_KIND_P, TALK_WORTH_SHARE
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.heads import classifier, judge, unit_features
from clsm_cli.model.episodes import Turn


def _turn(text: str, path: str, *heading: str) -> Turn:
    return Turn(text[:12], "", "assistant", text, path=path, heading=heading)


def _said(text: str) -> Turn:
    return Turn(text, "Mara", "user", text)


def test_inputs_are_those_that_the_weights_were_fitted_on() -> None:
    assert classifier.load("document").inputs == judge.NAMES
    inputs = classifier.load("unit").inputs
    shapes = (*unit_features.NAMES, *judge.DOCUMENT_LABELS)
    assert inputs[: len(shapes)] == shapes
    assert len(inputs) == len(shapes) + judge.DIMENSIONS
    kinds = classifier.load("kind")
    assert (kinds.inputs, kinds.groups) == (inputs, {"kind": judge.KINDS})


def test_a_decision_is_worth_more_than_a_stock_sentence() -> None:
    turns = [
        _turn("- **Be genuinely helpful, not performatively helpful.**", "SOUL.md", "Core Truths"),
        _turn(
            "- **Database:** Mara Hart decided on 2026-03-02 to keep PostgreSQL 16 on the server in Leeds.",
            "MEMORY.md",
            "Decisions",
        ),
    ]
    stock, decision = (judge.judge_units([turn], judge.about_document([turn])) for turn in turns)
    assert stock[0].chances["noise"] > 0.5 > decision[0].chances["noise"]
    assert decision[0].chances["keep"] > 2 * stock[0].chances["keep"]


def test_a_sentence_whose_secret_was_masked_is_worth_nothing() -> None:
    turn = _turn("- The server in Leeds: [masked:password]", "MEMORY.md", "Decisions")
    (masked,) = judge.judge_units([turn], judge.about_document([turn]))
    assert (masked.chances["noise"], masked.chances["keep"]) == (1, 0)


@pytest.mark.parametrize(("path", "heading", "text", "role"), table(__file__, "roles"))
def test_role_of_a_document(path: str, heading: str, text: str, role: str) -> None:
    about = judge.about_document([_turn(text, path, heading)])
    assert max(judge.ROLES, key=lambda name: about[name]) == role


def test_words_tell_what_is_worth_keeping_of_a_talk(encoder: Encoder, model_folder: Path) -> None:
    """Both are short, plain and alike in shape."""
    assert encoder  # the model is installed
    turns = [_said("My sister Anna is a vet."), _said("That is a nice idea.")]
    told = judge.judge_units(turns, None, StaticVectors.open(model_folder).mean_vectors)
    fact, talk = (each.chances["keep"] for each in told)
    assert fact > 2 * talk


@pytest.mark.parametrize(("said", "place", "is_kept"), table(__file__, "rules and fragments"))
def test_rules_of_a_talk_are_kept_and_fragments_are_not(
    encoder: Encoder, model_folder: Path, said: str, place: str, is_kept: str
) -> None:
    assert encoder  # the model is installed
    words = StaticVectors.open(model_folder).mean_vectors
    turns = [Turn("k", "user", "user", said), Turn("l", "assistant", "assistant", "Noted.")]
    chances = judge.judge_units(turns, None, words)[int(place)].chances
    settings = ConsolidationSettings()
    assert (is_kept == "yes") == (
        chances["keep"] >= settings.worth * TALK_WORTH_SHARE and chances["noise"] <= settings.noise
    )


@pytest.mark.parametrize(("said", "is_preference"), table(__file__, "preferences"))
def test_a_rule_of_a_talk_is_a_preference(
    encoder: Encoder, model_folder: Path, said: str, is_preference: str
) -> None:
    assert encoder  # the model is installed
    words = StaticVectors.open(model_folder).mean_vectors
    (told,) = judge.judge_units([Turn("k", "user", "user", said)], None, words)
    assert (is_preference == "yes") == (told.chances["preference"] >= MIN_KIND_P)


def test_shipped_figures_of_kinds() -> None:
    weights = resources.files("clsm_cli.heads") / "weights" / "kind.json"
    figures = json.loads(weights.read_text("utf-8"))["figures"]
    for part in ("notes", "written talks"):  # of real conversations too few are called one
        called = figures[part]["preference called"]
        assert figures[part]["preference called rightly"] >= 0.75 * called > 0


def test_shipped_figures_on_left_out_workspaces() -> None:
    weights = resources.files("clsm_cli.heads") / "weights" / "unit.json"
    figures = json.loads(weights.read_text("utf-8"))["figures"]["hidden"]["all"]
    assert figures["noise AUROC"] >= 0.84
    assert figures["keep AUROC"] >= 0.8
    assert figures["with headings AUROC"] >= 0.84
