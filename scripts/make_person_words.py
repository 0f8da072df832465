"""Make ``clsm_cli/text/person_words.txt``: words that refer to people, from two published sources.

- Pronouns and determiners of a language, with what they mean, and its function words: the stop-word
  lists of the Snowball project (BSD), whose glosses are in English.
- Nouns that mean a person before they mean anything else, and whether of a man or a woman: Open
  English Wordnet (CC BY 4.0, derived from Princeton WordNet); single words in lower case.

Usage: git clone https://github.com/snowballstem/snowball-website
       git clone https://github.com/globalwordnet/english-wordnet
       python scripts/make_person_words.py snowball-website english-wordnet
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

TARGET = Path(__file__).parents[1] / "clsm_cli" / "text" / "person_words.txt"
GLOSSES = {
    "he": {"he", "him", "his"},
    "she": {"she", "her", "hers"},
    "they": {"they", "them", "their", "theirs"},
    "you": {"you", "your", "yours", "thee", "thy", "thou"},
    "own": {"my", "mine", "our", "ours"},
    "we": {"i", "we"},
    "the": {"the", "this", "that"},
    "and": {"and"},
}
"""What a word means → the words of an English gloss that say so."""
ENGLISH = {
    "he": "he him his himself he's he'd he'll",
    "she": "she her hers herself she's she'd she'll",
    "they": "they them their theirs themselves they're they've they'd they'll",
    "you": "you your yours yourself you're you've you'd you'll",
    "own": "my our",
    "we": "i we",
    "the": "the a an this that",
    "and": "and",
    "verb": "is are was were has have had does do did will would can could may might must shall should",
}
"""The list of English has no glosses."""
BESIDE = {
    "to",
    "of",
    "from",
    "the",
    "a",
    "fem",
    "masc",
    "pl",
    "acc",
    "etc",
    "it",
    "self",
    "one's",
    "its",
}
"""What a gloss may say besides and still mean a person first."""
FEMALE, MALE = "09642198-n", "09647338-n"
"""Synsets of female and male persons."""
PERSON = "noun.person"


def shown(repository: str, path: str) -> str:
    """A file as it was committed last."""
    command = ["git", "-C", repository, "show", f"HEAD:{path}"]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode(
        "utf-8", "replace"
    )


def listed(repository: str, pattern: str) -> list[str]:
    """Files of a repository that a pattern fits."""
    command = ["git", "-C", repository, "ls-tree", "-r", "--name-only", "HEAD"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return [name for name in names if re.fullmatch(pattern, name)]


def commit(repository: str) -> str:
    """What is read, named."""
    command = ["git", "-C", repository, "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def meanings(gloss: str) -> set[str]:
    """What a gloss says that a word means, where it means that first.

    >>> sorted(meanings("she, her, they, them")), meanings("(1) to be, (2) his"), meanings("the, her")
    (['she', 'they'], set(), set())
    """
    words = re.findall(r"[a-z']+", gloss.lower().split("(2)")[0])
    found = {kind for kind, known in GLOSSES.items() if known & {*words}}
    known = BESIDE.union(*(GLOSSES[kind] for kind in found))
    if not found or not {*words} <= known:
        return set()
    return found if found == {"the"} else set() if "the" in found else found


def language(text: str) -> dict[str, set[str]]:
    """Words of a stop-word list by what they mean; ``other`` for all words.

    Endings follow the word that has the gloss: "sein | his", "seine", "seinem".
    """
    rows: dict[str, set[str]] = {kind: set() for kind in (*GLOSSES, "other")}
    glossed, said = " ", ""
    for line in text.splitlines():
        before, _, gloss = line.partition("|")
        words = [word for word in before.split() if word.isalpha() or "'" in word]
        rows["other"].update(words)
        if gloss.strip() and words:
            glossed, said = words[0], gloss
        elif words and words[0].startswith(glossed):
            gloss = said
        for kind in meanings(gloss) if words else ():
            rows[kind].update(words)
    return rows


def nouns(repository: str) -> dict[str, set[str]]:
    """Nouns of which the first sense is a person, by gender; ``any`` where it has none."""
    load = YAML(typ="safe").load
    people = load(shown(repository, f"src/yaml/{PERSON}.yaml"))
    found: dict[str, set[str]] = {"he": set(), "she": set(), "any": set()}
    for name in listed(repository, r"src/yaml/entries-[a-z]\.yaml"):
        for lemma, entry in load(shown(repository, name)).items():
            senses = entry.get("n", {}).get("sense", [])
            first = senses[0]["synset"] if senses else ""
            is_one = first in people and "instance_hypernym" not in people[first]
            if is_one and re.fullmatch(r"(?=.{3})[a-z]+(?:-[a-z]+)*", lemma):
                above = ancestors(people, first)
                kind = "she" if FEMALE in above else "he" if MALE in above else "any"
                found[kind].add(lemma)
    return found


def ancestors(people: dict[str, dict[str, list[str]]], synset: str) -> set[str]:
    """A synset and all above it."""
    found: set[str] = set()
    left = [synset]
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += people.get(each, {}).get("hypernym", [])
    return found


def main(snowball: str, wordnet: str) -> None:
    """Write the file."""
    lines = [
        "# Words that refer to people. Made by scripts/make_person_words.py; do not edit.",
        f"# Pronouns, determiners, function words: stop-word lists of github.com/snowballstem/snowball-website, {commit(snowball)} (BSD 3-clause).",
        f"# Nouns: Open English Wordnet, github.com/globalwordnet/english-wordnet, {commit(wordnet)} (CC BY 4.0), derived from Princeton WordNet.",
    ]
    for path in listed(snowball, r"algorithms/[a-z]+/stop\.txt"):
        name = path.split("/")[1]
        rows = language(shown(snowball, path))
        if name == "english":
            rows |= {kind: {*words.split()} for kind, words in ENGLISH.items()}
        if rows["he"] | rows["she"]:
            rows["other"] -= set().union(*(rows[kind] for kind in rows.keys() - {"other"}))
            lines += [f"{name} {kind}: {' '.join(sorted(words))}" for kind, words in rows.items()]
    lines += [f"noun {kind}: {' '.join(sorted(words))}" for kind, words in nouns(wordnet).items()]
    TARGET.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
