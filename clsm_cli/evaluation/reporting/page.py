"""A result as one HTML page to send to a colleague: it opens offline, loads nothing, runs nothing.

A content security policy allows its one style by digest and forbids everything else.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from clsm_cli.evaluation.reporting import charts, grids, html, query_table, summary
from clsm_cli.evaluation.reporting.names import heading, measure, ordered, share
from clsm_cli.inspection import drawing
from clsm_cli.inspection.drawing import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.result import ProbeResult, Result, SetResult


def page(result: Result) -> str:
    """The whole result as one HTML file."""
    style = f"\n{drawing.css()}{_asset()}{query_table.css()}"
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    sets = "".join(_set(each, at) for at, each in enumerate(result.sets))
    name = escaped(summary.title(result))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="clsm {escaped(result.version)}">\n'
        f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<header>\n{_head(result)}</header>\n{_contents(result)}"
        f"<main>\n{sets}{_probes(result.probes)}</main>\n{_foot(result)}</body>\n</html>\n"
    )


def _asset() -> str:
    return (files("clsm_cli.inspection") / "assets" / "report.css").read_text(encoding="utf-8")


def _head(result: Result) -> str:
    cards = "".join(f"<li>{card}</li>\n" for card in _cards(result))
    return (
        f'<p class="kicker">clsm eval</p>\n<h1>{escaped(summary.title(result))}</h1>\n'
        f"<pre>{escaped(result.command)}</pre>\n{html.facts(summary.origin(result))}"
        f'<ul class="cards">\n{cards}</ul>\n'
    )


def _cards(result: Result) -> Iterator[str]:
    """What each set and the probes come to, at a glance."""
    for found in result.sets:
        where = summary.standing(found)
        what = f"{escaped(heading(found.headline))} on {escaped(found.name)}"
        value, words = "–", "not defined for this set"
        if where is not None:
            low_high = where.interval
            ends = f" {share(low_high[0])}–{share(low_high[1])}" if low_high else ""
            value = f"{share(where.value)} %<small>{ends}</small>"
            words = summary.than(where) if where.rival else "nothing to compare it with"
        yield _card(what, value, _sentence(words))
    held = [summary.held(each) for each in result.probes]
    if held:
        failed = [each.name for each in result.probes if summary.held(each) is False]
        words = f"failed: {', '.join(failed)}" if failed else "all hold"
        yield _card("probes passed", f"{held.count(True)} of {len(held)}", _sentence(words))


def _card(what: str, value: str, words: str) -> str:
    return (
        f'<span class="what">{what}</span><span class="value">{value}</span>'
        f'<span class="than">{words}</span>'
    )


def _contents(result: Result) -> str:
    parts = [(f"set-{at}", f"{each.name} ({each.kind})") for at, each in enumerate(result.sets)]
    parts += [("probes", "Probes")] if result.probes else []
    links = "".join(f'<li><a href="#{to}">{escaped(name)}</a></li>' for to, name in parts)
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n' if len(parts) > 1 else ""


def _set(found: SetResult, place: int) -> str:
    """All about one labelled set."""
    shown = [*grids.sizes(found), ("evidence is a", found.unit)]
    notes = html.listed(found.notes)
    return (
        f'<section id="set-{place}" aria-labelledby="name-{place}">\n'
        f'<p class="kicker">{escaped(found.kind)}</p>'
        f'<h2 id="name-{place}">{escaped(found.name)}</h2>\n'
        f'<p class="lead">{_sentence(summary.lead(found))}</p>\n{html.facts(shown)}'
        f'<p class="note">SHA-256 of the set: <code>{escaped(found.digest)}</code></p>\n'
        f"{html.table(grids.headline(found))}"
        f"{html.figures((charts.systems(found), charts.categories(found)))}"
        f"{html.figures((charts.curve(found), charts.tokens(found)))}"
        f"{_tables(found)}"
        f"{f'<h3>About this set</h3>{notes}' if notes else ''}"
        f"{_folded(found, place)}</section>\n"
    )


def _tables(found: SetResult) -> str:
    """What compares: groups, the paper, pairs, queries without an answer, answers, mechanisms."""
    parts = [html.table(grids.group(found, kind, found.headline)) for kind in _kinds(found)]
    if grids.has_concepts(found):
        parts.append(html.table(grids.paper(found)))
    if found.pairs:
        parts.append(html.table(grids.pairs(found, is_full=False)))
    if found.abstention:
        parts.append(html.table(grids.abstention(found)))
    if found.answers:
        parts.append(html.table(grids.answers(found)))
    if found.ablation:
        parts.append(html.figures((charts.ablation(found),)))
        parts.append(html.table(grids.ablation(found, is_full=True)))
    return f'<div class="tables">\n{"".join(parts)}</div>\n' if parts else ""


def _kinds(found: SetResult) -> list[str]:
    return [kind for kind in grids.kinds(found) if kind != "case"]


def _folded(found: SetResult, place: int) -> str:
    """What only some look for."""
    count = len(found.queries)
    named = ordered({name for each in found.systems for name in each.figures})
    meanings = [(heading(name), measure(name).meaning) for name in named if measure(name).meaning]
    everything = html.table(grids.everything(found)) if found.systems else ""
    by_case = "case" in grids.kinds(found)
    return "".join(
        (
            html.folded(f"Each of {count:,} queries", query_table.table(found, place)),
            html.folded("All measures", everything),
            html.folded("What the measures mean", html.facts(meanings) if meanings else ""),
            html.folded(
                "Each store",
                html.table(grids.group(found, "case", found.headline)) if by_case else "",
            ),
            html.folded(
                "Differences in each category",
                html.table(grids.pairs(found, is_full=True))
                if any(each.group != "all" for each in found.pairs)
                else "",
            ),
            html.folded(
                "The systems", html.facts([(each.name, each.about) for each in found.systems])
            ),
        )
    )


def _probes(found: tuple[ProbeResult, ...]) -> str:
    if not found:
        return ""
    held = [summary.held(each) for each in found].count(True)
    return (
        '<section id="probes" aria-labelledby="name-probes">\n'
        f'<p class="kicker">{held} of {len(found)} passed</p><h2 id="name-probes">Probes</h2>\n'
        f"{''.join(map(_probe, found))}</section>\n"
    )


def _probe(found: ProbeResult) -> str:
    grid = grids.probe(found)._replace(title=f"Verdicts under {found.name}")
    about = f"{found.about} {summary.says_little(found)}"
    return (
        f"<h3>{escaped(found.name)}</h3>\n<p>{escaped(about)}</p>\n"
        f'<div class="probe">{html.table(grid)}{html.figures((charts.probe(found),))}</div>\n'
    )


def _sentence(words: str) -> str:
    """Words that keep a per-cent sign with its number."""
    return escaped(words).replace(" %", "&nbsp;%")


def _foot(result: Result) -> str:
    sets = "; ".join(f"{each.name} {each.digest[: summary.DIGITS]}" for each in result.sets)
    said = f"clsm {result.version}, seed {result.seed}{f'; {sets}' if sets else ''}"
    return f"<footer>{escaped(said)}</footer>\n"
