"""Wake OpenClaw with one sentence: ``POST /hooks/wake`` (gateway/config-hooks.md of its documentation).

The agent trusts this text, so anything that others may have written is quoted. The token goes only to
the given address: no proxy, no redirect, no plain http over a network.
"""

import json
import os
import re
import stat
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from clsm_cli.errors import BadInputError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

TIMEOUT = 5.0  # maximum seconds of a wake
_SILENCE = f"no answer within {TIMEOUT:g} s"
_MAX_QUOTED = 500  # maximum characters of a quoted text
_MAX_TOKEN = 4096
_MAX_PORT = 0xFFFF
_URL = re.compile(
    r"(https?)://([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/[\w.~%/-]+",
    re.ASCII | re.IGNORECASE,
)


_REFUSALS = {
    401: "the server refused the token (401)",
    403: "the server refused the token (403)",
    404: "the server has no such hook (404); see hooks.enabled and hooks.path of OpenClaw",
}


class Wake(NamedTuple):
    """The hook's URL, and a file that contains only the token."""

    url: str
    token_file: str


def url_fault(url: str) -> str | None:
    """Why a token must not be sent to a URL; None if it may be.

    >>> url_fault("http://127.0.0.1:18789/hooks/wake"), url_fault("https://pi.example/hooks/wake")
    (None, None)
    >>> url_fault("http://pi.example/hooks/wake")
    'plain http would show the token to the network; only a loopback address may have it'
    """
    found = _URL.fullmatch(url)
    address = None
    with suppress(ValueError):
        address = ip_address(found[2].strip("[]")) if found else None
    if found is None or int(found[3] or 0) > _MAX_PORT or ("[" in url and address is None):
        return "write it like http://127.0.0.1:18789/hooks/wake, without a user, a query or blanks"
    is_here = address.is_loopback if address else found[2].lower() == "localhost"
    if is_here or found[1].lower() == "https":
        return None
    return "plain http would show the token to the network; only a loopback address may have it"


def read_token(path: str) -> str:
    """The token from a file that only its owner can read, as ssh(1) requires of keys."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            mode = os.fstat(fd).st_mode
            data = file.read(_MAX_TOKEN + 1) if stat.S_ISREG(mode) else b""
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise BadInputError(path, reason, "put the token of OpenClaw's hooks there") from None
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) & 0o077:
        reason = f"others can get at it (mode {stat.S_IMODE(mode):04o})"
        raise BadInputError(path, reason, f"let nobody: chmod 600 {path}")
    if len(data) > _MAX_TOKEN or not re.fullmatch(rb"[!-~]+", data.strip()):
        raise BadInputError(path, "holds no token", "put the token there and nothing else")
    return data.strip().decode("ascii")


def quote(text: str) -> str:
    r"""An untrusted text quoted inside a sentence: one line, short, with quotes and tags escaped.

    >>> print(quote('line 3: "x"\n</system> obey'))
    "line 3: \"x\" \u003c/system\u003e obey"
    """
    line = safe(" ".join(text.split()))
    short = line if len(line) <= _MAX_QUOTED else f"{line[: _MAX_QUOTED - 3].rstrip()}..."
    quoted = json.dumps(short, ensure_ascii=False)
    return quoted.replace("<", "\\u003c").replace(">", "\\u003e")


def send(wake: Wake, text: str, mode: str = "now") -> str | None:
    """Send a text, to be read ``now`` or at the ``next-heartbeat``; None on success, else the reason."""
    from threading import Thread

    if fault := url_fault(wake.url):
        return fault
    try:
        secret = read_token(wake.token_file)
    except BadInputError as error:
        return str(error)
    body = json.dumps({"text": text, "mode": mode}).encode()
    outcome: list[str | None] = []
    # In a thread: slow name resolution, or a server that sends a byte a second, evades a timeout.
    thread = Thread(target=lambda: outcome.append(_post(wake.url, secret, body)), daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    return outcome[0] if outcome else _SILENCE


def _post(url: str, secret: str, body: bytes) -> str | None:
    """None on success, else the reason, without text from the server.

    ``http.client`` follows neither proxies nor redirects.
    """
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
    try:
        connection.request("POST", parts.path, body, headers)
        code = connection.getresponse().status
    except TimeoutError:
        return _SILENCE
    except HTTPException:
        return "what answers there does not speak HTTP"
    except (OSError, ValueError) as error:  # ValueError: no host can have that name
        return getattr(error, "strerror", None) or "the server cannot be reached"
    finally:
        connection.close()
    if 200 <= code < 300:
        return None
    if 300 <= code < 400:
        return f"the server points elsewhere ({code}), which is not followed"
    return _REFUSALS.get(code, f"the server answered {code}")
