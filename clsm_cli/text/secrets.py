"""Replace secrets by the name of their kind before a text is written anywhere.

Formats with a fixed prefix are matched by their own anchored pattern; what has none (passwords,
unknown tokens) is looked for only on the right of an assignment and must look random, because
entropy alone flags every git hash. Patterns are compiled at first need: the capture hook imports
this module on every turn and most turns hold no secret.
"""

from __future__ import annotations

import re
from functools import cache
from math import log2
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class MaskedText(NamedTuple):
    """A text without its secrets.

    Attributes:
        text: the text with every secret replaced by ``[masked:kind]``.
        found: kind → number of secrets of that kind.
    """

    text: str
    found: Mapping[str, int]


class _Rule(NamedTuple):
    kind: str
    hints: tuple[str, ...]  # one of these is in the lower-cased text, else the pattern is not tried
    pattern: str  # group 1 is what gets masked; without a group, the whole match
    accept: Callable[[str], bool] | None = None


_LEFT = r"(?<![A-Za-z0-9])"
_RIGHT = r"(?![A-Za-z0-9])"
_PLACEHOLDERS = frozenset(
    {"password", "passwd", "secret", "token", "changeme", "argon2id", "pbkdf2", "base64url"}
)


def _mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and sum(c.isalpha() for c in value) > 1


