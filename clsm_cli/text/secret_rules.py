"""What secrets look like: one pattern a kind, by the formats that their issuers publish.

A pattern is anchored at what is fixed in a format, repeats possessively and nests no repetition, so
that it takes linear time. What has nothing fixed (passwords, unknown tokens) is looked for only on
the right of an assignment and must look random: entropy alone flags every git hash.
"""

from __future__ import annotations

import re
from math import log2
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Rule(NamedTuple):
    """A kind of secret.

    Attributes:
        kind: What takes its place in a text.
        hints: One of these is in the lower-cased text, else the pattern is not tried.
        pattern: Group 1 is what gets masked; without a group, the whole match.
        accept: Whether what was matched is a secret; None: it is.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    accept: Callable[[str], bool] | None = None


LEFT = r"(?<![A-Za-z0-9])"
"""What stands before a key: no letter or digit; and ``RIGHT``: behind it."""
RIGHT = r"(?![A-Za-z0-9])"
_PLACEHOLDERS = frozenset(
    {"password", "passwd", "secret", "token", "changeme", "argon2id", "pbkdf2", "base64url"}
)


def is_mixed(value: str) -> bool:
    """Whether a value has letters and digits."""
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


def is_random(value: str) -> bool:
    """Whether a value looks drawn, not chosen: no name, no version, no slot of a template."""
    return (
        is_mixed(value)
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
    r"(?i:secret[_-]?key|client[_-]?secret|secret|token|api[_-]?(?:pass|pwd|pw)|[_-]pass|[_-]pw|"
    r"(?:api|access|auth|private|signing|encryption|master|account|iam|cloud)[_-]?key)"
)
# A bracket only after a quote, conf["token"] = …: or "[masked:github-token]: …" would match too.
_ASSIGN = r"(?:[\"'`]\]?)?[ \t]{0,4}(?:=>|:=|==?|::?)[ \t]{0,4}"
_QUOTED = r"[\"'`]([^\s\"'`]{%s})[\"'`]"
# No bracket, so that a call, an index or a mask is never taken for a value.
_BARE = r"([^\s\"'`,;<>(){}\[\]|]{%s}+)(?![(\[{])"

ISSUED: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("private key",),
        r"-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?"
        r"(?:(?:[^-]|-(?!---)){0,20000}-----? ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?"
        # A key cut off before its end mark: whatever still looks like its body.
        r"|(?:[\s\\]{0,4}[A-Za-z0-9+/=]{16,}+)+)?",
    ),
    Rule(
        "aws-access-key",
        ("a3t", "ab", "ac", "ag", "ai", "ak", "an", "ap", "ar", "as"),
        LEFT + r"(?:A3T[A-Z0-9]|ABIA|ACCA|AGPA|AIDA|AIPA|AKIA|ANPA|ANVA|AROA|APKA|ASCA|ASIA)"
        r"[A-Z0-9]{16,17}" + RIGHT,
        is_mixed,
    ),
    Rule(
        "aws-secret-key",
        ("aws",),
        r"(?i:aws)[^\n]{0,20}?(?i:key|pwd|pw|pass(?:word)?|token)[^\n]{0,20}?"
        r"[\"']([A-Za-z0-9/+]{40})[\"']",
    ),
    Rule(
        "aws-secret-key",
        ("secret",),
        r"(?i:secret_?access_?key|aws_?secret(?:_?key)?)" + _ASSIGN + r"[\"'`]?"
        r"([A-Za-z0-9/+]{40,}+)",
    ),
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        LEFT + r"(?:gh[pousr]_[A-Za-z0-9_.-]{36,}+|github_pat_[A-Za-z0-9_]{22,}+)",
    ),
    Rule(
        "gitlab-token",
        ("gl", "gr1348941", "_gitlab_session"),
        LEFT + r"(?:gl(?:agent|soat|ffct|p[at]t|ptt|oas|cbt|imt|rtr|[dfrw]t)-|GR1348941|"
        r"_gitlab_session=)[A-Za-z0-9_.-]{20,}+",
    ),
    Rule(
        "slack-token",
        ("xox", "xapp-"),
        LEFT + r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}+",
        is_mixed,
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{20,}+)",
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/\d{15,22}/([A-Za-z0-9_-]{40,}+)",
    ),
    Rule(
        "discord-token",
        (".",),
        LEFT + r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
        is_mixed,
    ),
    Rule(
        "stripe-key",
        ("k_live_", "k_test_", "whsec_"),
        LEFT + r"(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}+",
        is_mixed,
    ),
    Rule(
        "google-key",
        ("aiza", "gocspx-", "ya29."),
        LEFT + r"(?:AIza[A-Za-z0-9_-]{35,}+|GOCSPX-[A-Za-z0-9_-]{28,}+|ya29\.[A-Za-z0-9_-]{20,}+)",
    ),
    Rule("anthropic-key", ("sk-ant-",), LEFT + r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    Rule(
        "openai-key",
        ("sk-",),
        LEFT + r"sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}+|[A-Za-z0-9]{20,}+"
        r"|[A-Za-z0-9_-]{16,160}?(?:T3BlbkFJ|9wZW5BS|PcGVuQU)[A-Za-z0-9_-]{16,}+)",
        is_mixed,
    ),
    Rule("groq-key", ("gsk_",), LEFT + r"gsk_[A-Za-z0-9_-]{24,}+", is_random),
    Rule(
        "huggingface-token",
        ("hf_",),
        LEFT + r"hf_[A-Za-z0-9_-]{30,}+",
        lambda value: value[3:].isalnum() or is_random(value),
    ),
    Rule("npm-token", ("npm_",), LEFT + r"npm_[A-Za-z0-9_-]{36,}+", is_random),
    Rule("npm-token", (":_authtoken",), r":_authToken=[ \t]{0,4}([^\s\"'$]{8,}+)"),
    Rule("pypi-token", ("pypi-",), LEFT + r"pypi-[A-Za-z0-9_-]{40,}+", is_mixed),
    Rule(
        "telegram-token",
        (":",),
        r"(?:(?<![A-Za-z0-9])|(?<=/bot))[0-9]{8,10}:[A-Za-z0-9_-]{35,}+",
        is_mixed,
    ),
    Rule(
        "sendgrid-key",
        ("sg.",),
        LEFT + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}+",
    ),
    Rule(
        "twilio-key",
        ("a", "c", "fw", "ip", "ks", "mm", "no", "p", "qu", "re", "s", "tr", "ut", "x"),
        LEFT + r"(?:(?:A[CDL]|C[AFLNR]|FW|IP|KS|MM|NO|P[KN]|QU|RE|S[CDKM]|TR|UT|X[ER])"
        r"(?:[0-9a-f]{32}|[0-9A-F]{32})|(?:SK|AC)[a-z0-9]{32})" + RIGHT,
        is_mixed,
    ),
    Rule("digitalocean-token", ("do",), LEFT + r"do[oprs]_v1_[0-9a-f]{64}" + RIGHT),
    Rule("age-key", ("age-secret-key-",), LEFT + r"AGE-SECRET-KEY-1[0-9A-Z]{58}" + RIGHT),
    Rule(
        "jwt",
        ("eyj",),
        # Not after "-" or "_" either: else "eyJ-eyJ-…" would be read again from every piece.
        r"(?<![A-Za-z0-9_/+-])eyJ[A-Za-z0-9_=+/-]{4,}+(?:\.[A-Za-z0-9_=+/-]*+){1,16}",
        lambda value: is_mixed(value) and len(value) > 30,
    ),
    Rule(
        "encoded-token",  # JSON in base64, as cursors and sessions are
        ("eyj", "eyai", "ewo", "ew0k", "wyj", "w3s", "wwo", "ww0k", "wp7"),
        r"(?<![A-Za-z0-9_/+-])(?:e(?:yJ|yAi|woi|wog|w0K)|W(?:yJ|3si|wp7|wog|w0K|3sK))"
        r"[A-Za-z0-9_/+=-]{60,}+",
        is_mixed,
    ),
)
"""Formats with something fixed, of which most people hold a key."""

ASSIGNED: tuple[Rule, ...] = (
    Rule(
        "bearer-token",
        ("authorization",),
        r"(?i:authorization[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?(?:basic|bearer|token))[ \t]{1,3}"
        r"([A-Za-z0-9._~+/=-]{12,}+)",
    ),
    Rule(
        "bearer-token",
        ("bearer", "basic", "ntlm"),
        LEFT + r"(?i:bearer|basic|ntlm)[ \t]{1,3}([A-Za-z0-9._~+/=-]{16,}+)",
        is_random,
    ),
    Rule("url-password", ("://",), r"(?<=://)[^\s/:@]{0,100}+:([^\s/@]{2,}+)@", _url_password),
    Rule(
        "password",
        ("passw", "passphrase", "passcode", "pwd"),
        _PHRASE + r"(?:" + _ASSIGN + r"|[ \t]is[ \t:]{1,3}|[ \t]{1,2}(?=[\"'`]))"
        r"(?:" + _QUOTED % "6,200" + "|" + _BARE % "7,200" + ")",
        _password,
    ),
    Rule(
        "password",
        ("-pass",),
        r"(?<![A-Za-z0-9])--?(?:[a-z0-9]{1,20}-)?pass(?:word|wd|phrase)?[ \t=,\"']{1,3}"
        + _BARE % "4,200",
        _password,
    ),
    Rule(
        "secret",
        ("-token", "-secret", "-key", "-bearer"),
        r"(?<![A-Za-z0-9])--?(?:[a-z0-9]{1,20}-)?(?:token|secret|api-key|bearer)[ \t=,\"']{1,3}"
        + _BARE % "8,400",
        is_random,
    ),
    Rule(
        "password",
        ("curl",),
        r"\bcurl\b[^\n]{0,120}?[ \t](?:-[uU]|--(?:proxy-)?user)[ \t=]{0,2}[\"']?[^\s\"':]{0,64}+:"
        r"([^\s\"']{3,}+)",
        _url_password,
    ),
    Rule(
        "password",
        ("convertto-securestring", "keypasswd", "curlopt_"),
        r"(?:ConvertTo-SecureString(?:[ \t]{1,4}-(?:String|AsPlainText|Force)){0,3}[ \t]{1,4}[\"']?"
        r"|(?:CURLOPT_[A-Z0-9_]{1,40}|KEYPASSWD)[ \t]{0,4},[ \t]{0,4}\")([^\s\"']{4,200}+)",
        _url_password,
    ),
    Rule(
        "password",
        ("identified",),
        r"(?i:identified[ \t]{1,4}by)[ \t]{1,4}[\"']([^\s\"']{4,200}+)",
    ),
    Rule(
        "secret",
        ("secret", "token", "key", "pass", "pw"),
        _CREDENTIAL + _ASSIGN + r"(?:" + _QUOTED % "12,400" + r"|[\"'`]?" + _BARE % "16,400" + ")",
        is_random,
    ),
)
"""What has no format, but stands behind a word that says what it is."""
