"""The node id of a name."""

import re

from clsm_cli.model.ids import sha256


def node_id(label: str) -> str:
    """Return the node id of a label, which matches ``[a-z0-9][a-z0-9_-]{0,79}``.

    Labels of ASCII letters, digits, blanks and hyphens become lower case, with hyphens for blanks. Any
    other gets eight hexadecimal digits of sha256 (of the label in NFC, case folded) after its letters, to
    keep different names apart.

    >>> node_id("Delegation Defect"), node_id("delegation-defect")
    ('delegation-defect', 'delegation-defect')
    >>> node_id("C"), node_id("C++"), node_id("C#")
    ('c', 'c-cedb1bac', 'c-951a4d36')
    """
    slug = "-".join(label.lower().split())
    if label.isascii() and re.fullmatch(r"[a-z0-9][a-z0-9-]{0,79}", slug):
        return slug
    from unicodedata import normalize

    folded = normalize("NFC", label).casefold()
    digest = sha256(folded.encode("utf-8", "surrogatepass"))[:8]
    plain = normalize("NFKD", folded).encode("ascii", "ignore").decode()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))[:71].strip("-")
    return f"{words}-{digest}" if words else digest
