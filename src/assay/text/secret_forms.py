"""What keys, tokens, passwords and private keys look like in texts and under which names they stand in values.

`ISSUED_KEYS` is the one list of formats that issuers of keys have made public. A row is a sign that every match holds
in lower case, by which most texts are passed over, and the expression.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from assay.text.late_pattern import LatePattern

REDACTED = "[redacted]"
MIN_SECRET_FORM = 8
"""Characters of the shortest text that looks secret."""

ISSUED_KEYS: tuple[tuple[str, LatePattern], ...] = (
    # Models: OpenAI, Anthropic, DeepSeek, OpenRouter and others; Google; Hugging Face; Groq; xAI; Replicate; NVIDIA
    ("k-", LatePattern(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}")),
    ("aiza", LatePattern(r"\bAIza[0-9A-Za-z_-]{30,}")),
    ("ya29.", LatePattern(r"\bya29\.[0-9A-Za-z_-]{20,}")),
    ("gocspx-", LatePattern(r"\bGOCSPX-[0-9A-Za-z_-]{20,}")),
    ("hf_", LatePattern(r"\bhf_[A-Za-z0-9]{20,}")),
    ("gsk_", LatePattern(r"\bgsk_[A-Za-z0-9]{20,}")),
    ("xai-", LatePattern(r"\bxai-[A-Za-z0-9]{30,}")),
    ("r8_", LatePattern(r"\br8_[A-Za-z0-9]{30,}")),
    ("nvapi-", LatePattern(r"\bnvapi-[A-Za-z0-9_-]{30,}")),
    ("pplx-", LatePattern(r"\bpplx-[A-Za-z0-9]{30,}")),
    ("tvly-", LatePattern(r"\btvly-[A-Za-z0-9-]{20,}")),
    ("jina_", LatePattern(r"\bjina_[A-Za-z0-9_-]{30,}")),
    ("lsv2_", LatePattern(r"\blsv2_[a-z]{2}_[A-Za-z0-9_]{30,}")),
    ("pcsk_", LatePattern(r"\bpcsk_[A-Za-z0-9_]{30,}")),
    # Code and packages: GitHub, GitLab, npm, PyPI, RubyGems, Docker, Postman, Atlassian, Linear, Sentry
    ("gh", LatePattern(r"\bgh[pousr]_[A-Za-z0-9]{20,}")),
    ("github_pat_", LatePattern(r"\bgithub_pat_\w{20,}")),
    ("gl", LatePattern(r"\bgl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_-]{16,}")),
    ("npm_", LatePattern(r"\bnpm_[A-Za-z0-9]{30,}")),
    ("pypi-", LatePattern(r"\bpypi-[A-Za-z0-9_-]{30,}")),
    ("rubygems_", LatePattern(r"\brubygems_[a-f0-9]{40,}")),
    ("dckr_", LatePattern(r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}")),
    ("pmak-", LatePattern(r"\bPMAK-[A-Za-z0-9-]{30,}")),
    ("atatt3", LatePattern(r"\bATATT3[A-Za-z0-9_=-]{20,}")),
    ("lin_api_", LatePattern(r"\blin_api_[A-Za-z0-9]{30,}")),
    ("sntry", LatePattern(r"\bsntry[su]_[A-Za-z0-9_+/=-]{30,}")),
    # Clouds and their tools: AWS, Azure, DigitalOcean, Databricks, Vault, Terraform, Grafana, New Relic, age, Doppler
    ("a", LatePattern(r"\bA[KS]IA[0-9A-Z]{16}\b")),
    ("sig=", LatePattern(r"(?<=[?&;]sig=)[A-Za-z0-9%+/=]{20,}")),
    ("_v1_", LatePattern(r"\bdo[opr]_v1_[a-f0-9]{40,}")),
    ("dapi", LatePattern(r"\bdapi[a-f0-9]{32}(?:-\d)?\b")),
    ("hv", LatePattern(r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}")),
    (".atlasv1.", LatePattern(r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}")),
    ("gl", LatePattern(r"\bgl(?:sa|c)_[A-Za-z0-9_+/=]{30,}")),
    ("nrak-", LatePattern(r"\bNRAK-[A-Z0-9]{20,}")),
    ("age-secret-key-1", LatePattern(r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}")),
    ("dp.", LatePattern(r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}")),
    # Payment and trade: Stripe, Square, Shopify, PayPal's Braintree
    ("k_", LatePattern(r"\b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}")),
    # The same form by other issuers: letters of their own, the mode, and a random part
    *(
        (
            f"_{mode}_",
            LatePattern(rf"\b[a-z]{{2,8}}_{mode}_(?=[A-Za-z]*[0-9]+[A-Za-z]+[0-9]+[A-Za-z])[A-Za-z0-9]{{12,}}"),
        )
        for mode in ("live", "test", "prod")
    ),
    ("whsec_", LatePattern(r"\bwhsec_[A-Za-z0-9+/=]{20,}")),
    ("sq0", LatePattern(r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}")),
    ("shp", LatePattern(r"\bshp(?:at|ss|ca|pa)_[A-Fa-f0-9]{30,}")),
    ("access_token$", LatePattern(r"\baccess_token\$(?:production|sandbox)\$[a-z0-9]{10,}\$[a-f0-9]{30,}")),
    # Messages: Slack, SendGrid, Mailgun, Twilio, Telegram, Discord; documents: Notion, Figma, Airtable
    ("xox", LatePattern(r"\bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}")),
    ("xapp-", LatePattern(r"\bxapp-[A-Za-z0-9-]{20,}")),
    ("hooks.slack.com", LatePattern(r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9_/]{20,}")),
    ("sg.", LatePattern(r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}")),
    ("key-", LatePattern(r"\bkey-[0-9a-f]{32}\b")),
    ("sk", LatePattern(r"\bSK[0-9a-f]{32}\b")),
    (":a", LatePattern(r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}")),
    (".", LatePattern(r"\b[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}")),
    ("ntn_", LatePattern(r"\bntn_[A-Za-z0-9]{30,}")),
    ("secret_", LatePattern(r"\bsecret_[A-Za-z0-9]{40,}")),
    ("figd_", LatePattern(r"\bfigd_[A-Za-z0-9_-]{30,}")),
    ("pat", LatePattern(r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{60,}")),
    # Any issuer: JSON Web Tokens
    ("eyj", LatePattern(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
)

_KEPT_NAMES = (
    r"pass(?:word|wd|phrase)|passwort|kennwort|mot[ _-]de[ _-]passe|contrase[ñn]a|mật[ _-]khẩu|pwd|secret|credentials?"
    r"|(?:api|access|account|private|secret|signing|encryption|master|session|shared[ _-]?access|subscription|app|auth)"
    r"[ _-]?key(?:[ _-]base64)?"
    r"|token|authorization|shared[ _-]?access[ _-]?signature|client[ _-]?secret"
)
"""Names of what is to be kept secret; in a text and, with its words joined by `_`, as the end of a key of a value."""
_SECRET_SIGNS = (
    "pass", "kennwort", "contrase", "mật", "pwd", "secret", "credential", "key", "token", "authorization", "signature",
)  # fmt: skip
_SECRET_KEY = LatePattern(
    rf"(?:^|_)(?:(?:access|auth|api|bearer|refresh|id|session|csrf|bot|sas)?token|{_KEPT_NAMES})(?:_?\d{{1,3}})?$"
)
_OTHER_KEY = LatePattern(r"(?:^|_)(?:page|next|cursor|continuation|sync|eos|bos|pad|unk|sep|cls|mask|stop|public)_\w+$")
"""Keys that only end in such a name: a place in a list, a sign of a model, a key that everybody may know."""

_QUOTED = r"""(?P<quote>\\{0,3}["'`])(?P<quoted>(?:\\[^"'`\n]|[^"'`\\\n]){4,400})"""
_VALUE_SIGN = r"""[^\s"'`<>{},;&\\]"""
_PLAIN = rf"(?P<plain>(?![(\[]){_VALUE_SIGN}{{1,400}}(?:[&,;](?![\w ]{{1,30}}=|\s){_VALUE_SIGN}{{1,400}}){{0,9}})"
_ASSIGNMENT = LatePattern(
    rf"""(?i)(?P<name>{_KEPT_NAMES})(?:_?\d{{1,3}})?(?P<closing>\\{{0,3}}["'`])?
    (?P<sign>[ ]{{0,3}}(?::=|=>|[=:：])\s{{0,3}}|\s(?:is|was|lautet|ist|est|es|là)[ ]:?[ ]?)
    (?P<scheme>(?:bearer|basic|token|digest)[ ])?(?:{_QUOTED}|{_PLAIN})""".replace("\n    ", "")
)
_MAX_PASSPHRASE = 40
_PASSWORD_NAME = LatePattern(r"(?i)^(?:pass(?:word|wd|phrase)|passwort|kennwort|mot|contrase|mật|pwd|shared|account)")
_PLACEHOLDER = LatePattern(
    r"(?i)^(?:[$%].*|[*]+|x+|[.]+|none|null|nil|true|false|undefined|required|optional|string|str|int|password|secret"
    r"|token|changeme|your[_-].*|my[_-].*|example.*|redacted|(?:os|self|settings|config|env|process|st)\..*"
    r"|[a-z_][\w.]*[(\[].*[)\]])[.,;!?]{0,3}$"
)
_BEARER = LatePattern(r"(?i)\b((?:bearer|basic)\s{1,3})([A-Za-z0-9._~+/=-]{8,})")
_USERINFO = LatePattern(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://)[^/\s@:]{0,256}:[^/\s@]{1,1024}@")
_AWS_SECRET = LatePattern(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_BLOCK_BEGIN = LatePattern(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d|\bPrivate-Lines: ?\d{1,3}"
)
_BLOCK_END = LatePattern(r"-{4,5} ?END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}|\bPrivate-MAC: ?[0-9a-f]{8,}")
_BLOCK_BREAK = r"(?:\s|\\+[nrt]|[>|#*]\s)"
_BLOCK_REST = LatePattern(
    rf"""(?:{_BLOCK_BREAK}|\\$|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Encryption|Public-Lines|Private-Lines)
    :[^\n\\]{{0,200}}|[A-Za-z0-9+/=]{{16,}}|[A-Za-z0-9+/]{{0,80}}={{1,4}}[A-Za-z0-9+/]{{0,5}})*""".replace("\n    ", "")
)
_BLOCK_START_REVERSED = LatePattern(r"[\s\\]*[A-Za-z0-9+/=]{1,100}(?:[\s\\]+[A-Za-z0-9+/=]{16,100})*(?![A-Za-z0-9+/=])")
_MAX_BLOCK = 20_000
"""Characters of the longest private key that is looked for."""


class _Span(Struct, frozen=True):
    start: int
    end: int


def remove_secrets(text: str) -> tuple[str, int]:
    """Return a text in which everything that looks secret is replaced, and how many secrets that were.

    These are private keys as a whole, keys in the formats of their issuers, passwords in addresses, what follows
    `Bearer`, and values that are assigned to a name such as `password`.

    >>> remove_secrets("postgres://app:pw12345@db/x and npm_abcdefghijklmnopqrstuvwxyz0123456789")
    ('postgres://[redacted]@db/x and [redacted]', 2)
    >>> remove_secrets("The password is required; a token: one word or less.")
    ('The password is required; a token: one word or less.', 0)
    """
    text, count = remove_keys(text)
    lower = text.lower()
    if not any(sign in lower for sign in _SECRET_SIGNS):
        return text, count
    pieces: list[str] = []
    place = 0
    for match in _ASSIGNMENT.finditer(text):
        group = "quoted" if match["quoted"] is not None else "plain"
        if not _is_assigned_secret(match, match[group], is_quoted=group == "quoted"):
            continue
        pieces += [text[place : match.start(group)], REDACTED]
        place = match.start(group) + len(_strip_sentence_end(match[group]) if group == "plain" else match[group])
        count += 1
    return "".join([*pieces, text[place:]]), count


def remove_keys(text: str) -> tuple[str, int]:
    """Return a text without what is secret by its form alone, whatever is said of it, and how many of these it had."""
    if len(text) < MIN_SECRET_FORM:
        return text, 0
    lower = text.lower()
    count = 0
    if "key" in lower or "private-" in lower:
        text, count = _remove_private_keys(text)
    if "://" in text and "@" in text:
        text, number = _USERINFO.compiled.subn(rf"\1{REDACTED}@", text)
        count += number
    has_access_key = "AKIA" in text or "ASIA" in text
    if has_access_key or ("aws" in lower and "secret" in lower):
        text, number = _replace_if(_AWS_SECRET, text, 0)
        count += number
    for sign, pattern in ISSUED_KEYS:
        if sign in lower:
            text, number = pattern.compiled.subn(REDACTED, text)
            count += number
    if "bearer" in lower or "basic" in lower:
        text, number = _replace_if(_BEARER, text, 2)
        count += number
    return text, count


def looks_secret(text: str) -> bool:
    """Return whether a text holds a key, a token or an address with a password.

    >>> looks_secret("redis://:hunter2@cache")
    True
    """
    return remove_keys(text)[1] > 0


def is_secret_name(name: str) -> bool:
    """Return whether a key of a value names something secret, however its words are joined.

    >>> [is_secret_name(name) for name in ("clientSecret", "DB_PASSWORD", "x-api-key", "max_tokens", "page_token")]
    [True, True, True, False, False]
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:200]).lower()
    words = re.sub(r"[^\w]+", "_", words)
    return _SECRET_KEY.search(words) is not None and _OTHER_KEY.search(words) is None


