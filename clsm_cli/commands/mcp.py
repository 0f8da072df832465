"""``clsm mcp``: the memory as tools for any agent that speaks the Model Context Protocol."""

import signal
import sys
from importlib.util import find_spec

from clsm_cli.commands.command_line import Common, chosen_root
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer
from clsm_cli.errors import BadInputError, ClsmError
from clsm_cli.extras import how_to_get


@command(
    "clsm mcp                          # what an agent starts; it speaks JSON-RPC on stdio",
    "clsm mcp --store ~/notes/memory",
    "claude mcp add clsm -- clsm mcp   # Claude Code",
    no_effect=("now",),
)
def mcp(*, common: Common) -> None:
    """Serve the memory to an agent over MCP, on standard input.

    Tools: recall, context, show, history, note, feedback, packet, answer. It runs until
    standard input ends; every call opens the store anew. It needs the official SDK, and
    says how to get it.
    """
    if find_spec("mcp") is None:
        reason = "needs the official SDK"
        raise BadInputError("clsm mcp", reason, f"install it with: {how_to_get('mcp')}")
    if sys.stdin is None or sys.stdout is None:
        reason = "standard input or output is closed"
        raise BadInputError("clsm mcp", reason, "let an agent start it: see docs/mcp.md")
    from clsm_cli.commands.mcp_tools import MemoryTools, Server

    printer = Printer(quiet=common.quiet)
    try:
        chosen_root(common.store)
    except ClsmError as error:
        printer.warn(str(error))  # warn and keep serving: every call reports it too
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C would wait for more input
    try:
        Server(MemoryTools(common.store, printer)).run()
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client closed the pipe
