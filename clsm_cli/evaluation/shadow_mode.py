"""Shadow mode (CLS-M §4.3): what memory would have given in past conversations, beside the files of the agent.

A report is worked out of the store each time, and leaves no trace.

An agent whose one conversation never ends still sits down to it anew every day, and loads its files
anew. So a conversation is cut where the silence is one that ends an episode
(``boundary.gap_certain``), and each part is looked at by itself.

The store knows more by now, so recall is asked for what was known a second before the first turn
(``known_at``), the sitting itself left out. What carries no exact time counts if the store had it by
then, or if its day is an earlier one. Of the briefing, statements count that were recorded by then.

A text is *used* when a later turn takes up one of its sentences. Words are stems, each weighed by its
rarity in the store, 1 for a word that one passage alone holds. Of the sentence's words the turn
shares at least two, figures not counted; they are at least ``SHARE`` of its weight and weigh at least
``RARE`` together. Where both hold figures, they share one: another figure is another fact. Words of
the prompt that the text was fetched for do not count, they would come back in any answer. It is a
measure of likeness, not of cause, and the same for every source (docs/evaluation.md: how often right).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from errno import EFBIG
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TypedDict

from clsm_cli.config import MAX_FILE
from clsm_cli.evaluation.benches import ALWAYS, startup_files
from clsm_cli.ingestion import markdown
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.model.clocks import instant, utc_text
from clsm_cli.model.episodes import Turn
from clsm_cli.retrieval.briefing import brief
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, inbox, logs
from clsm_cli.store.index import postings
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.store.layout import Store
from clsm_cli.text import sentences, tokens

SPEAKING = ("user", "assistant")
"""Roles whose words are the conversation; what a tool printed may be the very file that was loaded."""


class Sitting(NamedTuple):
    """A conversation between two long silences."""

    start: datetime  # when its first turn was said; if nobody knows, when the store got it
    turns: tuple[Turn, ...]
    keys: frozenset[str]  # of all its turns, those of tools too
    is_over: bool


Undated = dict[str, tuple[str | None, str]]
"""What has no exact time, by key: its bare date if it has one, and when the store first got it."""


class _StoredTurn(NamedTuple):
    turn: Turn
    at: datetime
    is_open: bool


def read_sittings(store: Store, since: datetime, now: datetime) -> tuple[list[Sitting], Undated]:
    """The sittings of this machine that began since a time and are over, by time; what is undated at all."""
    sessions: dict[str, dict[str, _StoredTurn]] = {}
    undated: Undated = {}
    for session, turn, recorded_at, is_open in _stored(store):
        at = instant(turn.time) if turn.time is not None else None
        if at is None:
            first = undated.get(turn.key, (None, recorded_at))[1]
            undated[turn.key] = turn.time, min(first, recorded_at)
        if session:
            turns = sessions.setdefault(session, {})
            if at is None:  # it was said with the one before it
                last = next(reversed(turns.values()), None)
                at = last.at if last is not None else datetime.fromisoformat(recorded_at)
            turns[turn.key] = _StoredTurn(turn, at, is_open)
    silence = timedelta(minutes=store.settings.boundary.gap_certain)
    sittings = [
        sitting
        for turns in sessions.values()
        for sitting in _sittings(turns.values(), silence, now)
        if sitting.turns and sitting.is_over and sitting.start >= since
    ]
    return sorted(sittings, key=lambda each: (each.start, each.turns[0].key)), undated


def _stored(store: Store) -> Iterator[tuple[str, Turn, str, bool]]:
    """Session (empty: none of this machine), turn, when the store got it, and whether more may come."""
    forgotten = logs.load_tombstones(store)
    for path, stored in episode_files.readable(store):
        episode = episode_files.without_forgotten(stored, forgotten)
        if episode is not None:
            is_own = path.is_relative_to(store.flow) and episode.document is None
            session = episode.session if is_own else ""
            for turn in episode.turns:
                yield session, turn, episode.recorded_at, episode.capped
    for path in inbox.files(store.inbox):
        for item in inbox.read(path, forgotten).turns:
            yield item.session, item.turn, item.recorded_at, True


def _sittings(
    stored: Iterable[_StoredTurn], silence: timedelta, now: datetime
) -> Iterator[Sitting]:
    parts: list[list[_StoredTurn]] = []
    for each in sorted(stored, key=attrgetter("at")):
        if not parts or each.at - parts[-1][-1].at >= silence:
            parts.append([])
        parts[-1].append(each)
    for part in parts:
        turns = [each.turn for each in part]
        yield Sitting(
            part[0].at,
            tuple(turn for turn in turns if turn.role in SPEAKING and turn.text.strip()),
            frozenset(turn.key for turn in turns),
            is_over=not part[-1].is_open or part[-1].at <= now - silence,
        )


PROMPTS = 20  # prompts of a sitting that are asked, from its first on
LONGEST = 4000  # characters of a prompt that are asked; a page that was pasted in is no question


class LoadedItem(NamedTuple):
    """One thing that would have been read."""

    id: str
    text: str
    tokens: int


Given = dict[int, list[LoadedItem]]
"""What clsm would have given in a sitting: at its start (−1), and at the place of each prompt asked."""


def replay(
    store: Store, undated: Undated, sitting: Sitting, engine: Engine, embedder: Embedder
) -> Given:
    """What clsm would have given in a sitting; no trace is left."""
    before = sitting.start - timedelta(seconds=1)
    known, day = utc_text(before), sitting.start.astimezone(store.zone).date().isoformat()
    # What recall cannot know to be later: the sitting itself, and what came with no exact time.
    unseen = sitting.keys | {
        key
        for key, (date, recorded_at) in undated.items()
        if recorded_at > known and (date is None or date >= day)
    }
    settings, at = store.settings.recall, before.isoformat()
    places = [place for place, turn in enumerate(sitting.turns) if turn.role == "user"][:PROMPTS]
    filters = Filters(without=tuple(sorted(unseen)))
    asking = Query("", at, settings.k, settings.budget, filters=filters, known_at=at, is_gated=True)
    queries = [asking._replace(text=sitting.turns[place].text[:LONGEST]) for place in places]
    with open_index(store, None) as opened:
        given = {
            -1: [
                LoadedItem(item.id, item.text, item.tokens)
                for section in brief(store, before, settings.budget).sections
                for item in section.items
                if unseen.isdisjoint((item.id, item.id.partition("-")[0]))
                and (getattr(opened.index.record(item.id), "recorded_at", None) or "") <= known
            ]
        }
    for place, answer in zip(places, recall(store, queries, engine, embedder), strict=True):
        given[place] = [  # in the window of a note something later may stand; all else was filtered
            LoadedItem(each.id, each.text, each.tokens)
            for each in answer.memories
            if each.kind != "passage" or unseen.isdisjoint(each.sources[0].turn_ids)
        ]
    return given


SHARE = 0.4  # part of a sentence's weight that a turn has to share
RARE = 1.3  # weight of what is shared, in words that one passage alone holds
LEAST = 2  # words that are shared, numbers not counted

Words = frozenset[str]


class Claim(NamedTuple):
    """A sentence or list item of a text: its words, and its size in estimated word pieces."""

    words: Words
    tokens: int


def distinct_stems(text: str) -> Words:
    """The distinct stems of a text; of a name with an underscore its parts do not count again.

    >>> sorted(distinct_stems("The memory_v2 of Margaret, 61.4 cm"))
    ['4', '61', 'cm', 'margaret', 'memory_v2']
    """
    found = frozenset(tokens.stems(text))
    parts = (tokens.stems(name.replace("_", " ")) for name in found if "_" in name)
    return found.difference(*parts)


def split_claims(text: str) -> tuple[Claim, ...]:
    """The sentences and list items of a text, but for those without a word.

    >>> [sorted(each.words) for each in split_claims("The password is lost. It was on a tin.")]
    [['lost', 'password'], ['tin']]
    """
    parts = [text[start:end] for start, end in sentences.split(text)]
    found = (Claim(distinct_stems(part), tokens.count_tokens(part)) for part in parts)
    return tuple(each for each in found if each.words)


Rarity = Callable[[Words], float]


def word_rarity(index: Index) -> Rarity:
    """How rare words are in a store, added up: idf(n) / idf(1) of a word that n passages hold."""
    size = max(2, index.size()[0])

    @cache
    def of_word(word: str) -> float:
        passages = postings.document_frequency(index.connection, word)
        return match.idf(size, max(1, min(size, passages))) / match.idf(size, 1)

    return lambda words: sum(map(of_word, sorted(words)))


def is_used(claim: Words, turns: Sequence[Words], rarity: Rarity) -> bool:
    """Whether a turn takes up a sentence, of which the words of its prompt were taken out."""
    numbers, least = _numbers(claim), max(RARE, SHARE * rarity(claim))
    for turn in turns:
        shared = claim & turn
        same = _numbers(shared)
        is_other = numbers and not same and _numbers(turn)
        if len(shared) - len(same) >= LEAST and not is_other and rarity(shared) >= least:
            return True
    return False


def _numbers(found: Words) -> Words:
    return frozenset(word for word in found if word.isdigit())


class StaticFiles(NamedTuple):
    """What was loaded."""

    tokens: int
    blocks: tuple[LoadedItem, ...]  # headings belong to none
    missing: tuple[str, ...]  # what cannot be read now


def load_static(named: Sequence[str], start: datetime, store: Store) -> StaticFiles:
    """What is loaded at the start of a sitting."""
    day = start.astimezone(store.zone).date().isoformat()
    size, blocks, missing = 0, list[LoadedItem](), list[str]()
    for path in dict.fromkeys(p for name in named for p in _files_at(Path(name).expanduser(), day)):
        try:
            with path.open("rb") as file:
                data = file.read(MAX_FILE + 1)
            if len(data) > MAX_FILE:
                raise OSError(EFBIG, f"is larger than {MAX_FILE >> 20} MiB")
        except OSError as error:
            missing.append(f"{path}: {error.strerror or 'cannot be read'}")
            continue
        size += tokens.count_tokens(data.decode("utf-8", "replace"))
        document = markdown.read(data, path=path.name, zone=store.zone)
        if not isinstance(document, Problem):
            for number, block in enumerate(document.blocks):
                loaded = tokens.count_tokens(block.text)
                blocks.append(LoadedItem(f"{path}:{number}", block.text, loaded))
    return StaticFiles(size, tuple(blocks), tuple(missing))


def _files_at(path: Path, before: str) -> list[Path]:
    """A file; of a workspace what an agent loads at every start on a day."""
    if not path.is_dir():
        return [path]
    fixed = [path / name for name in ALWAYS if (path / name).is_file()]
    dated = [each for each in (path / "memory").glob("*.md") if each.stem < before]
    return list(map(Path, startup_files(map(str, (*fixed, *dated))))) or [path / ALWAYS[-1]]


class SideFigures(TypedDict):
    """What one way to remember loaded in a sitting, each item once, in tokens."""

    tokens: int
    prompt: float  # in front of the model at a prompt, the mean
    used: int  # sentences that the conversation used
    replies: int  # prompts whose reply used something that was loaded


class SittingRow(TypedDict):
    """The figures of a sitting."""

    at: str  # when it began, UTC
    prompts: int
    asked: int
    clsm: SideFigures
    static: SideFigures | None  # None: no file was named, or none could be read


FEW = 5  # sessions below which nothing should be decided


class SideMeans(NamedTuple):
    """One way to remember, over all sessions."""

    tokens: float  # means of ``SideFigures``
    prompt: float
    relevance: float  # tokens of the sentences used / tokens loaded
    # Prompts whose reply used something that was loaded / prompts. It stands for CLS-M's correct
    # recalls / recall prompts, as nobody marks which prompts those were.
    retention: float


class Report(NamedTuple):
    """SideMeans over the sessions beside which files were loaded, else all."""

    rows: tuple[SittingRow, ...]  # the sessions by time
    compared: int  # of them, those beside which files were loaded
    clsm: SideMeans | None
    static: SideMeans | None
    # 1 - tokens of clsm / tokens of the files in front of the model at a prompt; CLS-M:
    # 1 - memory tokens / budget, the budget being what is loaded today.
    efficiency: float | None
    verdict: str
    missing: tuple[str, ...]  # files that could not be read


def verdict(clsm: SideMeans | None, static: SideMeans | None, sessions: int) -> str:
    """The result in one sentence.

    >>> verdict(SideMeans(900, 800, 0.23, 0.5), SideMeans(6400, 6400, 0.04, 0.5), 14)
    'over 14 sessions clsm would have been better in 2 of 3: tokens, use and replies'
    """
    if clsm is None:
        return "no session is over yet"
    if static is None:
        return "there are no files to compare with"
    if sessions < FEW:
        return f"fewer than {FEW} sessions decide nothing"
    wins = (clsm.prompt < static.prompt) + (clsm.relevance > static.relevance)
    wins += clsm.retention > static.retention
    better = f"clsm would have been better in {wins} of 3: tokens, use and replies"
    return f"over {sessions} sessions {better}"


def _means(sides: Sequence[tuple[SittingRow, SideFigures]]) -> SideMeans | None:
    if not sides:
        return None
    asked = max(1, sum(row["asked"] for row, _ in sides))
    loaded = sum(side["tokens"] for _, side in sides)
    return SideMeans(
        tokens=loaded / len(sides),
        prompt=sum(side["prompt"] * row["asked"] for row, side in sides) / asked,
        relevance=sum(side["used"] for _, side in sides) / max(1, loaded),
        retention=sum(side["replies"] for _, side in sides) / asked,
    )


def report(
    store: Store,
    static: Sequence[str],
    since: datetime,
    now: datetime,
    engine: Engine,
    embedder: Embedder,
    progress: Progress,
) -> Report:
    """Replay the sittings since a time, beside the files that an agent loads.

    Args:
        static: Files, or workspaces, of which it loads the usual ones; as they are now.
        progress: Told of each sitting.
    """
    found, undated = read_sittings(store, since, now)
    rows: list[SittingRow] = []
    missing: dict[str, None] = {}
    with open_index(store, None) as opened:
        rarity = word_rarity(opened.index)
        for done, sitting in enumerate(found, 1):
            given = replay(store, undated, sitting, engine, embedder)
            beside = load_static(static, sitting.start, store)
            rows.append(_measured(sitting, given, beside, rarity))
            missing |= dict.fromkeys(beside.missing)
            progress("shadow mode", done, len(found))
    compared = [(row, side) for row in rows if (side := row["static"])]
    counted = [row for row, _ in compared] or rows
    clsm, files = _means([(row, row["clsm"]) for row in counted]), _means(compared)
    return Report(
        rows=tuple(rows),
        compared=len(compared),
        clsm=clsm,
        static=files,
        efficiency=1 - clsm.prompt / files.prompt if clsm and files and files.prompt else None,
        verdict=verdict(clsm, files, len(counted)),
        missing=tuple(missing),
    )


def _measured(
    sitting: Sitting,
    given: Given,
    beside: StaticFiles,
    rarity: Rarity,
) -> SittingRow:
    """What was loaded and used; used is what turns after a prompt (−1: after the start) take up."""
    words = [distinct_stems(turn.text) for turn in sitting.turns]
    prompts = [at for at, turn in enumerate(sitting.turns) if turn.role == "user"]
    asked = [at for at in given if at >= 0]
    split = cache(split_claims)

    def used(load: LoadedItem, at: int, until: int | None = None) -> list[Claim]:
        prompt, later = words[at] if at >= 0 else frozenset(), words[at + 1 : until]
        claims = split(load.text)
        return [each for each in claims if is_used(each.words - prompt, later, rarity)]

    def reply_uses(at: int, loads: Iterable[LoadedItem]) -> bool:
        until = next((place for place in prompts if place > at), None)
        return any(used(each, at, until) for each in loads)

    def tokens(found: Iterable[LoadedItem | Claim]) -> int:
        return sum(each.tokens for each in found)

    came = [(at, each) for at, found in given.items() for each in found]
    claims = {(each.id, each.text, claim): claim for at, each in came for claim in used(each, at)}
    answers = tokens(each for at, each in came if at >= 0)
    ours = SideFigures(
        tokens=tokens({(each.id, each.text): each for _, each in came}.values()),
        prompt=tokens(given[-1]) + answers / max(1, len(asked)),
        used=tokens(claims.values()),
        replies=sum(reply_uses(at, (*given[-1], *given[at])) for at in asked),
    )
    theirs = SideFigures(
        tokens=beside.tokens,
        prompt=float(beside.tokens),
        used=tokens(claim for block in beside.blocks for claim in used(block, -1)),
        replies=sum(reply_uses(at, beside.blocks) for at in asked),
    )
    return SittingRow(
        at=utc_text(sitting.start),
        prompts=len(prompts),
        asked=len(asked),
        clsm=ours,
        static=theirs if beside.tokens else None,
    )
