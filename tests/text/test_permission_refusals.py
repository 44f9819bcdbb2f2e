"""A system that says it may not tell denies permission in every language, and a person who may not do something else
answers."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour

QUESTIONS = {
    "en": "What does Ann earn?",
    "vi": "Lương của chị Lan là bao nhiêu?",
    "es": "¿Cuánto cobra Ana?",
    "fr": "Combien gagne Anne ?",
    "de": "Wie viel verdient Anna?",
    "pt": "Quanto ganha a Ana?",
    "ja": "田中さんの給料はいくらですか。",
    "zh": "王先生的工资是多少？",
}
DENIALS = {
    "en": """
        I do not have permission to show that data.
        I have no permission to share those figures.
        I lack the permissions needed to open that file.
        I haven't been authorised to release the report.
        My permissions don't allow me to display that record.
        We aren't permitted to give out that address.""",
    "vi": """
        Tôi không có quyền hiển thị dữ liệu đó.
        Tôi không được phép cho xem dữ liệu đó.
        Em không được phép cung cấp số điện thoại đó.
        Tôi không đủ quyền để mở tài liệu đó.
        Xin lỗi, hệ thống không cho phép tôi hiển thị bảng này.""",
    "es": """
        No tengo permiso para mostrar esos datos.
        No tenemos autorización para divulgar esa cifra.
        No dispongo de los permisos necesarios para ver ese expediente.
        Me falta autorización para darle esa información.
        No me permiten compartir ese contrato.""",
    "fr": """
        Je n'ai pas la permission de montrer ces données.
        Je n'ai pas l'autorisation d'afficher ce dossier.
        Nous n'avons pas le droit de communiquer ce chiffre.
        Je ne dispose pas des droits nécessaires pour consulter ce document.
        Il me manque l'autorisation de vous donner cette information.""",
    "de": """
        Ich habe keine Berechtigung, diese Daten zu zeigen.
        Mir fehlt die Berechtigung, diese Akte zu öffnen.
        Ich habe keine Erlaubnis, Ihnen diese Zahlen zu nennen.
        Mir ist es nicht gestattet, diese Angaben weiterzugeben.
        Wir haben nicht die erforderlichen Rechte, diesen Vertrag einzusehen.""",
    "pt": """
        Não tenho permissão para mostrar esses dados.
        Não temos autorização para divulgar esse valor.
        Falta-me permissão para consultar esse processo.
        Não possuo as permissões necessárias para ver esse documento.
        Não me permitem compartilhar esse contrato.""",
    "ja": """
        これらのデータを表示する権限がありません。
        そのデータをお見せする許可を得ていません。
        その金額をお伝えする権限を持っていません。
        その情報を共有することは許可されていません。""",
    "zh": """
        我没有权限显示这些数据。
        我没有被授权透露这个数字。
        抱歉，我没有获得展示这份文件的许可。
        我们无权向您提供这些工资信息。""",
}
RULES = {
    "en": ("May we park in the yard?", "We do not have permission to park in the yard."),
    "vi": ("Nhân viên thử việc có được đỗ xe không?", "Nhân viên thử việc không có quyền đỗ xe trong hầm."),
    "es": ("¿Podemos aparcar en la calle?", "No tenemos permiso para aparcar en la calle."),
    "de": ("Dürfen wir dort bauen?", "Wir haben keine Genehmigung, dort zu bauen."),
    "pt": ("Podemos estacionar na rua?", "Não temos permissão para estacionar na rua."),
}


@pytest.mark.parametrize("language", DENIALS)
def test_who_may_not_tell_denies_permission(language: str) -> None:
    for answer in map(str.strip, DENIALS[language].strip().splitlines()):
        for question in (QUESTIONS[language], ""):
            assert "permission_denied" == detect_behaviour(answer, question=question).behaviour, (answer, question)


@pytest.mark.parametrize("language", RULES)
def test_who_may_not_do_something_else_denies_nothing(language: str) -> None:
    question, answer = RULES[language]
    assert "permission_denied" != detect_behaviour(answer, question=question).behaviour
