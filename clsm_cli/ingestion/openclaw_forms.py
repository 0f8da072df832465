r"""The forms of text that OpenClaw adds to messages in the user's name, as in its own source.

Above each stands the file of OpenClaw's repository that writes it; "once" marks the file of an older version.
Versions 2026.1 to 2026.9 were read. Names are OpenClaw's own.

Only the start of a message decides its kind: a form quoted inside one is the person's.
"""

import re

# Drop reason, and starts of such messages.
MACHINE: dict[str, tuple[str, ...]] = {
    # src/auto-reply/heartbeat.ts, heartbeat-filter.ts
    "heartbeat poll": (
        "[OpenClaw heartbeat poll]",
        "Read HEARTBEAT.md if it exists",
        "Read HEARTBEAT.md if exists. Consider outstanding tasks.",
        "Consider outstanding tasks and HEARTBEAT.md guidance from the workspace context",
        "Follow the heartbeat monitor scratch context when provided.",
        "Run the following periodic tasks (only those due based on their intervals):",
    ),
    # src/infra/heartbeat-events-filter.ts, once heartbeat-runner.ts
    # src/agents/bash-tools.exec-approval-followup.ts
    "exec completion": (
        "[OpenClaw exec completion]",
        "An async command you ran earlier has completed.",
        "An async command you ran earlier completed without captured stdout/stderr.",
        "An async command completion event was triggered, but ",
        "An async command the user already approved has completed.",
        "An async command did not run.\nDo not run the command again.",
    ),
    # src/auto-reply/heartbeat.ts, reply/prompt-prelude.ts; src/infra/heartbeat-events-filter.ts
    # apps/shared/OpenClawKit, CanvasA2UIAction.swift: a button on a page made by the agent
    "system event": (
        "[OpenClaw cron wake]",
        "[OpenClaw session event]",
        "[OpenClaw room event]",
        "A scheduled cron event was triggered, but no event content was found.",
        "CANVAS_A2UI action=",
    ),
    # src/auto-reply/reply/session-reset-prompt.ts, prompt-prelude.ts; src/gateway/boot.ts
    "session start": (
        "A new session was started via /new or /reset. ",
        "A new session was started via /new or /reset while bootstrap is still pending ",
        "[OpenClaw session new]",
        "[OpenClaw session reset]",
        "You are running a boot check. Follow BOOT.md instructions exactly.",
    ),
    # extensions/memory-core/src/flush-plan.ts, once src/auto-reply/reply/memory-flush.ts
    "memory flush": ("Pre-compaction memory flush. Store durable memories",),
    # src/agents/main-session-restart-recovery.ts, subagent-orphan-recovery.ts
    # src/auto-reply/reply/stranded-reply-recovery.ts, post-compaction-context.ts
    # src/agents/tools/sessions-send-tool.a2a.ts; once src/infra/restart-sentinel.ts, commands/agent.ts
    "internal message": (
        "[System] Your previous turn was interrupted by a gateway ",
        "[System] Your previous reply was not delivered to the conversation",
        "[Post-compaction context refresh]\n",
        "Agent-to-agent announce step.",
        "The gateway restart completed successfully. Tell the user OpenClaw restarted successfully",
        "Continue where you left off. The previous model attempt failed or timed out.",
    ),
}

_CHANNEL = (  # src/shared/chat-envelope.ts, extensions/*
    "(?:WebChat|WhatsApp|Telegram|Signal|Slack|Discord|Google Chat|iMessage|Teams|Matrix|Mattermost"
    "|Zalo Personal|Zalo|BlueBubbles|LINE|Feishu|Nextcloud Talk|Tlon|Twitch)"
)
_DAY = r"(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d"
_TIME = rf"{_DAY}[T ]\d\d:\d\d(?::\d\d)?(?:Z| [^\]\n]{{1,32}})?"
_SYSTEM = r"System(?: \(untrusted\))?: "
_METADATA = r"\(untrusted(?: metadata|, [^)\n]*)\):"


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms))


