"""Recognise what a transcript holds that is no memory: heartbeat polls, and clsm's own answers.

A recall that is read back as something that was said would make every answer its own evidence.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLLS = ("[OpenClaw heartbeat poll]", "Read HEARTBEAT.md if it exists")
ADVICE = "[clsm: advise the memory]"
"""How the task begins that ``clsm schedule install --adviser`` gives an agent at night."""
_BEFORE_ADVICE = 200
"""Characters that a scheduler puts before a task: its own name, the job's, the time."""
_NOTHING_TO_DO = frozenset({"HEARTBEAT_OK", "NO_REPLY"})
_CONTEXT_BEGIN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
_CONTEXT_END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
# A gateway may put the time before what it hands on.
_SUBAGENT = re.compile(r"(?:\[[^\]\n]{1,40}\] )?\[Subagent Context\]")
_TASK, _TASK_END = "[Subagent Task]\n", "\n\nBegin. Execute the assigned task"

_ENDS = ";&|()`\n"
"""What ends a simple command of a shell."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
# Words before the program that is really run.
_BEFORE = re.compile(
    r"!|\{|builtin|command|do|doas|else|env|exec|if|ionice|nice|nohup|pipx|run|setsid|stdbuf|sudo|then"
    r"|time|timeout|until|uv|uvx|watch|while|xargs|(?:ba|da|z|k|fi)?sh|(?:python|pypy)[\d.]*(?:\.exe)?"
)
_PROGRAM = re.compile(r"clsm(?:\.exe)?\Z")
_TOOL = re.compile(r"(?:\A|[^a-z0-9])clsm(?:\Z|[^a-z0-9])")
_OF_TOOL = re.compile(r"[\w./:-]+", re.ASCII)  # the characters that a tool's name may have (MCP)
_CORPUS = re.compile(r'"corpus\\*"\s*:\s*\\*"clsm\\*"')
_MAX_SHELLS = 4


def machine_talk(role: str, text: str) -> str | None:
    """Why a message is none of a person's or an agent's; None for a real one."""
    if role == "user" and text.startswith(_POLLS):
        return "heartbeat poll"
    if role == "user" and ADVICE in text[: _BEFORE_ADVICE + len(ADVICE)]:
        return "task of the adviser"
    if role == "user" and text.startswith("[OpenClaw exec completion]"):
        return "exec completion"
    if role == "assistant" and text.strip(" \t\r\n*_`.") in _NOTHING_TO_DO:
        return "heartbeat reply"
    return None


def without_context(text: str) -> str:
    """``text`` without the blocks that OpenClaw adds for the model; one left open runs to the end."""
    kept, place = [], 0
    while (begin := text.find(_CONTEXT_BEGIN, place)) >= 0:
        kept.append(text[place:begin])
        end = text.find(_CONTEXT_END, begin)
        place = len(text) if end < 0 else end + len(_CONTEXT_END)
    kept.append(text[place:])
    return "".join(kept).strip() if len(kept) > 1 else text


def subagent_task(text: str) -> str | None:
    r"""What an agent told a sub-agent of its own, without what OpenClaw says round it; else None.

    >>> subagent_task("[Subagent Context] You are one.\n\n[Subagent Task]\n\nLook.")
    'Look.'
    >>> subagent_task("What is a [Subagent Context]?") is None
    True
    """
    if not _SUBAGENT.match(text):
        return None
    _, found, task = text.partition(_TASK)
    return task.rpartition(_TASK_END)[0].strip() or task.strip() if found else text


def is_clsm_tool(name: str) -> bool:
    """Whether a tool is clsm itself, such as an MCP tool of its server."""
    return _OF_TOOL.fullmatch(name) is not None and _TOOL.search(name.lower()) is not None


def answers_from_clsm(text: str) -> bool:
    r"""Whether the result of a search over several memories holds what clsm gave it.

    OpenClaw's ``memory_search`` names the corpus of each hit; nested calls quote it once more.
    """
    return _CORPUS.search(text) is not None


def runs_clsm(command: str) -> bool:
    """Whether a shell command runs clsm anywhere: after ``cd``, in a pipe, in a subshell."""
    return "clsm" in command and _runs_clsm(command, _MAX_SHELLS)


def _runs_clsm(command: str, shells: int) -> bool:
    words: list[str] = []
    for word in [*_words(command), ";"]:
        if word and not word.strip(_ENDS):
            if _is_clsm(words, shells):
                return True
            words = []
        else:
            words.append(word)
            # A command in double quotes still runs: "$(clsm recall x)".
            inner = re.split(r"\$\(|`", word)[1:] if "clsm" in word and shells else ()
            if any("clsm" in part and _runs_clsm(part, shells - 1) for part in inner):
                return True
    return False


def _words(command: str) -> Iterator[str]:
    """The words of a command, and what ends a simple one; damage ends it."""
    lexer = shlex.shlex(command.replace("\\\n", ""), posix=True, punctuation_chars=_ENDS)
    lexer.commenters, lexer.whitespace, lexer.whitespace_split = "", " \t\r", True
    with contextlib.suppress(ValueError):
        yield from lexer


def _is_clsm(words: list[str], shells: int) -> bool:
    """Whether one simple command is clsm, once what may stand before a program is passed."""
    is_shell = False
    for place, word in enumerate(words):
        name, before = word.rsplit("/", 1)[-1], words[place - 1] if place else ""
        if _PROGRAM.match(name) or (before, word) == ("-m", "clsm_cli"):
            return True
        if is_shell and " " in word:  # bash -lc "…"
            return shells > 0 and _runs_clsm(word, shells - 1)
        is_shell = is_shell or name in _SHELLS
        is_option = bool(before) and (word.startswith("-") or word[:1].isdigit())
        is_option = is_option or before in {"-X", "-W"}
        if not (is_option or _ASSIGNMENT.match(word) or _BEFORE.fullmatch(name)):
            return False
    return False
