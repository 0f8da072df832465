"""Samples are put together here at run time: no secret-looking literal may be committed."""

from pathlib import Path

import pytest

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
    ("encoded-token", "ZXlKaGJHY2lPaUpJVXpJMU5pSjku" + "ZXlKemRXSWlP" * 4),
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
    ("pin", "Burglar alarm: " + "5685#"),
    ("card", "It was charged to 4539 " + "1488 0343 6467"),
    ("iban", "Please pay to GB82 WEST " + "1234 5698 7654 32 by Friday"),
    ("national-number", "SSN: 219-" + "09-9999"),
    ("national-number", "BSN: 1112" + "22333"),
    ("seed", "seed phrase: " + "lamp door cart fish moon tree " * 2),
    ("recovery-code", "recovery code: " + "a4x9-77pq-z2k1"),
    *(
        ("password", "My passphrase is " + "correct horse battery staple" + end)
        for end in (" and keep it safe.", " for the NAS.", " (since May).")
    ),
    ("password", "The password is " + "correct horse battery staple" + "."),
    *(
        ("password", f"You can log in as bob with {word}" + "hunter2" + ".")
        for word in ("", "password ", "the password ", "bob / ")
    ),
    *(
        ("password", label + "tulip" + "field")
        for label in (
            "Netflix pw: ", "password: ", "DB_PASSWORD=", "password = ", "user/pass: admin / ",
            "Passwort: ", "\u043f\u0430\u0440\u043e\u043b\u044c: ", "Password for the NAS: ",
            "pass: ", "- wifi pass: ", "user: bob, pwd: ",
        )
    ),
    (
        "password",
        "\u043f\u0430\u0440\u043e\u043b\u044c: \u043f\u043e\u0434\u0441\u043e\u043b\u043d\u0443\u0445",
    ),
    *(
        ("password", label + "Tulip" + "12")
        for label in ("adminPassword: ", "PGPASSWORD=", "Het wifiwachtwoord is ", "NASpasswort: ")
    ),
    ("password", "pw: " + "tulip" + "-field, user: bob"),
    *(
        ("password", label + "12" + "34")
        for label in ("user/pass: admin / ", "password: ", "The password is ")
    ),
    ("password", 'DB password: "' + "my dog eats cheese 7" + '"'),
    ("password", '{"user":"bob","password":"' + "p4ss word" + '"}'),
    ("secret", 'secret: "' + "two words" + '"'),
    ("password", "| Site | User | password |\n|---|---|---|\n| a | b | " + "tulip |"),
    ("secret", "| Device | API key |\n|---|---|\n| lamp | " + "k3y9" + "abz |"),
    ("password", "|Key|Value|\n|---|---|\n|password|" + "tulip" + "99|"),
    ("password", "| wifi password | " + "tulip" + "99 |"),
    *(
        ("pin", text + "73" + "91")
        for text in (
            "Disarm the alarm with ", "Alarmanlage: ", "Voordeurcode: ", "code van de voordeur is ",
            "Haust\u00fcrcode: ", "codice allarme ", "kod do alarmu ", "c\u00f3digo de la puerta ",
            "code alarme ", "| Alarm code | ", "alarm code is still ", "The alarm code's ",
            "The code for the keysafe is ",
            "A safe for the key was put up at the back of the house last Friday. Code ",
        )
    ),
    *(
        ("pin", text + code)
        for text, code in (
            ("The code of the garage is ", "73" + "91B"),
            ("Entrance of the building, code ", "A73" + "91"),
            ("Code du portail : ", "73" + "A91"),
            ("\u7384\u95a2\u306e\u6697\u8a3c\u756a\u53f7\u306f", "73" + "91\u3067\u3059"),
            ("\ud604\uad00 \ucf54\ub4dc\ub294 ", "73" + "91\uc785\ub2c8\ub2e4"),
        )
    ),
    ("password", "\u62a5\u8b66\u5bc6\u7801\u662f" + "7391"),
    *(
        ("password", text + "kedi" + "1234")
        for text in (
            "\u0643\u0644\u0645\u0629 \u0627\u0644\u0633\u0631: ",
            "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631 \u0647\u064a ",
            "Wifi \u015fifresi ",
            "mi clave es ",
            "\u041f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0432\u0430\u0439\u0444\u0430\u044f ",
            "\u092e\u0947\u0930\u093e \u092a\u093e\u0938\u0935\u0930\u094d\u0921 ",
        )
    ),
    ("secret", "WLAN-Schl\u00fcssel: " + "1234567890" * 2),
    ("secret", "wifi key: " + "tulip" + "field"),
    ("password", "\u95e8\u9501\u5bc6\u7801" + "7391"),
    *(
        ("iban", number)
        for number in ("nl91 abna " + "0417 1643 00", "GB82-WEST-" + "1234-5698-7654-32")
    ),
    ("card", "5555.5555." + "5555.4444"),
    ("card", "5555 5555\n" + "5555 4444"),
    ("recovery-code", "2FA backup codes: " + "12345678 " + "87654321"),
    ("national-number", "529.982." + "247-25"),
    ("password", "the password is " + "swordfish"),
    ("password", 'the password for the router was "' + 'Sunshine".'),
    ("secret", "License key: " + "ABCD-1234-" + "EFGH-5678"),
    ("secret", "Key: " + "12345-ABCDE-" + "67890-FGHIJ"),
    ("private-key", "-----BEGIN RSA PRIVATE KEY" + "-----\nMIIEow" + "IB=abc"),
    ("github-token", "ghp_" + "a1B2" * 4 + "\u200b" + "a1B2" * 5),
    ("github-token", "ghp_" + "a1B2" + "\n" + "a1B2" * 8),
    ("anthropic-key", "sk-ant-api03-" + "a1B2c3" * 6 + "\n" + "d4E5f6" * 6),
    *(
        ("password", text.format(value))
        for value, texts in {
            "bramble" + "769#": (
                "so the password's {}",
                "the router's password is still {}, sorry",
                "das Passwort ist noch {}",
                "my new password will be {}",
                "take {} as the admin password",
            ),
            "Tulip" + "_1988": (
                "The password of the router is {}.",
                "Das WLAN-Kennwort ist {}",
                "Le mot de passe du wifi est {}",
                "A senha do wifi \xe9 {}",
                "Login for the site: user bob, password {}",
            ),
            "Vx7" + "!plume": (
                "the password to my account is {}",
                "my password to Netflix is {}",
            ),
        }.items()
        for text in texts
    ),
    ("password", "mot de passe : \xab " + "petit chat 44" + " \xbb"),
    ("password", "Netflix pw: " + "Tulip-" + "77"),
    ("password", "| Was | Kennwort |\n|---|---|\n| Router | " + "Sommer-" + "2291 |"),
    ("pin", "| Door | Code |\n|---|---|\n| Cellar | " + "4471# |"),
    ("private-key", "-----BEGIN RSA PRIVATE KEY" + "-----"),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY" + "-----\n" + BODY),
]  # fmt: skip

HARMLESS = Path(__file__).with_name("harmless.txt").read_text(encoding="utf-8").splitlines()
"""Lines that look like secrets and are none."""


@pytest.mark.parametrize(("kind", "sample"), SAMPLES)
def test_each_kind_is_masked_and_counted(kind: str, sample: str) -> None:
    masked = mask(f"note before\n{sample}\nnote after")

    assert masked.counts == {kind: 1}
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
