"""A record may lie in the folder of another stream: the index says the same however it was made."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ingesting import new_store
from small_store import state

from clsm_cli.store.index import database, said
from clsm_cli.store.index.opening import bring_up_to_date

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store


def differences(store: Store) -> list[str]:
    with contextlib.closing(database.open_to_write(store.derived)) as connection:
        bring_up_to_date(store, connection, None, None)
        return said.differences(store, connection)


def test_a_statement_that_comes_into_another_folder(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    state(store, "identity", "people", "Mara lives in Haarlem.", ("0123456789ab",))
    assert differences(store) == []
    (path,) = store.graph("identity").iterdir()
    other = store.graph("flow") / path.name
    other.parent.mkdir(parents=True)
    path.rename(other)
    assert differences(store) == []
    other.write_bytes(other.read_bytes().replace(b"Haarlem", b"Leeds"))
    assert differences(store) == []