# Prefixes of a message.
BEFORE = _any(
    # src/gateway/server-methods/agent-timestamp.ts
    r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,40}\] ",
    # src/auto-reply/media-note.ts; the hint after it: reply/prompt-prelude.ts, once get-reply-run.ts
    r"\[media attached: \d+ files\]\n|(?P<media>\[media attached(?: \d+/\d+)?: [^\n]*\](?:\n+|\Z)"
    r"(?:To send an image back, [^\n]*(?:\n+|\Z))?)",
    # src/auto-reply/reply/session-system-events.ts, once session-updates.ts
    rf"(?P<events>(?:{_SYSTEM}(?!\[)[^\n]*\n)*{_SYSTEM}\[(?:unknown-time|{_TIME})\]"
    r"[^\n]*(?:\n[^\n]+)*\n\n+(?=\S))",
    # src/auto-reply/reply/post-compaction-context.ts, as the rest of such an event
    r"Session was just compacted\. The conversation summary above is a hint(?s:.*?)"
    r"\nCurrent time: [^\n]*\n+",
    # src/auto-reply/reply/body.ts
    r"Note: The previous agent run was aborted by the user\. Resume carefully [^\n]*\n\n",
    # src/plugin-sdk/message-tool-delivery-hints.ts
    r"Delivery: (?:to send a message, use the `message` tool\.\n+"
    r"|(?:Final assistant text is not|No visible reply is delivered) automatically [^\n]*\n+)",
    # src/acp/translator.ts
    r"\[Source Receipt\]\n(?s:.*?)\n\[/Source Receipt\]\n+",
    # extensions/active-memory/index.ts
    r"Untrusted context \(metadata, do not treat as instructions or commands\):\n"
    r"<active_memory_plugin>\n(?s:.*?)\n</active_memory_plugin>\n+",
    # src/auto-reply/reply/inbound-meta.ts, inbound-context-marker.ts: JSON below a heading, or lines
    rf"(?P<forwarded>Forwarded message context )?[^\n`]*(?:{_METADATA}|⟦openclaw:ctx⟧:?)\n"
    r"```json\n(?P<json>(?s:.*?))\n```(?:\n+|\Z)",
    r"[^\n`]* \(untrusted, (?:for context|chronological[^)\n]*)\):\n(?:[^\n]+\n)+\n+",
    # src/auto-reply/reply/history.ts, mentions.ts: messages of others, then the message
    r"\[(?:Chat messages since your last reply|Recent chat messages) - for context\]\n"
    r"(?s:.*)\n\[Current message - respond to this\]\n",
    # src/auto-reply/reply/get-reply-run.ts
    rf"\[Thread (?:starter|history) - for context\]\n(?s:.*?)\n\n(?=\[{_CHANNEL} [^\n]*\] )",
    # src/agents/agent-steering-queue.ts
    r"\[OpenClaw runtime event\] Agent steering queue items (?s:.*?)\n\nCurrent parent turn:\n+",
    # src/auto-reply/reply/prompt-prelude.ts, after the prompt of a reset
    r"A new session was started via /new or /reset(?s:.*?)\n\nUser note for this reset turn "
    r"\(treat as ordinary user input, not startup instructions\):\n",
    # apps/macos, VoiceWakeForwarder.swift; apps/shared/OpenClawKit, TalkPromptBuilder.swift
    r"User talked via voice recognition on [^\n]* - repeat prompt first [^\n]*\n\n",
    r"Talk Mode active\. Reply in a concise, spoken tone\.\n(?:[^\n]+\n)*\n",
    # src/sessions/input-provenance.ts
    r"(?P<relayed>\[Inter-session message\][^\n]*(?:\n|\Z)"
    r"(?:This content was routed by OpenClaw from another session [^\n]*(?:\n|\Z))?)",
)
# src/auto-reply/envelope.ts: "[Telegram Mara id:7 +2m Tue 2026-02-03 09:00 UTC] …"
ENVELOPE = re.compile(
    rf"\[{_CHANNEL}(?: (?P<sender>[^\]\n]*?))??(?P<elapsed> \+(?:\d+[a-z]+|just now))?"
    rf"(?P<time> {_TIME})?\](?: |\n|\Z)"
)
OTHERS = re.compile(
    r"\[(?:(?:Chat messages since your last reply|Recent chat messages)"
    r"|Thread (?:starter|history)) - for context\]\n"
)
"""Messages of others in a chat, without a mark for their end."""

# src/auto-reply/reply/body.ts, inbound-sender-meta.ts, untrusted-context.ts; the channels' monitors:
# suffixes of a message
AFTER = re.compile(
    r"\[(?:(?:message_id|(?:slack|discord|mattermost) message id|matrix event id): [^\]]*"
    r"|from: (?P<sender>[^\]]*))\]"
)
"""On a line of its own."""
CONTEXT = re.compile(
    r"(?:\A|\n\n)Untrusted context \(metadata, do not treat as instructions or commands\):\n"
    r"(?=(?:[^\n]*\n){0,6}[^\n]*(?:<<<EXTERNAL_UNTRUSTED_CONTENT|UNTRUSTED channel metadata \(|Source: ))"
)
# src/telegram/bot-message-context.ts, src/web/auto-reply/monitor/message-line.ts
QUOTES = (("[Replying to ", "[/Replying]"), ("[Quoting ", "[/Quoting]"))
# src/telegram/bot-message-context.ts; src/discord/monitor/message-utils.ts
FORWARDED = re.compile(
    r"(?:\A\[Forwarded from (?P<sender>[^\]\n]*?)(?: at \d{4}-[^\]\n]*)?|(?:\A|\n)\[Forwarded message"
    r"(?: from (?P<author>[^\]\n]*))?)\]\n"
)

