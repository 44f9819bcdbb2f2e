"""Lexicons are data: each shipped one is usable, a user adds a language in one file, and mistakes name their line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from benchmarks.refusals import LANGUAGES, read_stock
from msgspec.structs import asdict

from assay.text.refusals.behaviour import detect_behaviour, detect_phrases, select_lexicons
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates
from assay.text.refusals.lexicon_file import load_lexicons, load_shipped_lexicon, parse_lexicon, read_common_words
from assay.text.refusals.lexicons_in_use import has_lexicon
from assay.text.refusals.refusal_lexicon import LexiconError
from assay.text.refusals.refusal_rules import UNSPACED_LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
ITALIAN = """
language: it
common: [il, la, di, che, non]
subjects:
  speaker: [io]
  others: [utenti]
  documents: ['document\\w*', testo]
not_asserted:
  conditions: [se]
no_claim:
  set_aside: [mi dispiace]
  fillers: [purtroppo, ma]
lists:
  fact: [informazioni, dati]
phrases:
  abstain:
    - "{non lo so,non ne ho idea}"
    - {say: "non {contiene,fornisce} <fact>", by: document}
  permission_denied: ["accesso negato"]
bare: [sconosciuto]
"""


@pytest.fixture
def italian(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "it.yaml").write_text(ITALIAN, encoding="utf-8")
    select_lexicons([str(tmp_path)])
    yield
    select_lexicons([])


def test_eight_languages_are_shipped_with_phrases_of_every_kind_that_is_measured() -> None:
    lexicons = load_lexicons()
    assert {"en", "vi", "de", "fr", "es", "pt", "ja", "zh"} == set(lexicons)
    for lexicon in lexicons.values():
        kinds = {cue.kind for cues in lexicon.phrases.values() for cue in cues}
        assert {"abstain", "permission_denied", "escalate", "clarify"} <= kinds


@pytest.mark.parametrize(
    ("answer", "behaviour"),
    [
        ("Non lo so.", "abstain"),
        ("Purtroppo il documento non contiene informazioni sul prezzo.", "abstain"),
        ("Accesso negato.", "permission_denied"),
        ("Sconosciuto.", "abstain"),
        ("Se il documento non contiene informazioni, chiamate il centralino.", "answer"),
        ("Il prezzo è di 12 euro.", "answer"),
    ],
)
@pytest.mark.usefixtures("italian")
def test_one_file_adds_a_language(answer: str, behaviour: str) -> None:
    assert has_lexicon("it-IT")
    assert behaviour == detect_behaviour(answer, "it").behaviour


def test_the_lexicon_of_the_documentation_can_be_read() -> None:
    page = Path(__file__).parents[2].joinpath("docs/how-to/refusals.md").read_text(encoding="utf-8")
    lexicon = parse_lexicon(page.split("```yaml\n")[1].split("```")[0], "it.yaml")
    assert "it" == lexicon.language


def test_without_its_file_the_language_is_unknown_again() -> None:
    assert not has_lexicon("it")
    detected = detect_behaviour("Il prezzo è di 12 euro.", "it")
    assert ("unknown", False) == (detected.behaviour, detected.is_decided_by_text)
    assert "answer" == detect_behaviour("The price is 12 euros.", "en").behaviour


def test_a_file_of_a_shipped_language_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "german.yaml"
    path.write_text(ITALIAN.replace("language: it", "language: de"), encoding="utf-8")
    assert load_lexicons([str(path)])["de"].phrases.keys() != load_shipped_lexicon("de").phrases.keys()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("language: it\nphrases: {abstain: [no]}", "it.yaml:2: phrases.abstain[0].say: phrase too short to look up"),
        ("language: italian\nphrases: {abstain: [non lo so]}", "it.yaml:1: language: no language (got 'italian'"),
        ("language: it\nphrase: {}\nphrases: {abstain: [non lo so]}", "it.yaml:2: phrase: unknown field"),
        ("language: it\nphrases:\n  deny: [non lo so]", "it.yaml:3: phrases.deny: unknown kind (got 'deny'"),
        ("language: it\nphrases:\n  abstain:\n    - {say: non lo so, by: me too}", "it.yaml:4: phrases.abstain[0].by"),
        ("language: it\nphrases:\n  abstain:\n    - {say: non lo so, then: x}", "it.yaml:4: phrases.abstain[0].then"),
        ("language: it\nphrases: {abstain: ['non <fatti> li']}", "unknown list (got <fatti>"),
        ("language: it\nlists: {a: [<a>]}\nphrases: {abstain: ['non <a> li']}", "a list that holds itself"),
        (
            "language: it\nsubjects: {you: ['te[']}\nphrases: {abstain: [non lo so]}",
            "it.yaml:2: subjects.you: no regular",
        ),
        ("language: it\nspaced: maybe\nphrases: {abstain: [non lo so]}", "it.yaml:2: spaced: neither true nor false"),
        ("language: it\nclaim_words: 0\nphrases: {abstain: [non lo so]}", "it.yaml:2: claim_words: no count of words"),
        ("language: it\ncommon: uno\nphrases: {abstain: [non lo so]}", "it.yaml:2: common: no list of texts"),
        (
            "language: it\nphrases: {abstain: ['{non lo so,boh']}",
            "it.yaml:2: phrases.abstain[0].say: a bracket without",
        ),
        ("language: it\nphrases: {abstain: ['non lo [so]']}", "a bracket without its other half, or none of a phrase"),
        ("language: it", "it.yaml:1: phrases: no phrases"),
        ("language: it\nlanguage: it", "it.yaml:2: language: a key given twice"),
        ("language: &a it\nbare: [*a]", "an alias (expected each value written out)"),
        ("language: [it", "it.yaml:2: invalid YAML"),
        ("", "no mapping"),
    ],
)
def test_a_mistake_names_its_file_line_and_remedy(text: str, expected: str) -> None:
    with pytest.raises(LexiconError) as raised:
        parse_lexicon(text, "it.yaml")
    assert expected in str(raised.value)


def test_all_mistakes_come_at_once_and_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("language: it\nphrases: {abstain: [no]}", encoding="utf-8")
    (tmp_path / "b.yaml").write_bytes(b"\xff")
    with pytest.raises(LexiconError) as raised:
        select_lexicons([str(tmp_path), str(tmp_path / "missing.yaml")])
    message = str(raised.value)
    assert "a.yaml:2" in message
    assert "b.yaml: not UTF-8" in message
    assert "missing.yaml: cannot be read" in message
    assert not has_lexicon("it")


def test_two_files_of_one_language_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(ITALIAN, encoding="utf-8")
    with pytest.raises(LexiconError) as raised:
        load_lexicons([str(tmp_path), str(tmp_path / "empty")])
    assert "a second lexicon of it" in str(raised.value)
    assert "no lexicon in this folder" in str(raised.value)


def test_every_list_and_every_pattern_of_a_shipped_lexicon_is_used_by_its_phrases() -> None:
    for language, lexicon in load_lexicons().items():
        text = files("assay.text.refusals").joinpath("lexicons", f"{language}.yaml").read_text(encoding="utf-8")
        assert [name for name in lexicon.lists if f"<{name}>" not in text] == [], language
        followed = {row.following for row in lexicon.rows}
        assert sorted(lexicon.following_texts.keys() - followed) == [], language


def test_the_copies_of_shipped_lexicons_are_what_checking_their_yaml_gives() -> None:
    folder = files("assay.text.refusals").joinpath("lexicons")
    shipped = load_lexicons()
    for entry in folder.iterdir():
        if entry.name.endswith(".yaml"):
            checked = parse_lexicon(entry.read_text(encoding="utf-8"), entry.name)
            assert asdict(checked) == asdict(shipped[checked.language])


def test_the_copies_that_are_read_hold_what_the_lexicons_hold() -> None:
    """After a change of a YAML file, `python scripts/lexicon_copies.py` writes its copy again."""
    done = subprocess.run(
        [sys.executable, "scripts/lexicon_copies.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_frequent_words_of_a_lexicon_are_read_without_the_rest() -> None:
    for language, lexicon in load_lexicons().items():
        assert lexicon.common_words == read_common_words(language)


def test_scripts_without_spaces_are_in_a_group_of_their_own() -> None:
    unspaced = [language for language, lexicon in load_lexicons().items() if not lexicon.is_spaced]
    assert list(UNSPACED_LANGUAGES) == sorted(unspaced)


@pytest.mark.slow
def test_english_and_vietnamese_answers_load_no_other_lexicons() -> None:
    """Asked in a process of its own, because other tests load them all."""
    code = (
        "from assay.text.refusals.behaviour import detect_behaviour\n"
        "from assay.text.refusals.behaviour_candidates import find_behaviour_candidates\n"
        "from assay.text.refusals.lexicons_in_use import load_rules\n"
        "answers = ['The passages do not say.', 'You get 12 days.', 'Toi khong biet.', '12', 'Bạn có quyền.']\n"
        "find_behaviour_candidates(answers), [detect_behaviour(answer) for answer in answers]\n"
        "print(load_rules.cache_info().currsize)\n"
        "print(detect_behaviour('Dazu steht in den Unterlagen nichts.').behaviour, load_rules.cache_info().currsize)\n"
        "print(detect_behaviour('资料中没有关于价格的信息。').behaviour, load_rules.cache_info().currsize)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ["1", "abstain 2", "abstain 3"] == done.stdout.splitlines()


def test_what_an_answer_does_depends_on_it_alone() -> None:
    """Lexicons that other answers of the batch need do not change what is found in this one."""
    answers = ["Acceso denegado.", "Das steht nicht in den Unterlagen.", "The plan costs $5.", "资料中没有信息。"]
    together = find_behaviour_candidates(answers).tolist()
    assert together == [bool(find_behaviour_candidates([answer])[0]) for answer in answers]


def test_reading_a_lexicon_compiles_none_of_its_patterns() -> None:
    """Each is compiled when a text needs it; asking whether there is one of a name is no need."""
    lexicon = load_shipped_lexicon.__wrapped__("en")
    name = next(name for name in lexicon.following_patterns if name)
    assert name in lexicon.following_patterns and "no such name" not in lexicon.following_patterns
    assert {} == lexicon.following_patterns._compiled == lexicon.patterns._compiled
    assert lexicon.following_patterns[name] is lexicon.following_patterns._compiled[name]


@pytest.mark.parametrize(
    ("refusal", "rule"),
    [
        ("Diese Zahlen sind vertraulich.", "Kundendaten und Preise sind vertraulich und dürfen nicht heraus."),
        ("Essas informações são sigilosas.", "Os dados dos clientes são sigilosos e ficam no cofre do banco."),
        ("该信息仅限财务部门查看。", "档案室的资料仅限人事部查看，每周二开放。"),
    ],
)
def test_what_was_asked_is_denied_only_where_it_is_pointed_at(refusal: str, rule: str) -> None:
    assert "permission_denied" == detect_behaviour(refusal).behaviour
    assert "answer" == detect_behaviour(rule).behaviour


def test_a_colon_in_a_question_ends_no_claim() -> None:
    assert "clarify" == detect_behaviour("Welche Gebühr meinen Sie: die für den Kurs oder die Prüfung?").behaviour
    assert "answer" == detect_behaviour("The fee is 9 euros: shall I book it?").behaviour


def test_the_filter_for_many_answers_lets_every_refusal_of_every_language_through() -> None:
    answers = [
        answer.text for language in LANGUAGES for half in read_stock("stock", language).values() for answer in half
    ]
    assert len(answers) >= 256
    marked = find_behaviour_candidates(answers)
    refusing = [detect_phrases(answer).behaviour != "answer" for answer in answers]
    assert sum(refusing) >= 150
    assert all(marked[refusing])
