"""Print the irregular pasts of ``clsm_cli/text/english.txt``, of the SPECIALIST Lexicon as lemminflect has it.

They are forms that are no noun or adjective there, and all those of the verbs that the file lists.

Usage: pip download lemminflect==0.2.3 --no-deps
       python scripts/make_pasts.py lemminflect-0.2.3-py3-none-any.whl
"""

from __future__ import annotations

import csv
import gzip
import sys
import textwrap
import zipfile

from clsm_cli.text.language_data import word_list


def main() -> None:
    """Read the wheel, print the words."""
    packed = zipfile.ZipFile(sys.argv[1]).read("lemminflect/resources/infl_lu.csv.gz")
    rows = list(csv.reader(gzip.decompress(packed).decode().splitlines()))
    others = {row[0] for row in rows if row[1] in ("noun", "adj")}
    listed = {*word_list("verbs"), *word_list("verbs and nouns")}
    found = {
        form
        for base, kind, *forms in rows
        if kind == "verb"
        for form in "/".join(forms[:2]).split("/")  # past and participle
        if form.isalpha() and form.islower() and form != base
        if not form.endswith("ed") or len(form) < len(base) + 1
        if form not in others or base in listed
    }
    print(textwrap.fill(" ".join(sorted(found)), 106))


if __name__ == "__main__":
    main()