def _is_assigned_secret(match: re.Match[str], value: str, *, is_quoted: bool) -> bool:
    """Return whether what follows a secret name is a secret: prose, code and placeholders are none."""
    if REDACTED in value or _PLACEHOLDER.search(value) is not None:
        return False
    if is_quoted:
        # In JSON, where the name is in quotes, too, a phrase may be a password; a longer text describes one.
        is_phrase = match["closing"] is not None and len(value) <= _MAX_PASSPHRASE
        return " " not in value or _looks_random(value) or is_phrase
    value = _strip_sentence_end(value)
    if len(value) < 4 or "://" in value:
        return False
    if match["scheme"] is not None and match["name"].lower() == "authorization":
        return True
    if _looks_random(value):
        return len(value) >= 6
    is_tight = match["sign"].strip() == match["sign"] and ":" not in match["sign"]
    return is_tight and _PASSWORD_NAME.search(match["name"]) is not None


def _looks_random(value: str) -> bool:
    """Return whether a value has a digit, or capital letters within it: words of a sentence have neither."""
    return any(sign.isdigit() for sign in value) or (any(sign.isupper() for sign in value[1:]) and not value.isupper())


def _strip_sentence_end(value: str) -> str:
    """Return a value without the signs of the sentence that it ends."""
    for opening, closing in ("()", "[]"):
        if closing in value and opening not in value:
            value = value.partition(closing)[0]
    return value.rstrip(".,:;?") or value


