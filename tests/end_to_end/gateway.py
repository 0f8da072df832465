"""A real OpenClaw with a home of its own, on the loopback, and the ``clsm`` of this Python beside it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from processes import ran

from end_to_end.scripted_model import NAME, ScriptedModel, text_of

VERSION = "2026.9.x"
NODE = "24"
TOKEN = "loopback"


def install(folder: Path) -> None:
    """Install OpenClaw and the Node.js it needs from npm into a folder, 770 MB."""
    npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([*npm, f"node@{NODE}"], check=True)
    # OpenClaw looks at the version of the Node.js that installs it.
    path = f"{folder}/node_modules/node/bin{os.pathsep}{os.environ['PATH']}"
    subprocess.run([*npm, f"openclaw@{VERSION}"], check=True, env={**os.environ, "PATH": path})


class Gateway:
    """A gateway and its model, while it is entered.

    Attributes:
        model: What the agent's model was asked.
        home: The home folder of both programs.
        store: The memory, empty at first.
    """

    def __init__(self, folder: Path, openclaw: Path, model_folder: Path) -> None:
        self.home, self.store = folder / "home", folder / "home" / "memory"
        self.model = ScriptedModel()
        self.port = _free_port()
        self.log = folder / "gateway.log"
        modules = openclaw / "node_modules"
        paths = [os.path.dirname(sys.executable), f"{modules}/node/bin", f"{modules}/.bin"]
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([*paths, "/usr/bin", "/bin"]),
            "CLSM_MODEL_DIR": str(model_folder),
            "CLSM_STORE": str(self.store),
            # Not at three in the morning: nothing is started then.
            "TZ": "UTC" if time.gmtime().tm_hour not in {2, 3} else "Etc/GMT-6",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "NODE_COMPILE_CACHE": str(folder / "compiled"),
            "OPENCLAW_NO_RESPAWN": "1",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self.state = self.home / ".openclaw"
        (self.state / "workspace").mkdir(parents=True)
        (self.state / "openclaw.json").write_text(json.dumps(self._settings(), indent=2))
        self.clsm("init")

    def __enter__(self) -> Self:
        self.model.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.model.__exit__()

    def _settings(self) -> dict[str, Any]:
        """What OpenClaw needs to run on the loopback with the scripted model."""
        described = {
            "id": NAME, "name": NAME, "reasoning": False, "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 120_000, "maxTokens": 4096,
        }  # fmt: skip
        provider = {
            "baseUrl": f"http://127.0.0.1:{self.model.port}/v1",
            "apiKey": "none",
            "api": "openai-completions",
            "models": [described],
        }
        agents = {
            "workspace": str(self.state / "workspace"),
            "skipBootstrap": True,
            "model": {"primary": f"local/{NAME}"},
            "heartbeat": {"every": "0m", "target": "none"},
        }
        auth = {"mode": "token", "token": TOKEN}
        return {
            "gateway": {"mode": "local", "bind": "loopback", "port": self.port, "auth": auth},
            "logging": {"file": str(self.state / "openclaw.log")},
            "agents": {"defaults": agents},
            "models": {"mode": "replace", "providers": {"local": provider}},
            "tools": {"exec": {"mode": "full"}},
            "memory": {"search": {"provider": "none"}},
            "hooks": {"enabled": True, "token": f"{TOKEN}-hooks"},
        }

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                ["openclaw", "gateway", "run", "--port", str(self.port), "--bind", "loopback"],
                executable=shutil.which("openclaw", path=self.environment["PATH"]),
                env=self.environment,
                cwd=self.home,
                stdout=log,
                stderr=log,
            )
        wait_for(self._is_ready, "the gateway is ready")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    def say(self, text: str) -> str:
        told = self.openclaw("agent", "--agent", "main", "--message", text, "--json")
        payloads = json.loads(told)["result"]["payloads"]
        return "\n".join(payload.get("text") or "" for payload in payloads)

    def wake(self, text: str) -> None:
        """Have a heartbeat now."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/hooks/wake",
            data=json.dumps({"text": text, "mode": "now"}).encode(),
            headers={"authorization": f"Bearer {TOKEN}-hooks", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status < 300

    def openclaw(self, *words: str) -> str:
        """What ``openclaw WORDS`` prints; it must succeed."""
        return self._run("openclaw", *words)

    def clsm(self, *words: str) -> str:
        """What ``clsm WORDS`` prints; it must succeed."""
        return self._run("clsm", *words)

    def _run(self, program: str, *words: str) -> str:
        path = shutil.which(program, path=self.environment["PATH"])
        done = ran(program, *words, executable=path, env=self.environment, cwd=self.home)
        assert done.returncode == 0, f"{program} {' '.join(words)}: {done.stderr or done.stdout}"
        return done.stdout

    def asked(self, role: str, request: int = -1) -> str:
        """All that a request to the model said in a role."""
        messages = self.model.requests[request]
        return "\n".join(text_of(message) for message in messages if message["role"] == role)

    def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()
        with suppress(OSError):
            return bool(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5))
        return False


def wait_for(true: Any, what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
