from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.rule_styles import Write, name_form, styles


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
