"""The head of names: what it reads from uses, and that its weights fit what it reads."""

from clsm_cli.heads import classifier
from clsm_cli.heads.name_head import DIMENSIONS, INPUTS, KINDS, judge_names, name_features

NOTES = [
    "# Team\n\n- Ask Maren whether Maren's sister comes.\n- **Risk:** the rate is high.\n",
    "Maren: I will call on Tuesday.\n\nA low risk, so we took the risk. Risk it.\n",
]


def _read(name: str) -> dict[str, float]:
    return dict(zip(INPUTS, name_features([name], NOTES)[name], strict=True))


def test_a_name_and_a_common_word_differ_in_how_they_are_used() -> None:
    name, word = _read("Maren"), _read("Risk")
    assert name["owner"] > 0 == word["owner"]
    assert name["speaks"] > 0 == word["speaks"]
    assert name["inside sentence"] > 0 == word["inside sentence"]
    assert word["bold label"] > 0 == name["bold label"]
    assert word["small"] == 0.4 > name["small"] == 0  # two of four, and one for doubt


def test_a_name_within_a_longer_word_is_no_use_of_it() -> None:
    assert _read("Mare")["uses"] == 0


def test_a_name_of_a_script_without_spaces_is_found_inside_its_line() -> None:
    told = name_features(["上杉", "Maren"], ["今日上杉さんと話した"])
    row = dict(zip(INPUTS, told["上杉"], strict=True))
    assert row["uses"] > 0
    assert row["other script"] == 1


def test_the_weights_fit_the_features() -> None:
    inputs = classifier.load("name").inputs
    assert inputs[: len(INPUTS)] == INPUTS
    assert len(inputs) == len(INPUTS) + DIMENSIONS


def test_a_link_makes_a_thing_of_no_kind() -> None:
    """In a vault everything is linked."""
    row = name_features(["Gutter"], ["- [[Gutter]]\n", "The [[Gutter]] leaks.\n"])["Gutter"]
    place = INPUTS.index("wiki link")
    assert row[place] > 0
    rows = (
        [*row[:place], share, *row[place + 1 :], *[0.0] * DIMENSIONS] for share in (row[place], 0)
    )
    linked, bare = judge_names(list(rows))
    assert linked.thing > bare.thing
    assert linked.kinds == bare.kinds


def test_a_file_is_a_thing_and_more_so_than_a_label() -> None:
    """Without vectors: zeros stand for a string that means nothing to the model."""
    notes = ["Run `make_map.py` first.\n", "See `make_map.py`.\n- **Note:** a note on notes.\n"]
    told = name_features(["make_map.py", "Note"], notes)
    file, label = judge_names([[*row, *[0.0] * DIMENSIONS] for row in told.values()])
    assert file.thing > 0.5 > label.thing
    assert max(KINDS, key=lambda kind: file.kinds[kind]) == "file"