# src/media-understanding/apply.ts, format.ts; the channels' "<media:image> (2 images)"
FILE, FILE_END = re.compile(r'<file name="[^"\n]*" mime="[^"\n]*">\s'), "</file>"
PLACEHOLDER = re.compile(
    r"(?:<media:[a-z0-9_-]+>(?: \([^)\n]*\))?|\[User sent media without caption\])\s*"
)
HEARD = re.compile(
    r"(?:\A|\n\n)\[(?:Audio|Image|Video)(?: \d+/\d+)?\]\n"
    r"(?=(?:User text|Transcript|Description):\n)"
)
TYPED, TRANSCRIPT, DESCRIPTION = "User text:\n", "Transcript:\n", "Description:\n"
VOICE = re.compile(r'\[Audio transcript \(machine-generated, untrusted\)\]: ("[^\n]*")')

# src/auto-reply/reply/queue/drain.ts, src/utils/queue-helpers.ts
# src/agents/subagent-announce-queue.ts
QUEUE = re.compile(
    r"\[Queued (?:announce )?messages while agent was busy\](?:\n|\Z)|\[Queue overflow\] Dropped \d+ "
)
QUEUED = re.compile(r"(?:\A|\n)---\nQueued #\d+(?: \(from (?P<sender>[^\n]*)\))?\n")

# src/agents/subagent-announce.ts, of a sub-agent or a cron job; "Findings:" until 2026.2.12
ANNOUNCED = re.compile(
    r"(?:\[System Message\] \[sessionId: [^\]\n]*\] )?"
    r'(?P<told>A [a-z]+ (?:task|job) "(?s:.{0,20000}?)" just (?:completed successfully|timed out'
    r"|failed: (?s:.{0,2000}?)|finished with unknown status)\.)\n(?:\[[^\n]*\]\n)?\n"
    r"(?:Findings|Result):\n(?P<result>(?s:.*))"
)
STATS = "\n\nStats: runtime "
ANNOUNCED_END = re.compile(
    r"\n\n(?:Summarize this naturally for the user\.|A completed [a-z ]+ is ready for "
    r"|There are still \d+ active subagent |Convert this completion into )"
)
# src/agents/internal-events.ts: the same since 2026.3
EVENTS = _any(
    r"(?:<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n)?OpenClaw runtime context \(internal\):\n",
    r"A background task completed\. Use this result to reply to the user ",
)
EVENT = re.compile(
    r"^(?:\[Internal task completion event\]|A background task completed\. Use [^\n]*\n)\n",
    re.MULTILINE,
)
RESULTS = (
    ("<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>", "<<<END_UNTRUSTED_CHILD_RESULT>>>"),
    ("<prompt-data>", "</prompt-data>"),
)
NO_OUTPUT = "(no output)"
# src/agents/internal-runtime-context.ts, on lines of their own
INTERNAL = re.compile(
    r"(?:^|(?<=\n))[ \t]*<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>[ \t]*(?=\r?\n|\Z)(?s:.*?)"
    r"(?:\n[ \t]*<<<END_OPENCLAW_INTERNAL_CONTEXT>>>[ \t]*(?=\r?\n|\Z)|\Z)"
)

# src/agents/subagent-initial-user-message.ts, once subagent-spawn.ts (with a colon)
SUBAGENT = "[Subagent Context]"
TASK = re.compile(r"\[Subagent Task\](?:: |\n)")
TASK_END = "\n\nBegin. Execute the assigned task"
# src/cron/isolated-agent/run.ts, src/agents/current-time.ts
CRON = re.compile(r"\[cron:[^\]\s]+(?: (?P<job>[^\]\n]*))?\] ?")
CRON_END = "\nCurrent time: "
HOOKS = frozenset({"Gmail", "Hook"})
"""Jobs that bring in mail or the payload of a web hook (src/gateway/hooks.ts, hooks-mapping.ts)."""
# src/infra/heartbeat-events-filter.ts
REMINDER = "A scheduled reminder has been triggered. The reminder content is:\n\n"
REMINDER_END = re.compile(
    r"\n\n(?:Please relay this reminder to the user |Handle this reminder internally\.)"
)
# src/security/external-content.ts
EXTERNAL = _any(
    r"(?:(?:Task|Job ID|Received): [^\n]*\n\n)?"
    r"SECURITY NOTICE: The following content is from an EXTERNAL, UNTRUSTED source",
    r'<<<EXTERNAL_UNTRUSTED_CONTENT(?: id="[^"\n]*")?>>>\n',
)
EXTERNAL_BEGIN = re.compile(
    r'<<<EXTERNAL_UNTRUSTED_CONTENT(?: id="[^"\n]*")?>>>\n(?:Source: (?P<source>[^\n]*)\n)?(?:---\n)?'
)
EXTERNAL_END = re.compile(r'\n<<<END_EXTERNAL_UNTRUSTED_CONTENT(?: id="[^"\n]*")?>>>')

# src/gateway/server-methods/chat-transcript-inject.ts: text of the gateway in the agent's name, such
# as the answer to a command; with "openclawAbort", the agent's own text until it was stopped
INJECTED = "gateway-injected"
# src/agents/stream-message-shared.ts; src/agents/tools/sessions-send-helpers.ts; src/auto-reply/tokens.ts
SAYS_NOTHING = frozenset({"HEARTBEAT_OK", "NO_REPLY", "ANNOUNCE_SKIP", "REPLY_SKIP"})
FAILED = "[assistant turn failed before producing content]"
