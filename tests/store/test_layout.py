import shutil
from pathlib import Path

import pytest
from tables import table

from clsm_cli.errors import (
    BadInputError,
    ClsmError,
    DamagedStoreError,
    NewerFormatError,
    StoreNotFoundError,
)
from clsm_cli.model.ids import is_id
from clsm_cli.startup import zones
from clsm_cli.store import layout


def make(root: Path) -> Path:
    assert layout.create(root, "Europe/Berlin")
    return root.resolve()


@pytest.mark.parametrize("what", ["a file in it", "a stream of its own", "a file"])
def test_a_foreign_folder_is_refused_and_untouched(tmp_path: Path, what: str) -> None:
    root = tmp_path / "m"
    if what == "a file":
        root.write_text("mine")
    elif what == "a file in it":
        root.mkdir()
        (root / "thesis.md").write_text("mine")
    else:
        (root / "projects").mkdir(parents=True)
        (root / "projects" / "thesis.md").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadInputError, match="is not empty and not a store"):
        layout.create(root, "UTC")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_repository_and_an_interrupted_creation_are_no_obstacle(tmp_path: Path) -> None:
    root = tmp_path / "m"
    for name in (".git", "identity", "flow"):
        (root / name).mkdir(parents=True)
    (root / ".tmp-clsm.yaml").write_text("form")
    (root / ".gitignore").write_text("")
    make(root)


def test_the_store_is_found_in_order(tmp_path: Path) -> None:
    named, from_env, above, home = (make(tmp_path / n) for n in ("a", "b", "c", "h/.clsm/memory"))
    inner = above / "projects" / "graph"
    inner.mkdir(parents=True)
    env = {"HOME": str(tmp_path / "h")}
    with_env = env | {"CLSM_STORE": str(from_env)}
    assert layout.discover(str(named), with_env, inner) == named
    assert layout.discover(None, with_env, inner) == from_env
    assert layout.discover(None, env, inner) == above
    assert layout.discover(None, env, tmp_path) == home
    link = tmp_path / "link"
    link.symlink_to(named)
    assert layout.discover(str(link), env, tmp_path) == named


@pytest.mark.parametrize("named", ["missing", "~nosuchuser/x", "a\0b", "x" * 5000, "file", "."])
def test_a_named_store_that_is_none_is_not_replaced_by_another(tmp_path: Path, named: str) -> None:
    make(tmp_path / "h" / ".clsm" / "memory")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreNotFoundError, match="create one with: clsm init") as caught:
        layout.discover(
            str(tmp_path / named) if named[0] != "~" else named,
            {"HOME": str(tmp_path / "h")},
            tmp_path / "h" / ".clsm" / "memory",
        )
    assert caught.value.exit_code == 11


CONFIGS: list[tuple[str, type[ClsmError], str]] = [
    ("format: 2\nnew_syntax: yes\n", NewerFormatError, "format 2 is newer than the 1"),
    ("format: 99\ntime_zone: Mars/Base\nsettings: {recall.vibes: 1}\n", NewerFormatError, "pip"),
    ("", DamagedStoreError, "'format' must be a whole number"),
    ("format: 1\nx: " + "y" * (64 << 10), DamagedStoreError, "is larger than 64 KiB"),
    *((text, DamagedStoreError, reason) for text, reason in table(__file__, "damaged")),
]


@pytest.mark.parametrize(("text", "error", "reason"), CONFIGS)
def test_a_config_that_cannot_be_read_is_named(
    tmp_path: Path, text: str, error: type[ClsmError], reason: str
) -> None:
    root = make(tmp_path / "m")
    (root / "clsm.yaml").write_text(text)
    with pytest.raises(error, match=reason) as caught:
        layout.open_store(root, {})
    assert caught.value.exit_code == (14 if error is NewerFormatError else 13)
    assert "clsm.yaml" in str(caught.value)


def test_what_this_version_does_not_know_is_ignored(tmp_path: Path) -> None:
    root = make(tmp_path / "m")
    others = "  recall.k: 5\n  recall.vibes: 3\n  5: 3\n  recall: 3\nllm: {base_url: 'http://x'}\n"
    (root / "clsm.yaml").write_text(f"format: 1\nsettings:\n{others}")
    store = layout.open_store(root, {})
    assert (store.settings.recall.k, store.misplaced) == (5, ())
    assert store.unknown == ("5", "llm", "recall", "recall.vibes")


@pytest.mark.parametrize(
    "text",
    [
        'format: 1\nstore: "x"\nsettings: {"recall.k": 5, "boundary.gamma": 2}\n',
        "# mine\nformat: 1\nsettings:\n  # fewer\n  recall.k: 5\n  boundary.gamma: 2.0\n",
        "\ufeff# mine\r\nformat: 1\r\nsettings:\r\n  recall.k: 5\r\n  boundary.gamma: 2\r\n",
        "format: 1\nsettings:\n  boundary.gamma: 2\n  recall.k: 5",
    ],
    ids=["ours", "block", "crlf", "no newline at the end"],
)
def test_settings_are_read_however_a_person_writes_them(tmp_path: Path, text: str) -> None:
    root = make(tmp_path / "m")
    (root / "clsm.yaml").write_bytes(text.encode())
    settings = layout.open_store(root, {}).settings
    assert (settings.recall.k, settings.boundary.gamma) == (5, 2.0)
    assert type(settings.boundary.gamma) is float


def test_the_device_is_stable_and_its_own_for_each_clone(tmp_path: Path) -> None:
    root = make(tmp_path / "m")
    device = layout.open_store(root, {}).device
    assert is_id(device)
    (root / ".clsm").mkdir()
    (root / ".clsm" / "device").write_text(f"{device}\n")
    assert layout.open_store(root, {}).device == device
    shutil.rmtree(root / ".clsm")
    assert layout.open_store(root, {}).device == device
    clone = tmp_path / "clone"
    shutil.copytree(root, clone)
    assert layout.open_store(clone, {}).device != device


def test_the_device_can_be_named(tmp_path: Path) -> None:
    root = make(tmp_path / "m")
    assert layout.open_store(root, {"CLSM_DEVICE": "pi-1"}).flow == root / "flow" / "pi-1"
    for bad in ("../x", "Pi", "a b", "x" * 81, "a\n"):
        with pytest.raises(BadInputError, match="is not a device name"):
            layout.open_store(root, {"CLSM_DEVICE": bad})


@pytest.mark.parametrize(
    ("zone", "expected"),
    [("Europe/Berlin", "Europe/Berlin"), (":Asia/Tokyo", "Asia/Tokyo"), ("Nowhere/City", None),
     ("/etc/localtime", None), ("../x", None), ("", None), ("CET-1CEST", None)],
)  # fmt: skip
def test_the_system_zone_is_always_a_zone(zone: str, expected: str | None) -> None:
    found = zones.system_zone({"TZ": zone})
    assert found == (expected or zones.system_zone({}))
