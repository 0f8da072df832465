"""Named tuples that are cheap to define.

``typing.NamedTuple`` compiles a constructor for each class and every string annotation: 0.15 ms a class
at start, a tenth of the time of a recall, which defines sixty. The classes here behave the same and
share one constructor; type checkers see ``typing.NamedTuple``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from operator import itemgetter

    class _Record(tuple):
        """Base of all named tuples, with the interface of ``collections.namedtuple``."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()

        def __new__(cls, *values: Any, **named: Any) -> Any:
            """Fill fields by position, by name, or with their defaults."""
            if named or len(values) != len(cls._fields):
                values = _completed(cls, values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values: Any) -> Any:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            if unknown := [name for name in changes if name not in self._fields]:
                raise ValueError(f"Got unexpected field names: {unknown!r}")
            return tuple.__new__(type(self), (self._asdict() | changes).values())

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    def _completed(cls: Any, values: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """The values of all fields of a class, in order."""
        given = dict(zip(cls._fields, values, strict=False))
        if len(values) > len(cls._fields) or given.keys() & named:
            raise TypeError(f"{cls.__name__}() got more values than fields")
        if unknown := sorted(named.keys() - {*cls._fields}):
            raise TypeError(f"{cls.__name__}() got unexpected fields: {unknown}")
        known = {**cls._field_defaults, **given, **named}
        if missing := [name for name in cls._fields if name not in known]:
            raise TypeError(f"{cls.__name__}() is missing fields: {missing}")
        return [known[name] for name in cls._fields]

    class _Definition(type):
        """Metaclass that turns a class of annotated fields into a subclass of ``_Record``."""

        def __new__(cls, name: str, _bases: tuple[type, ...], body: dict[str, Any]) -> Any:
            """Take the fields from the annotations."""
            fields = tuple(body.get("__annotations__", ()))
            defaults = {each: body[each] for each in fields if each in body}
            body |= {each: property(itemgetter(place)) for place, each in enumerate(fields)}
            body |= {"_fields": fields, "__match_args__": fields, "_field_defaults": defaults}
            return type(name, (_Record,), body | {"__slots__": ()})

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
