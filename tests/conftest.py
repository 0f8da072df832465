"""What tests share: homes of their own, the installed model, a command line, hypothesis profiles."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from ingesting import new_store, opened, take
from integrations.endpoint import Endpoint, running
from processes import Cli, environment
from sample_store import NOW, SAMPLE
from sleeping import sleep

from clsm_cli.embedding import download, weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.heads import cross_encoder
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

# CLSM_EXAMPLES gives the examples that each property is tried with; without it each has its own
# number, and the same examples in every run.
settings.register_profile(
    "clsm",
    max_examples=int(os.environ.get("CLSM_EXAMPLES", "40")),
    deadline=None,
    print_blob=True,
    derandomize="CLSM_EXAMPLES" not in os.environ,
)
settings.load_profile("clsm")

_MEMORY, _ROOM = "/dev/shm", 4 << 30
"""A folder in memory, and the bytes that it must have; a run needs far less."""


def _lie_in_memory() -> None:
    """Let temporary folders lie in memory where it has room, and programs may lie there too.

    Commands sync what they write, and the tests run thousands of them: on a disk they would mostly
    wait for that. The fault rigs see to it that what is synced is what has to be.
    """
    with contextlib.suppress(OSError):
        found = os.statvfs(_MEMORY)
        has_room = found.f_bavail * found.f_frsize > _ROOM and not found.f_flag & os.ST_NOEXEC
        if has_room and os.access(_MEMORY, os.W_OK):
            tempfile.tempdir = _MEMORY


_lie_in_memory()
_OURS = ("CLSM_", "XDG_", "OPENCLAW_", "CLAUDE_")
_OF_A_RUN = frozenset({"CLSM_EXAMPLES", "CLSM_TURNS", "CLSM_MODEL_DIR"})
"""Variables that say how tests run, not what clsm finds."""
_HOMES = Path(tempfile.mkdtemp(prefix="clsm-homes-"))
_numbers = count()


def _move() -> None:
    """Into an empty home."""
    home = _HOMES / str(next(_numbers))
    home.mkdir(mode=0o700)
    os.environ["HOME"] = str(home)


def pytest_configure() -> None:
    """Leave the home of whoever runs the tests, before anything looks there.

    The model is read where it is installed, or where CLSM_MODEL_DIR says it is to be; on a machine
    without one it is installed for this run. Workers of xdist are given the same folder.
    """
    folder = weights.default_folder()
    if "CLSM_MODEL_DIR" not in os.environ and not weights.status(folder).installed:
        folder = _HOMES / "model"
    os.environ["CLSM_MODEL_DIR"] = os.path.abspath(folder)
    os.environ.setdefault("PIP_CONFIG_FILE", os.path.expanduser("~/.config/pip/pip.conf"))
    for name in [each for each in os.environ if each.startswith(_OURS)]:
        if name not in _OF_A_RUN:
            del os.environ[name]
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    _move()


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOMES, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The rigs first: a worker that ends with one of these keeps the others waiting."""
    items.sort(key=lambda item: item.path.name != "test_rigs.py")


@pytest.fixture(autouse=True)
def own_home() -> None:
    """A home for each test: no test finds what another left there."""
    _move()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-transcripts",
        action="store_true",
        help="write what the commands do now into tests/transcripts; read the diff",
    )


@pytest.fixture(scope="session")
def model_folder() -> Path:
    folder = weights.default_folder()
    download.install(folder)
    for head in cross_encoder.HEADS:
        cross_encoder.load(head)  # the first time folds it
    return folder


@pytest.fixture
def model_copy(model_folder: Path, tmp_path: Path) -> Iterator[Path]:
    """A model folder of its own; removed at once, since pytest keeps 90 MB for three runs."""
    folder = tmp_path / "model"
    download.install(folder, model_folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def encoder(model_folder: Path) -> Encoder:
    return Encoder.open(model_folder, threads=1)


def _desk(folder: Path, model: Path) -> Cli:
    # Inside the home folder, where paths are remembered from ``~`` on: ids do not depend on the test.
    home = folder / "home"
    work = home / "desk"
    work.mkdir(parents=True)
    return Cli(work, environment(home, model))


def _with_store(bare: Cli) -> Cli:
    layout.create(bare.store, bare.environment["TZ"])  # as "clsm init" does, without a process
    return Cli(bare.folder, {**bare.environment, "CLSM_STORE": str(bare.store)})


@pytest.fixture
def bare(tmp_path: Path, model_folder: Path) -> Cli:
    """The command line in an empty folder, without a store."""
    return _desk(tmp_path, model_folder)


@pytest.fixture
def cli(bare: Cli) -> Cli:
    """The command line with a new, empty store that ``CLSM_STORE`` names."""
    return _with_store(bare)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Cli:
    """The same for all tests of a module: a fixture fills the store, and who writes copies it."""
    return _with_store(_desk(tmp_path_factory.mktemp("shared"), model_folder))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A new, empty store of the machine ``pi``."""
    return new_store(tmp_path / "memory")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """A language model of this machine."""
    with running() as found:
        yield found


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk in memory with options such as its size; who may not is skipped."""
    disk = tmp_path / "disk"

    def mounted(options: str) -> Path:
        disk.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", options, "none", str(disk)]
        if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode:
            pytest.skip("needs root and the right to mount")
        return disk

    yield mounted
    subprocess.run(["umount", "-l", str(disk)], capture_output=True, check=False)


@contextlib.contextmanager
def _of_all(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A store that all workers of xdist have; who comes first makes it while the others wait."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"{name}-of-all"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder / "memory"
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """A store that holds the whole sample memory; tests copy it."""
    with _of_all(tmp_path_factory, "sample") as root:
        if not root.exists():
            report = take(new_store(root), SAMPLE / "workspace", SAMPLE / "sessions", now=NOW)
            assert not report.problems
    return root


@pytest.fixture(scope="session")
def slept_store(made_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after a night."""
    with _of_all(tmp_path_factory, "slept") as root:
        if not root.exists():
            shutil.copytree(made_store, root)
            sleep(opened(root), NOW)
    return root


@pytest.fixture
def sample(made_store: Path, tmp_path: Path) -> Store:
    """A copy of the sample store that a test may change."""
    return opened(shutil.copytree(made_store, tmp_path / "sample"))


@pytest.fixture
def slept(slept_store: Path, tmp_path: Path) -> Store:
    """A copy that a test may change."""
    return opened(shutil.copytree(slept_store, tmp_path / "slept"))


@pytest.fixture
def slept_cli(bare: Cli, slept_store: Path) -> Cli:
    """The command line with such a copy."""
    return bare.holding(slept_store)


@pytest.fixture(scope="session")
def worn_root(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """A store with a file of each kind, made once."""
    from faults.stores import worn  # a rig's; most tests do without

    with _of_all(tmp_path_factory, "worn") as root:
        return root if root.exists() else worn.make(root).root


@pytest.fixture
def worn_store(worn_root: Path, tmp_path: Path) -> Store:
    """A copy of it, to damage."""
    return opened(shutil.copytree(worn_root, tmp_path / "home/desk/memory", symlinks=True))