def _entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character: -Σ p·log2 p."""
    size = len(value)
    counts = [value.count(c) for c in set(value)]
    return -sum(n / size * log2(n / size) for n in counts)


def _named(value: str) -> bool:
    """Whether a value reads as a name, version or path of words rather than as random characters."""
    parts = [part for part in re.split(r"[._:/-]", value) if part]
    plain = all(
        len(part.rstrip("0123456789")) >= len(part) - 2
        and (part.isdigit() or part.rstrip("0123456789").isalpha())
        for part in parts
    )
    return len(parts) > 1 and plain


def _stands_for_another(value: str) -> bool:
    """Whether a value is a variable, a template slot or a dummy, hence no secret."""
    return (
        value[0] in "<{%*[("
        or value.startswith(("$", "xxx", "XXX", "..."))
        or value.lower().startswith(("your", "example", "placeholder", "redacted"))
        or value.lower() in _PLACEHOLDERS
    )


def _random(value: str) -> bool:
    return (
        _mixed(value)
        and _entropy(value) >= 1.9
        and not _named(value)
        and not _stands_for_another(value)
    )


def _password(value: str) -> bool:
    """Whether a value is like what people choose: no word alone, but words with a digit or a mark."""
    if _stands_for_another(value):
        return False
    if value.isdigit():
        return len(value) >= 6
    parts = [part for part in re.split(r"[._:/-]", value) if part]
    return any(c.isalpha() for c in value) and not all(p.isalpha() or p.isdigit() for p in parts)


def _url_password(value: str) -> bool:
    return not _stands_for_another(value)


_PHRASE = r"(?i:password|passwd|passphrase|passcode|pwd)"
_CREDENTIAL = (
    r"(?i:secret[_-]?key|client[_-]?secret|secret|token|"
    r"(?:api|access|auth|private|signing|encryption|master|account)[_-]?key)"
)
# A bracket only after a quote, conf["token"] = …: or "[masked:github-token]: …" would match too.
_ASSIGN = r"(?:[\"'`]\]?)?[ \t]{0,4}(?:=>|:=|==?|:)[ \t]{0,4}"
_QUOTED = r"[\"'`]([^\s\"'`]{%s})[\"'`]"
# No bracket, so that a call, an index or a mask is never taken for a value.
_BARE = r"([^\s\"'`,;<>(){}\[\]|]{%s}+)(?![(\[{])"

_RULES: tuple[_Rule, ...] = (
    _Rule(
        "private-key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,20000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        # A key cut off before its end mark: whatever still looks like its body.
        r"|(?:[\s\\]{0,4}[A-Za-z0-9+/=]{16,}+)+)?",
    ),
    _Rule("aws-access-key", ("akia", "asia"), _LEFT + r"A[KS]IA[A-Z0-9]{16}" + _RIGHT),
    _Rule(
        "aws-secret-key",
        ("secret",),
        r"(?i:secret_?access_?key|aws_?secret(?:_?key)?)" + _ASSIGN + r"[\"'`]?"
        r"([A-Za-z0-9/+]{40,}+)",
    ),
    _Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _LEFT + r"(?:gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_[A-Za-z0-9_]{22,}+)",
    ),
    _Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glptt-"),
        _LEFT + r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_.-]{20,}+",
    ),
    _Rule(
        "slack-token",
        ("xox", "xapp-"),
        _LEFT + r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}+",
        _mixed,
    ),
    _Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{20,}+)",
    ),
    _Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/\d{15,22}/([A-Za-z0-9_-]{40,}+)",
    ),
    _Rule(
        "discord-token",
        (".",),
        _LEFT + r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
        _mixed,
    ),
    _Rule(
        "stripe-key",
        ("k_live_", "k_test_", "whsec_"),
        _LEFT + r"(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}+",
        _mixed,
    ),
    _Rule(
        "google-key",
        ("aiza", "gocspx-", "ya29."),
        _LEFT + r"(?:AIza[A-Za-z0-9_-]{35,}+|GOCSPX-[A-Za-z0-9_-]{28,}+|ya29\.[A-Za-z0-9_-]{20,}+)",
    ),
    _Rule("anthropic-key", ("sk-ant-",), _LEFT + r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    _Rule(
        "openai-key",
        ("sk-",),
        _LEFT + r"sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}+|[A-Za-z0-9]{20,}+)",
        _mixed,
    ),
    _Rule("groq-key", ("gsk_",), _LEFT + r"gsk_[A-Za-z0-9]{40,}+"),
    _Rule("huggingface-token", ("hf_",), _LEFT + r"hf_[A-Za-z0-9]{30,}+"),
    _Rule("npm-token", ("npm_",), _LEFT + r"npm_[A-Za-z0-9]{36}" + _RIGHT),
    _Rule("pypi-token", ("pypi-",), _LEFT + r"pypi-[A-Za-z0-9_-]{40,}+", _mixed),
    _Rule(
        "telegram-token",
        (":",),
        r"(?:(?<![A-Za-z0-9])|(?<=/bot))[0-9]{8,10}:[A-Za-z0-9_-]{35,}+",
        _mixed,
    ),
    _Rule(
        "sendgrid-key",
        ("sg.",),
        _LEFT + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}+",
    ),
    _Rule("twilio-key", ("sk", "ac"), _LEFT + r"(?:SK|AC)[0-9a-f]{32}" + _RIGHT),
    _Rule("digitalocean-token", ("do",), _LEFT + r"do[opr]_v1_[0-9a-f]{64}" + _RIGHT),
    _Rule("age-key", ("age-secret-key-",), _LEFT + r"AGE-SECRET-KEY-1[0-9A-Z]{58}" + _RIGHT),
    _Rule(
        "jwt",
        ("eyj",),
        # Not after "-" or "_" either: else "eyJ-eyJ-…" would be read again from every piece.
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{4,}+\.[A-Za-z0-9_-]{10,}+",
    ),
    _Rule(
        "bearer-token",
        ("authorization",),
        r"(?i:authorization[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?(?:basic|bearer|token))[ \t]{1,3}"
        r"([A-Za-z0-9._~+/=-]{12,}+)",
    ),
    _Rule(
        "bearer-token",
        ("bearer",),
        _LEFT + r"[Bb]earer[ \t]{1,3}([A-Za-z0-9._~+/=-]{16,}+)",
        _random,
    ),
    _Rule("url-password", ("://",), r"(?<=://)[^\s/:@]{0,100}+:([^\s/@]{2,}+)@", _url_password),
    _Rule(
        "password",
        ("passw", "passphrase", "passcode", "pwd"),
        _PHRASE + r"(?:" + _ASSIGN + r"|[ \t]is[ \t:]{1,3}|[ \t]{1,2}(?=[\"'`]))"
        r"(?:" + _QUOTED % "6,200" + "|" + _BARE % "7,200" + ")",
        _password,
    ),
    _Rule(
        "password",
        ("--pass",),
        r"--pass(?:word|wd|phrase)?[ \t=]{1,2}[\"']?" + _BARE % "7,200",
        _password,
    ),
    _Rule(
        "secret",
        ("secret", "token", "key"),
        _CREDENTIAL + _ASSIGN + r"(?:" + _QUOTED % "12,400" + "|" + _BARE % "16,400" + ")",
        _random,
    ),
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def mask(text: str) -> MaskedText:
    """Replace every secret in ``text`` by ``[masked:kind]``.

    The result depends on the text alone, and masking a masked text changes nothing. Time is linear
    in the length of the text.

    Args:
        text: any text, of one or many lines.

    Returns:
        The masked text and how many secrets of each kind were found.

    >>> mask("token: " + "glpat-" + "a1B2" * 5)
    MaskedText(text='token: [masked:gitlab-token]', found={'gitlab-token': 1})
    >>> mask("password: see the vault").found
    {}
    """
    found: dict[str, int] = {}
    lowered = text.lower()
    for rule in _RULES:
        if any(hint in lowered for hint in rule.hints):
            text = _apply(rule, text, found)
    return MaskedText(text, found)


def _apply(rule: _Rule, text: str, found: dict[str, int]) -> str:
    pieces: list[str] = []
    done = 0
    for match in _compiled(rule.pattern).finditer(text):
        group = match.lastindex or 0
        secret = match.group(group)
        if "[masked:" in secret or (rule.accept and not rule.accept(secret)):
            continue
        pieces += text[done : match.start(group)], f"[masked:{rule.kind}]"
        done = match.end(group)
        found[rule.kind] = found.get(rule.kind, 0) + 1
    return "".join([*pieces, text[done:]]) if pieces else text
