"""What is remembered of texts: it is the same as if computed again, and nothing else depends on it."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from clsm_cli.store import atomic
from clsm_cli.store.index import maintenance
from clsm_cli.store.index.memo import path_of, remembered
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store


def asked(store: Store, *texts: str, part: str = "lengths", is_kept: bool = True) -> list[str]:
    """The texts that were computed of, of those that are asked for."""
    computed: list[str] = []

    def length(text: str) -> tuple[int]:
        computed.append(text)
        return (len(text),)

    with remembered(store.derived, part, lambda: nullcontext(is_kept)) as memo:
        for text in texts:
            assert memo.value((text, 1), partial(length, text)) == [len(text)]
    return computed


def test_only_what_is_new_is_computed_and_what_nobody_asked_for_is_dropped(store: Store) -> None:
    assert asked(store, "weir", "mill", is_kept=False) == ["weir", "mill"]
    assert not path_of(store.derived).exists()
    assert asked(store, "weir", "mill") == ["weir", "mill"]
    assert asked(store, "weir", part="others") == ["weir"]
    assert asked(store, "weir", "quay", is_kept=False) == ["quay"]
    assert asked(store, "mill", "quay") == ["quay"]
    assert asked(store, "mill", "weir") == ["weir"]
    assert path_of(store.derived).stat().st_mode & 0o777 == atomic.FILE_MODE


@pytest.mark.parametrize("size", [0, 1, 90, 4096])
def test_a_damaged_file_costs_time(store: Store, size: int) -> None:
    asked(store, "weir", "mill")
    path = path_of(store.derived)
    path.write_bytes(path.read_bytes()[:size] + bytes(range(256)) * 40)
    assert asked(store, "weir", "mill") == ["weir", "mill"]
    assert asked(store, "weir", "mill") == []


def test_where_it_cannot_be_written_everything_is_computed(store: Store, tmp_path: Path) -> None:
    path = path_of(store.derived)
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "elsewhere")
    assert [asked(store, "weir") for _ in range(2)] == [["weir"], ["weir"]]
    assert not (tmp_path / "elsewhere").exists()


def test_a_forget_leaves_nothing_where_the_index_is_gone(store: Store) -> None:
    asked(store, "weir")
    maintenance.compact(store)
    assert not path_of(store.derived).exists()


def test_a_forget_leaves_nothing_to_one_who_reads_meanwhile(store: Store) -> None:
    with open_index(store, None):
        pass
    with remembered(store.derived, "lengths") as memo:
        memo.value("weir", lambda: 4)
        maintenance.compact(store)
    assert not path_of(store.derived).exists()