def _replace_if(pattern: LatePattern, text: str, group: int) -> tuple[str, int]:
    """Replace a group of each match that mixes letters with digits or capitals, as what is drawn by chance does."""
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        value = match[group]
        has_kinds = [any(map(test, value)) for test in (str.isdigit, str.isupper, str.islower)]
        is_hash_or_path = group == 0 and not all(has_kinds)
        if is_hash_or_path or not (has_kinds[0] or any(map(str.isupper, value[1:]))):
            return match[0]
        count += 1
        return match[0][: match.start(group) - match.start()] + REDACTED

    return pattern.sub(replace, text), count


def _remove_private_keys(text: str) -> tuple[str, int]:
    """Replace each private key from its first line to its last, or as far as it goes where it is cut off."""
    begins = [_Span(*match.span()) for match in _BLOCK_BEGIN.finditer(text)]
    ends = [_Span(*match.span()) for match in _BLOCK_END.finditer(text)]
    if not begins and not ends:
        return text, 0
    pieces: list[str] = []
    place = 0
    for span in _list_key_blocks(text, begins, ends):
        if span.start < place:
            continue
        pieces += [text[place : span.start], REDACTED]
        place = span.end
    return "".join([*pieces, text[place:]]), len(pieces) // 2


def _list_key_blocks(text: str, begins: list[_Span], ends: list[_Span]) -> Iterator[_Span]:
    """Yield where private keys are, in order; a last line without a first one belongs to what is cut off before it."""
    taken: set[int] = set()
    blocks: list[_Span] = []
    end_starts = [end.start for end in ends]
    for number, begin in enumerate(begins):
        limit = begins[number + 1].start if number + 1 < len(begins) else len(text)
        limit = min(limit, begin.end + _MAX_BLOCK)
        at = bisect_left(end_starts, begin.end)
        if at < len(ends) and ends[at].start <= limit:
            taken.add(at)
            blocks.append(_Span(begin.start, ends[at].end))
            continue
        rest = _BLOCK_REST.match(text, begin.end, limit)
        cut = begin.end if rest is None else begin.end + len(rest[0].rstrip())
        blocks.append(_Span(begin.start, cut))
    for at, end in enumerate(ends):
        if at not in taken:
            first = max(ends[at - 1].end if at else 0, end.start - _MAX_BLOCK)
            lines = text[first : end.start].replace("\\n", "\n\n").replace("\\r", "\r\r")  # as long as before
            body = _BLOCK_START_REVERSED.match(lines[::-1])
            blocks.append(_Span(end.start - (0 if body is None else len(body[0])), end.end))
    yield from sorted(blocks, key=lambda block: (block.start, block.end))
