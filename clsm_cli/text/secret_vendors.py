"""Keys of services that mark theirs: a prefix that nothing else begins with, then random characters.

The prefixes are those that the services document; which there are is known from the rules of
detect-secrets and CredSweeper (what is found of theirs: tests/faults/inputs/secrets_found.py).
"""

from __future__ import annotations

from clsm_cli.text.secret_rules import LEFT, RIGHT, Rule, is_mixed, is_random

_PREFIXES = (
    "akab- ABSK bedrock-api-key- da2- amzn.mws. dnkey- dp.pt. dp.st. dp.ct. dp.sa. dp.scim."
    " dp.audit. HRKU- IGQVJ access_token$production$ CLOJARS_ shpat_ shpca_ shppa_ shpss_ shptka_"
    " glc_ glsa_ pscale_tkn_ pscale_oauth_ pscale_pw_ NRAK- NRBR- NRII- NRJS- lin_api_ cfat_ cfut_"
    " cfk_ hvs. hvb. hvr. dckr_pat_ dckr_oat_ SWMTKN-1- SWMKEY-1- xai- ck_ ak_ uak_ oak_ ntn_ pplx-"
    " tskey- CFPAT- pul- tvly- figd_ ops_eyJ xkeysib- tgp_v1_ llx- sqa_ sqp_ squ_ sntrys_ sntryu_"
    " nyk_v0_ waka_ RGAPI- sgp_ tfp_ vcp_ nfp_ pha_ phc_ phr_ phs_ phx_ rubygems_ dapi cosmo_ sbp_"
    " PMAK- PMAT- TlRMTVNTUAA AKCp cmVmdGtu ATBB ATCTT3 ATATT3 BBDC- CCIPAT_ 3MVG 1//0"
)
_BODY = r"[A-Za-z0-9_.$/+=%\\-]{16,}+"


def _prefixed(prefix: str) -> Rule:
    escaped = "".join(c if c.isalnum() or c in "_/" else f"\\{c}" for c in prefix)
    return Rule("api-key", (prefix.lower(),), LEFT + escaped + _BODY, is_random)


VENDORS: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("putty-user-key-file",),
        r"PuTTY-User-Key-File-[0-9](?:[^P]|P(?!rivate-MAC)){0,20000}(?:Private-MAC[^\n]{0,200})?",
    ),
    Rule(
        "private-key",  # of PEM, once more in base64
        ("ls0t",),
        LEFT + r"LS0t(?:LS1CRUdJTi|LUJFR0lOI|QkVHSU4g)[A-Za-z0-9_/+=-]{20,}+",
    ),
    Rule("private-key", ("mii",), LEFT + r"MII[A-Za-f][A-Za-z0-9/+]{20,}+={0,2}", is_mixed),
    *map(_prefixed, _PREFIXES.split()),
    Rule("api-key", ("ltai",), LEFT + r"LTAI[A-Za-z0-9]{12,}+", is_mixed),
    Rule("api-key", ("sq0",), LEFT + r"sq0[a-z]{3}-[A-Za-z0-9_\\-]{22,}+", is_mixed),
    Rule("api-key", ("dt0",), LEFT + r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}" + RIGHT),
    Rule("api-key", ("eaa",), LEFT + r"EAA[A-Za-z0-9_-]{60,}+", is_mixed),
    Rule("api-key", ("|",), LEFT + r"[0-9]{12,18}\|[A-Za-z0-9_-]{24,28}" + RIGHT, is_mixed),
    Rule(
        "api-key",
        (".public.", ".local.", ".secret.", "-pw."),
        LEFT
        + r"(?:v[1-4]\.(?:public|local)|k[1-4]\.(?:local|secret)(?:-pw)?)\.[A-Za-z0-9_.-]{15,}+",
    ),
    Rule("api-key", ("-us",), LEFT + r"[A-Za-z0-9_-]{32}-us[0-9]{1,2}" + RIGHT, is_random),
    Rule("api-key", ("key-",), LEFT + r"key-[a-z0-9]{32}" + RIGHT, is_mixed),
    Rule("api-key", ("-",), LEFT + r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}" + RIGHT),
    Rule("api-key", (".atlasv1.",), LEFT + r"[A-Za-z0-9_-]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}+"),
    Rule("api-key", ("pat",), LEFT + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + RIGHT),
    Rule("api-key", ("sl.",), LEFT + r"sl\.[A-Za-z0-9_.-]{77,}+", is_random),
    Rule("api-key", ("oy2",), LEFT + r"oy2[a-z0-9]{43}" + RIGHT, is_mixed),
    Rule("api-key", ("8q~",), r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{34}"),
    Rule(
        "api-key",
        ("jqqj9",),
        LEFT + r"[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{26}(?:[A-Za-z0-9=]{4})?",
    ),
    Rule("api-key", ("accountkey",), r"AccountKey=([A-Za-z0-9+/=]{40,}+)"),
    Rule(
        "api-key",
        ("aaaaaaaaaa",),
        LEFT + r"A{10,22}[A-Za-z0-9%]{20,60}(?:%|\\u00)3[dD][A-Za-z0-9]{20,}+",
    ),
    Rule(
        "api-key",
        ("aaaaaaaaaa",),
        LEFT + r"[A-Za-z0-9]{11,13}A{10,12}[B-Za-z0-9][A-Za-z0-9]{40,44}" + RIGHT,
    ),
    Rule("api-key", ("nral",), LEFT + r"[0-9a-z]{5}[0-9a-f]{31}NRAL" + RIGHT),
    Rule("api-key", ("akc",), LEFT + r"AKC[A-Za-z0-9]{10,}+", is_random),
    Rule(
        "api-key",
        ("00d",),
        LEFT + r"00D[A-Za-z0-9]{9,15}(?:![A-Za-z0-9_.]{24,200}+)?" + RIGHT,
        is_mixed,
    ),
    Rule(
        "api-key",
        ("m", "n", "o"),
        LEFT + r"[MNO][ADQTgjwz][AEIMQUYcgk][012345wxyz][A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])",
        is_random,
    ),
    Rule("seed", ("s",), LEFT + r"S[ACNOPUX][A-Z2-7]{40,}+" + RIGHT, is_mixed),
    Rule(
        "licence-key",
        ("-",),
        LEFT + r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}(?![A-Za-z0-9-])",
        is_mixed,
    ),
)
"""One rule a prefix, and those whose mark stands elsewhere."""
