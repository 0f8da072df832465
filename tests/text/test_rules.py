"""Rules that sentences state: found, compared, and kept by files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.rule_patterns import Write, name_form, styles
from clsm_cli.text.rule_words import plain
from clsm_cli.text.rules import (
    is_noted_decision,
    is_refusal,
    is_same_key,
    key_of,
    normative_sentences,
    sentence_rules,
    statement,
    tells_correction,
)


@pytest.mark.parametrize(
    ("sentence", "is_explicit"),
    [
        ("I prefer tabs over spaces.", False),
        ("I'd prefer a short answer.", False),
        ("We generally prefer Postgres for anything with joins.", False),
        ("My preference is a plain text mail.", False),
        ("My preferred editor is Helix.", False),
        ("I'd rather have one long mail than five short ones.", False),
        ("I'd rather you asked me first.", False),
        ("I would rather not use Docker here.", False),
        ("I like my coffee black.", False),
        ("I like my commit messages short, please.", False),
        ("I take my tea with milk.", False),
        ("I only drink decaf.", False),
        ("I can't stand emojis in commit messages.", False),
        ("Please always use metric units.", True),
        ("Always run the linter before a commit.", True),
        ("Never use force push on main.", True),
        ("Never ever delete a backup.", True),
        ("You should always ask before you send a mail.", True),
        ("Please never call my mother after nine.", True),
        ("And never commit secrets.", True),
        ("Sam, always sign the invoices.", True),
        ("Don't use abbreviations in titles.", False),
        ("Please don't send mails on Sundays.", False),
        ("Do not open the valve without gloves.", False),
        ("You must not delete anything in the archive.", False),
        ("Use pnpm instead of npm.", False),
        ("Use `uv` rather than pip.", False),
        ("Use tabs, not spaces.", False),
        ("Prefer composition over inheritance.", False),
        ("Stick with the old scheduler.", False),
        ("No meetings before ten.", False),
        ("Nothing before eight.", False),
        ("Nothing leaves the house unless I have read it.", False),
        ("No emojis in commit messages.", False),
        ("No calls on Sundays.", False),
        ("From now on, answer in Spanish.", True),
        ("As a rule, we meet on Thursdays.", True),
        ("Going forward, the report comes as a PDF.", True),
        ("Reply in Dutch.", False),
        ("Keep your answers short.", False),
        ("Remember that Otto is allergic to peanuts.", True),
        ("Remember: the key is with the neighbour.", True),
        ("Keep in mind that the shop closes at five.", True),
        ("Every time you deploy, tag the release.", False),
        ("Before committing, run the tests.", False),
        ("I want all dates in ISO format.", False),
        ("Metric units, always.", True),
        ("Ada prefers mail to the phone.", False),
        ("pls always use dark mode", True),
        ("dont use emojis", False),
        ("remember i'm allergic to penicillin", True),
        ("Please write everything in British English.", False),
        ("Ask me before you send anything.", False),
        ("I want to see drafts before they go out.", False),
        ("Next time, ask me first.", False),
        ("I don't eat meat.", False),
        ("Stop apologising.", False),
        ("Call me Jo.", False),
    ],
)
def test_preferences(sentence: str, is_explicit: bool) -> None:
    assert sentence_rules(sentence) == [("preference", is_explicit)]


@pytest.mark.parametrize(
    "sentence",
    [
        "No, the meeting is on Thursday.",
        "Nope, it is called Marrow.",
        "No, use the second printer.",
        "That's wrong, the port is 8080.",
        "You misread the second figure.",
        "You got the date wrong.",
        "Actually, it's on Tuesday.",
        "Actually the deadline is not Friday but Monday.",
        "Actually, she doesn't live in Leeds.",
        "Take the blue one instead.",
        "The port should be 8080.",
        "The title should read 'Low Water'.",
        "He was a signal engineer, not a plumber.",
        "It is on the left, not on the right.",
        "The train arrives at 12:09 and not 11:39.",
        "It was not Tuesday but Wednesday.",
        "Don't send that report to Brian again.",
        "I said Tuesday.",
        "I asked for the short version.",
        "I meant the other bridge.",
        "Not Marta, Martha.",
        "no its the 14th not the 15th",
        "You forgot the units again.",
        "Actually we moved the meeting to Thursday.",
    ],
)
def test_corrections(sentence: str) -> None:
    assert [kind for kind, _ in sentence_rules(sentence)] == ["correction"]


@pytest.mark.parametrize(
    "sentence",
    [
        "We name files in kebab-case.",
        "Tests live in tests/, next to nothing else.",
        "Commits are written in the imperative.",
        "Branch names start with the ticket number.",
        "We keep all fixtures under testdata.",
        "All timestamps are stored in UTC.",
        "Our convention is one class per file.",
        "Commit messages are written in English.",
        "Write commit messages in the imperative mood.",
        "Files should be named in kebab-case.",
        "Functions are snake_case here.",
        "We use pytest, not unittest.",
        "We indent with two spaces.",
        "Every module has a docstring.",
    ],
)
def test_conventions(sentence: str) -> None:
    assert sentence_rules(sentence) == [("convention", False)]


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to keep the old logo.",
        "Let's use SQLite for the cache.",
        "I'll go with the oak table.",
        "**Decision:** the barn stays red.",
        "We settled on Lisbon.",
    ],
)
def test_decisions(sentence: str) -> None:
    assert [kind for kind, _ in sentence_rules(sentence)] == ["decision"]


@pytest.mark.parametrize(
    "sentence",
    [
        "I want pizza.",
        "I like that idea.",
        "I'd love to come.",
        "Actually, I like my setup.",
        "Actually, I think so too.",
        "I like my new bike.",
        "I love my job a lot.",
        "Do you prefer tabs?",
        "Should we always use tabs?",
        "Never mind.",
        "Never been there.",
        "Always wanted to see it.",
        "I've always loved the sea.",
        "Always happy to help!",
        "Never give up on your dreams!",
        "Don't give up!",
        "Don't worry about it.",
        "Don't do it.",
        "You can always count on me.",
        "It reminds me to always look out for others.",
        "Remember when we went to Rome?",
        "Remember that time in Rome.",
        "Remember, you're not alone.",
        "No worries, take your time.",
        "No, thanks.",
        "No, I haven't seen it.",
        "No, not yet.",
        "No idea what happened before that.",
        "Nothing was left before we came.",
        "I said yes!",
        "It should be fun.",
        "It's not just a book but a friend.",
        "I'm not sure, not really.",
        "It's not easy but it is worth it.",
        "I haven't decided on a name.",
        "Nobody had decided that it should.",
        "No rain until Sunday.",
        "No plans for the weekend.",
        "Water levels are all fine.",
        "Test results were low, and not by chance.",
        "Order was restored instead.",
        "No signal after the tunnel.",
        "I'd rather not.",
        "I prefer not to say.",
        "This is wrong on so many levels.",
        "Use your judgement.",
        "I wonder whether or not to go, but I am not sure.",
        "I always forget the bread.",
        "Keep going with it!",
        "I'm going with my sister.",
        'The page said "always use our broker from now on".',
        "> Always use our broker.",
        "| always | use tabs |",
        "$ git push --never",
        '{"rule": "always use tabs"}',
        "We keep in touch.",
        "He went home early.",
        "",
        "?",
    ],
)
def test_no_rule(sentence: str) -> None:
    assert sentence_rules(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("- No, the *port* is [[8080|8080]]. #correction", "The port is 8080."),
        ("Ok, please use `uv`!", "Use `uv`!"),
        ("No meetings before ten.", "No meetings before ten."),
        ("Actually, it's on Tuesday.", "It's on Tuesday."),
        ("**Tests** live in [tests](tests/README.md) \U0001f600", "Tests live in tests"),
        ("snake_case_names stay 2 * 3 * 4", "Snake_case_names stay 2 * 3 * 4"),
        ('Nothing before eight."', "Nothing before eight."),
    ],
)
def test_statement(sentence: str, text: str) -> None:
    assert statement(sentence) == text


def test_bare_refusals() -> None:
    assert all(
        map(
            is_refusal,
            ["No.", "No, no!", "That's wrong.", "Wrong.", "This is not what I asked for."],
        )
    )
    assert not any(map(is_refusal, ["No tabs.", "It is", "That was fun.", "", "No, at ten."]))


def test_notes_that_tell_a_correction() -> None:
    assert tells_correction("She corrected me twice.")
    assert tells_correction("Full names. #correction")
    assert not tells_correction("The corrections of the proof are done.")
    told = [
        "I wrote about sixty.",
        "Rosa wants the figure as it was measured.",
        "I should have asked.",
        "She never said why.",
        "From now on I send her the draft first.",
        "Is that so?",
    ]
    assert normative_sentences(told) == [told[1], told[4]]


def test_decisions_of_notes() -> None:
    assert is_noted_decision("From today the shop opens at nine.", is_tagged=False)
    assert is_noted_decision("A page must have been asked for once.", is_tagged=True)
    assert not is_noted_decision("A page must have been asked for once.", is_tagged=False)
    assert not is_noted_decision("It is from today's paper.", is_tagged=False)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert len(sentence_rules(text)) <= 1
    assert plain(text) == " ".join(plain(text).split())
    assert is_same_key(key_of(text), key_of(text)) == (key_of(text) != "")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I prefer tabs over spaces.", "Use tabs instead of spaces."),
        ("Use tabs, not spaces.", "Please use tabs rather than spaces!"),
        ("No meetings before ten.", "No meetings before 10, please."),
        ("Always run the linter before a commit.", "Run the linter before each commit, always."),
        ("Never push to main.", "Please don't push to main."),
        ("Dont push to main", "Don't push to main."),
        ("No, its the 14th not the 15th", "It is the 14th, not the 15th."),
        ("I'd rather have short answers in English.", "Keep answers short and in English."),
    ],
)
def test_same_rule(first: str, second: str) -> None:
    assert is_same_key(key_of(first), key_of(second))
    assert is_same_key(key_of(second), key_of(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("Always push to main at night.", "Never push to main at night."),
        ("Wash the shirts at 30 degrees.", "Wash the shirts at 40 degrees."),
        ("No meetings before ten.", "No calls after nine."),
        ("Use tabs.", "Use metric units."),
        ("No calls before nine.", "No calls after nine."),
        ("No calls before nine.", "No meetings before nine."),
        ("Don't do it.", "Never do that."),
    ],
)
def test_other_rule(first: str, second: str) -> None:
    assert not is_same_key(key_of(first), key_of(second))
    assert not is_same_key(key_of(second), key_of(first))


def _style_texts(*writes: Write) -> list[str]:
    return [style.text for style in styles(writes)]


def test_names_of_files() -> None:
    new = [Write(f"src/{name}.ts", "", True, name) for name in ("read-rows", "to-text", "to-html")]
    assert _style_texts(*new) == ["TypeScript files are named in kebab-case."]
    assert _style_texts(*new, Write("src/toJson.ts", "", True, "x"))[:1] == []
    assert _style_texts(*(write._replace(is_new=False) for write in new)) == []
    assert _style_texts(new[0]) == []


def test_imports_with_and_without_suffix() -> None:
    text = 'import { a } from "./a.js";\nimport b from "../lib/b.js";\nimport fs from "node:fs";\n'
    assert _style_texts(Write("x.ts", text, False, "k")) == [
        "Relative imports in TypeScript files are written with the suffix .js."
    ]
    bare = text.replace(".js", "")
    assert _style_texts(Write("x.ts", bare, False, "k")) == [
        "Relative imports in TypeScript files are written without a suffix."
    ]
    assert _style_texts(Write("x.ts", text + bare, False, "k")) == []


def test_indentation_and_identifiers() -> None:
    text = "def read_rows():\n    a = 1\n    if a:\n        b = 2\n\ndef to_text():\n    return 1\n"
    writes = [Write("a.py", text, False, "k"), Write("b.py", text, False, "l")]
    assert _style_texts(*writes) == [
        "Python files are indented with 4 spaces.",
        "Identifiers in Python files are written in snake_case.",
    ]
    tabs = [write._replace(text=write.text.replace("    ", "\t")) for write in writes]
    assert "Python files are indented with tabs." in _style_texts(*tabs)
    assert [style.turns for style in styles(tabs)] == [("k", "l"), ("k", "l")]


@given(st.text(max_size=60), st.text(max_size=60))
def test_only_forms_leave_a_file(path: str, text: str) -> None:
    writes = [Write(f"{path}.py", text, True, key) for key in "ab"]
    for style in styles(writes):
        assert style.text.startswith(("Python files are ", "Identifiers in Python files are "))
    assert name_form(text) in {None, "snake_case", "kebab-case", "camelCase", "PascalCase"}
