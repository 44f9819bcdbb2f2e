"""What looks secret is removed as a whole, whoever issued it; prose, code and placeholders are left as they are."""

from __future__ import annotations

import time

import pytest

from assay.text.secret_forms import is_secret_name, looks_secret, remove_keys, remove_secrets

BODY = ("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ", "QyNTUxOQAAACDkq7Zb1hY0m5+p/x9J3b6t2c8Vw==", "AAAAtzc2gt=")
DIGITS = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"


def make_block(kind: str, line_end: str) -> str:
    suffix = " BLOCK" if kind.startswith("PGP") else ""
    lines = [f"-----BEGIN {kind}PRIVATE KEY{suffix}-----", *BODY, f"-----END {kind}PRIVATE KEY{suffix}-----"]
    return line_end.join(lines)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", r"\n", r"\r\n", r"\\n", ""])
@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "])
def test_a_private_key_is_removed_whole(kind: str, line_end: str) -> None:
    block = make_block(kind, line_end)
    assert remove_secrets(f"Mine: {block} Thanks. {block}!") == ("Mine: [redacted] Thanks. [redacted]!", 2)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", r"\n"])
def test_a_private_key_that_is_cut_off_is_removed_as_far_as_it_goes(line_end: str) -> None:
    lines = make_block("RSA ", line_end).split(line_end)
    head, tail = line_end.join(lines[:3]), line_end.join(lines[2:])
    assert remove_secrets(f"It begins with {head}") == ("It begins with [redacted]", 1)
    kept = "" if "\\" in line_end else line_end
    assert remove_secrets(f"{head}{line_end}and so on, for ever") == (f"[redacted]{kept}and so on, for ever", 1)
    assert remove_secrets(f"{tail} is its end.") == ("[redacted] is its end.", 1)


def test_headers_of_a_key_belong_to_it_and_certificates_are_public() -> None:
    head = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n" + BODY[0]
    assert remove_secrets(head) == ("[redacted]", 1)
    certificate = make_block("", "\n").replace("PRIVATE KEY", "CERTIFICATE")
    assert remove_secrets(certificate) == (certificate, 0)
    assert remove_secrets(make_block("", "\n").replace("PRIVATE", "PUBLIC"))[1] == 0


ISSUED = [
    f"sk-proj-{DIGITS}", f"sk-ant-api03-{DIGITS}", f"sk_live_{DIGITS[:24]}", f"rk_live_{DIGITS[:24]}",
    f"npm_{DIGITS[:36]}", "nbk_live_51Hx9aQzT7Lm", "acme_test_9f8e7d6c5b4a3f2e", "kiosk_prod_Ab3dE6gH9jK2",
    f"ghp_{DIGITS[:36]}", f"glpat-{DIGITS[:20]}", f"hf_{DIGITS[:34]}", f"xoxb-123456789012-{DIGITS[:24]}",
    f"AIza{DIGITS[:35]}", "ASIAQWERTYUIOPASDF12", f"whsec_{DIGITS[:32]}", f"pypi-AgEIcHlwaS5vcmc{DIGITS}",
    f"SG.{DIGITS[:22]}.{DIGITS[:40]}", f"shpat_{HEX[:32]}", f"dop_v1_{HEX}", f"dapi{HEX[:32]}", f"hvs.{DIGITS}",
    f"key-{HEX[:32]}", f"SK{HEX[:32]}", f"123456789:AA{DIGITS[:33]}", f"glsa_{DIGITS[:32]}_0a1b2c3d",
    f"eyJ{DIGITS[:17]}.eyJ{DIGITS[:20]}.{DIGITS}", f"gsk_{DIGITS}", f"ntn_{DIGITS}", f"GOCSPX-{DIGITS[:28]}",
]  # fmt: skip


@pytest.mark.parametrize("key", ISSUED)
def test_a_key_in_the_format_of_its_issuer_is_removed(key: str) -> None:
    assert remove_keys(f"Try {key}, please.") == ("Try [redacted], please.", 1)
    assert looks_secret(key)


