import pytest

from clsm_cli.text.plain import to_plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] Call [[Ada Byrne]] #phone #today", "Call Ada Byrne"),
        ("- [x] **Done**: the `build.py` script", "Done: the build.py script"),
        ("3. See [the manual](https://example.org/a) first.", "See the manual first."),
        ("*Dune* and _Emma_ are on the shelf.", "Dune and Emma are on the shelf."),
        ("The port is ~~8080~~ 9090.", "The port is 9090."),
        ("#garden Tomatoes need sun.", "Tomatoes need sun."),
        ("The #garden needs sun.", "The garden needs sun."),
        ("C# and issue #4 stay.", "C# and issue #4 stay."),
        ("It lives in `level_db`.", "It lives in level_db."),
        ("Renew `*.ex.org`, see `#ops`, `a/**`.", "Renew *.ex.org, see #ops, a/**."),
        ("Look \U0001f600 here<br>now", "Look herenow"),
        ("More at https://example.org/x?y=1, says Ann.", "More at, says Ann."),
        ("a\n  b", "a b"),
        ("", ""),
    ],
)
def test_marks(text: str, expected: str) -> None:
    assert to_plain(text) == expected
