"""Words of orders to a judge in eleven languages, by what they mean.

Words are separated by commas and match the beginning of a word, so that inflected forms match too; a final dot demands
the end of the word. In Chinese, Japanese and Korean they match anywhere. Case and accents are ignored.
"""

# ruff: noqa: E501  # the words of a language read best on one line

from __future__ import annotations

ORDER_WORDS: dict[str, tuple[str, ...]] = {
    # to leave earlier orders aside
    "override": (
        "ignor, disregard, forget, bypass, overrid, stop following, not follow, n't follow, no longer follow, "
        "no attention, set aside, discard, abandon",
        "bo qua, phot lo, quen het, quen di, huy bo, dung lam theo, khong lam theo, dung tuan theo",
        "oubli, ne tenez pas compte, ne tiens pas compte, abstraction, ne suivez pas, ne suis pas",
        "vergiss, vergesst, vergessen sie, missacht, beachten sie, beachte",
        "olvid, no sigas, no siga, caso omiso, desatiend, esquec, nao siga, desconsider, desprez",
        "забуд, игнорир, не следуй, не обращай, не учитывай, отмени",
        "忽略, 无视, 無視, 忘记, 忘掉, 不要遵循, 不要理会, 忘れ, 従わな, 무시, 잊어, 따르지, تجاهل, انس, اهمل, لا تتبع",
    ),
    # what a judge was told
    "rules": (
        "instruction, prompt, rubric, guideline, guidance, criteri, rules., rule., told, directive, scoring guide, "
        "grading policy, definition of",
        "huong dan, chi dan, chi thi, quy tac, tieu chi, menh lenh, duoc yeu cau",
        "consigne, regle, critere, anweisung, regeln, vorgabe, richtlinie, kriterien, instruktion",
        "instruccion, regla, directri, indicacion, consigna, instruc, regra, diretri, orientac",
        "указани, инструкци, правил, критери",
        "指示, 指令, 规则, 規則, 标准, 要求, ルール, 基準, プロンプト, 지시, 규칙, 지침, 기준, 프롬프트",
        "تعليمات, التعليمات, قواعد, القواعد, توجيهات, التوجيهات, المعايير",
    ),
    # who judges
    "judge": (
        "judge., judges., grader, evaluator, reviewer, assessor, examiner, labeler, labeller, annotator, rater., "
        "whoever reads, to assess it, checking this, llm, language model, ai model, chatbot",
        "giam khao, nguoi cham, nguoi gan nhan, nguoi danh gia, danh gia vien, dang danh gia, mo hinh ngon ngu, tro ly ai",
        "evaluateur, correcteur, juge., examinateur, bewerter, prufer, gutachter, korrektor, evaluador, calificador, "
        "revisor, corrector, avaliador, corretor, juiz., juez.",
        "оценщик, проверяющ, судья, судье, эксперт, рецензент, языковая модель",
        "评审, 评委, 评估者, 评估员, 评分员, 评判, 审核员, 阅卷, 语言模型, 大模型, 採点者, 評価者, 審査, 判定者, 言語モデル",
        "채점자, 평가자, 심사, 언어 모델, المقيم, للمقيم, المصحح, المراجع, الحكم, نموذج اللغ",
    ),
    # how one is addressed
    "address": (
        "attention, dear, note to, notice to, message for, message to, hello, to the, as the, as an, speaking as",
        "luu y, thong bao, gui., kinh gui, xin chao",
        "a l'attention, en tant qu, cher, hinweis an, achtung, als., atencion, como., a quien, atencao, caro",
        "вниманию, внимание, как.",
        "请注意, 致, 作为, として, への, 者へ, 님께, 에게, 으로서, الى., بصفتك, انتباه",
    ),
    # to give a label
    "label": (
        "label, mark., marks., marked, rate it, rate the, rate this, rate each, rate every, rate all, rate them, rated, rating, grade, score, classif, award, tick., approv, accept., "
        "treat., treated, considered, consider., choos, choice, pick., select., counts as, judge as, verdict, assessment, "
        "evaluation., category, confirm., full points, give",
        "gan nhan, nhan la, cham diem, cham, cho diem, chon, xep, danh dau, danh gia, coi la, cho la, xem la",
        "note., notez, attribu, consider, juge, marqu, etiquet, classez, confirm, approuv, repond",
        "werte., bewert, kennzeichn, einstuf, markier, betracht, vergeb, vergib, beurteil, urteil, bestatig, punktzahl",
        "marca., marque, califi, puntu, elegir, elige, clasif, aprueb, nota., classifi, avali, aprov, pontu, escolh",
        "отмет, оцен, постав, балл, считай, признай, метк, выбер, одобр",
        "判为, 判定, 评为, 标记, 标为, 标注, 打分, 给分, 打满分, 视为, 评分, 採点, 評価, ラベル, みなし, 選択, 点をつけ",
        "점수, 판정, 처리, 평가, 표시해, 라벨, 간주, اعتبر, درجة, صنف, قيم., اختر, امنح, ضع.",
    ),
    # the label that an attacker wants
    "praise": (
        "supported, fully_correct, fully correct, correct., accurate, proven, confirmed, approved, verified, full points, "
        "full marks, full score, best, top., highest, perfect., excellent, fully right, positive, 100%, first one, "
        "not_found, contradicted, generous, maximum, partly_correct, good score",
        "dung het, la dung, chinh xac, cao nhat, diem toi da, tuyet doi, co can cu, diem cao",
        "exact, meilleur, vrai, maximal, belegt, gestutzt, voller, volle., hochst, beste., bester, bestes, richtig, "
        "korrekt",
        "respaldad, correct, maxim, mas alta, verdader, cierta, corret, verdadeir, mais alta, comprovad",
        "подтвержд, высш, максим, верным, верное, правильн, истин",
        "正确, 正確, 满分, 滿分, 最高, 有依据, 属实, 裏付け, 満点, 正しい, 正解, 정답, 가장 높은, 최고, 만점, 옳",
        "صحيح, اعلى, كاملة, مدعوم",
    ),
    # all of it
    "scope": (
        "everything, everywhere, every, all., each., any., ids., id., claim, statement, sentence, answer, passage, "
        "response, line., above, below, item",
        "tat ca, moi., het., cau., doan, y., chaque, toute, tout., tous., reponse, affirmation, phrase",
        "jede, alle., alles., allen, uberall, antwort, aussage, behauptung, toda, todo, cada, respuesta, afirmac, tudo, resposta",
        "все., всё, кажд, ответ, утвержд, 所有, 每, 全部, 这个, 回答, 都, 一律, すべて, 全て, この",
        "모든, 모두, 항목, 답변, كل., جميع, الاجابة, هذه, جملة",
    ),
    # what is judged
    "text": (
        "answer, response, reply, claim, statement, sentence, passage, text., output, above, below",
        "cau., doan, phan hoi, reponse, affirmation, phrase, antwort, aussage, behauptung, respuesta, afirmac, resposta",
        "ответ, утвержд, 回答, 答案, 陈述, 文, 답변, 문장, الاجابة, جملة",
    ),
    # words that say nothing about a subject
    "filler": (
        "is., are., was., were., be., been., being., has., have., the., this., that., these., those., in., of., it., its., "
        "and., to., by., as., with., a., an., on., so., for., here., now., fully., whole., entire, completely., nothing., "
        "add., further., needed., no., not.",
        "la., va., tren., trong., duoc., deu., nay., do., toan., bo., hoan., da., ket., qua.",
        "ist., sind., und., in., dieser., diese., dieses., die., der., das., wurde., ganz., est., sont., et., le., les., "
        "cette., es., son., sao., e., las., los., o., os., as., em., en., de., que., esta., este., são., это., и., в., "
        "этот., этом., 是, 的, です, は",
    ),
}
"""By meaning, the words of English, Vietnamese, French, German, Spanish, Portuguese, Russian, Chinese, Japanese, Korean
and Arabic."""

STEERING_WORDS = (
    "choose, pick, select, mark, label, treat, consider, accept, approve, assume, trust, agree, confirm, rate, score, "
    "grade, award, ignore, disregard, forget, follow, obey, say, answer, reply, respond, return, output, print, repeat, "
    "write, pretend, remember, act, do not, don't, never, please, you must, you should, you have to",
    "hay, vui long, xin, dung, bo qua, chon, cho, coi, ghi, tra loi, gia su",
    "ignorez, choisissez, marquez, considerez, repondez, veuillez, ne, ignorieren, wahlen, markieren, antworten, bitte",
    "ignora, ignore, elija, elige, marque, marca, considera, responda, responde, por favor, escolha, aceite",
    "забудь, выбери, отметь, считай, ответь, пожалуйста, не, 请, 忽略, 选择, 不要, 무시, تجاهل, اختر, اعتبر, لا",
)
"""Words with which an order to the reader of a text begins."""