ASSIGNED = [
    ("api_key=", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", ""), ("X-API-Key: ", "k9mQ2vX7", "\nHost: a.example"),
    ('{"password": "', "a phrase of mine", '", "port": 5}'), (r"{\"token\": \"", "q1w2e3r4", r"\"}"),
    ("DB_PASSWORD=", "Ab1;c&d", ""), ("Server=db;Pwd=", "Zz9!x&y", ";Encrypt=true"), ("pwd=", "hunting", ""),
    ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", f"{DIGITS}{DIGITS}==", ";EndpointSuffix=x"),
    ("SharedAccessKeyName=root;SharedAccessKey=", f"{DIGITS}=", ""), ("Authorization: Bearer ", "mytokenvalue", ""),
    ("?access_token=", "zz81yx", "&page=2"), ("My password is ", "Tulip!77", " and works."),
    ("Passwort: ", "Tulpe77", ""),
    ("Mật khẩu là ", "Hoa2025x", "."), ("client_secret: '", "s3same", "'"), ("(secret key: ", "k3y0fm1ne", ")"),
    ("aws_secret_access_key = ", f"{DIGITS[:20]}/+{DIGITS[20:38]}", "\n"),
    ("AKIAQWERTYUIOPASDF12 goes with ", f"{DIGITS[:20]}/+{DIGITS[20:38]}", "."),
    ("https://a.blob.core.windows.net/x?sv=2024&sig=", "aB3%2Fd0e1f2g3h4i5j6k7l8", ""),
]  # fmt: skip


@pytest.mark.parametrize(("before", "secret", "after"), ASSIGNED)
def test_a_value_under_the_name_of_a_secret_is_removed(before: str, secret: str, after: str) -> None:
    clean, count = remove_secrets(f"{before}{secret}{after}")
    assert secret not in clean
    assert clean.endswith(f"[redacted]{after}")
    assert count == 1 + before.startswith("AKIA")


@pytest.mark.parametrize("scheme", ["postgres", "mysql+pymysql", "redis", "amqp", "mongodb+srv"])
def test_the_password_of_an_address_is_removed(scheme: str) -> None:
    assert remove_secrets(f"{scheme}://app:p4ss,w0rd@db.example/x") == (f"{scheme}://[redacted]@db.example/x", 1)
    assert remove_secrets(f"{scheme}://:p4ss@cache") == (f"{scheme}://[redacted]@cache", 1)


@pytest.mark.parametrize(
    "text",
    [
        "The password must have 12 characters: see IT-7.", "Password: required", "max_tokens=4096 and tokens: 512",
        "token: str", "password = get_password()", "api_key=os.environ['THE_KEY_1']", "password=${DB_PASSWORD_1}",
        "A token is a word or less.", "the secret is that nobody knows", "basic understanding of bearer bonds",
        "password: [redacted]", "password=********",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b on aws, no secret",
        "key-value stores", "The task-oriented-dialogue-system", "desk-research-and-interviews", "password=<yours>",
        "https://a.example/reset-password?step=2", "Keyboard: QWERTZ1", "ask_live_support_now_please",
        "use db_test_configuration", "table app_prod_20250101backups", "see unit_test_results2024summary",
    ],
)  # fmt: skip
def test_what_only_speaks_of_secrets_is_kept(text: str) -> None:
    assert remove_secrets(text) == (text, 0)


def test_keys_of_values_are_secret_by_the_end_of_their_name() -> None:
    secret = ["password", "userPassword", "API-Key", "apiKey", "x_auth_token", "AWS_SECRET_ACCESS_KEY", "token2", "pwd"]
    plain = [
        "tokens",
        "max_tokens",
        "next_page_token",
        "eos_token",
        "public_key",
        "key",
        "secretary",
        "passenger",
        "author",
    ]
    assert [*map(is_secret_name, secret + plain)] == [True] * len(secret) + [False] * len(plain)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----\n", "A" * 30 + "\n", "password=a&", "key is ", "token: a,"
    ],
)  # fmt: skip
def test_removing_takes_linear_time(unit: str) -> None:
    text = unit * (400_000 // len(unit)) + "-----END PRIVATE KEY-----"
    start = time.process_time()
    remove_secrets(text)
    assert time.process_time() - start < 3
