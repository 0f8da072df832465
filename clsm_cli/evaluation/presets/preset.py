"""Presets: the retrieval of published systems as YAML settings that name their sources.

A group of settings that a file leaves out is a mechanism that its system does not have.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.formulas import Spreading
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Units(NamedTuple):
    """Kinds of units (node, episode, statement, gist, turn) that are ranked in one list, and how many are returned at ``-k 10``."""

    kinds: tuple[str, ...]
    k: int


class Channel(NamedTuple):
    """One way to find units: the weight of its votes, how many it may name (0: all), the least score."""

    weight: float = 1.0
    fetch: int = 0
    least: float = 0.0


class Fusion(NamedTuple):
    """How the lists of channels become one.

    Attributes:
        rule: ``single``: the scores of the only channel. ``ranks``: Σ weight / (constant + rank).
            ``union``: what any channel finds, by cosine.
        first: Rank of the best of a list.
        agreed: Factor for what one, two … channels found; the last for more.
    """

    rule: str = "single"
    constant: int = 60
    first: int = 1
    agreed: tuple[float, ...] = (1.0,)


class Seeds(NamedTuple):
    """Where activation begins: nodes named in the query (their cosine × exact), and the nearest.

    ``relative``: an edge conducts its weight as a share of the largest of the graph.
    """

    exact: float
    contained: bool
    named: bool
    least: float
    most: int
    relative: bool


class Tags(NamedTuple):
    """Tags of a text: by its words, then the nearest: ``fewest`` of any, ``most`` of ``least``."""

    fewest: int
    most: int
    least: float


class Filter(NamedTuple):
    """What is kept: a cosine of ``least`` or a common word, and ``share`` of the best cosine."""

    least: float
    share: float


class GraphScore(NamedTuple):
    """Weights of a node's score, and the damping of PageRank."""

    cosine: float
    pagerank: float
    text: float
    damping: float


class Reliability(NamedTuple):
    """What is added for the kind of knowledge: ``weight`` times its reliability."""

    weight: float
    tool: float
    derived: float
    told: float


class Rounds(NamedTuple):
    """Retrieval in rounds; see ``retrieve.retrieve_in_rounds``."""

    most: int
    queries: int
    boost: float
    follow: float
    gain: float
    specific: tuple[float, ...]


class Diversity(NamedTuple):
    """Maximal marginal relevance: λ, and how many are chosen."""

    lambda_: float
    k: int


class Episodes(NamedTuple):
    """How episodes are read: narrative or turns; how many carry their turns; what their value is."""

    read: str = "narrative"
    raw: int = 0
    consolidated: float = 1.0
    surprise: float = 0.0


class Gain(NamedTuple):
    """Information gain: the weight of the collection, and what an outdated unit loses."""

    mu: float
    outdated: float


class Pack(NamedTuple):
    """Characters at most (0: no limit of its own), or a knapsack of the query's budget."""

    characters: int = 0
    knapsack: bool = False


class Preset(NamedTuple):
    """The retrieval of one system; None for a mechanism that it does not have."""

    name: str
    units: tuple[Units, ...]
    channels: Mapping[str, Channel]
    controller: bool = False
    fusion: Fusion = Fusion()
    seeds: Seeds | None = None
    spreading: Spreading | None = None
    tags: Tags | None = None
    filter: Filter | None = None
    graph: GraphScore | None = None
    reliability: Reliability | None = None
    recency: tuple[tuple[float, float], ...] = ()
    rounds: Rounds | None = None
    diversity: Diversity | None = None
    episodes: Episodes = Episodes()
    gain: Gain | None = None
    pack: Pack = Pack()


PRESETS = ("cls-m", "nemori", "caim", "smriti", "cma")
"""Names of the systems."""
_LARGEST = 64 << 10
"""Characters of a file."""

_GROUPS: dict[str, type[Any]] = {
    "fusion": Fusion,
    "seeds": Seeds,
    "spreading": Spreading,
    "tags": Tags,
    "filter": Filter,
    "graph": GraphScore,
    "reliability": Reliability,
    "rounds": Rounds,
    "diversity": Diversity,
    "episodes": Episodes,
    "gain": Gain,
    "pack": Pack,
}


@cache
def load(name: str) -> Preset:
    """The preset of a system.

    >>> load("cls-m").spreading
    Spreading(hops=3, decay=0.5, threshold=0.15, damping=0.2, dormant=1.5)
    """
    if name not in PRESETS:
        raise ValueError(f"{name!r} is no preset; there are: {', '.join(PRESETS)}")
    from clsm_cli.store import yaml_text

    given: Any = yaml_text.load(preset_text(name), _LARGEST)
    units = tuple(Units(tuple(each["kinds"]), each["k"]) for each in given.pop("units"))
    channels = {each: Channel(**how) for each, how in given.pop("channels").items()}
    recency = tuple((float(days), share) for days, share in given.pop("recency", {}).items())
    controller = given.pop("controller", False)
    groups = {key: _group(_GROUPS[key], value) for key, value in given.items()}
    return Preset(name, units, channels, controller, recency=recency, **groups)


def preset_text(name: str) -> str:
    """The file of a preset, with its comments."""
    return files(__package__ or "").joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def _group(kind: type[Any], value: dict[str, Any]) -> Any:
    """A group of settings; ``lambda`` is a word of Python."""
    return kind(
        **{
            "lambda_" if key == "lambda" else key: tuple(item) if isinstance(item, list) else item
            for key, item in value.items()
        }
    )
