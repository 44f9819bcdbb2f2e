"""Classes of words that rules look up one by one: words of grammar, of address, and words that say too little alone.

They are folded by `list_words`; those that are compared as they are written have WRITTEN in their names.
"""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import list_words

# ── grammar ──────────────────────────────────────────────────────────────────────────────────────────────────────────

AUXILIARIES = list_words(
    """
    is are was were be been has have had do does did can could may might must shall should will would get gets got need
    needs là được có phải cần sẽ đã do bị
    """
)
BEING = list_words("is are was were")
HELPING = list_words("do does did")
ONES = list_words("one một")
"""Words that are a number or an article."""
ADDRESS_WRITTEN = "dạ ạ nhé nha nhá ơi anh chị em bạn mình cô chú bác bên shop quý khách mẹ cháu"
"""Vietnamese particles and words by which people call themselves and each other: they name nothing else."""
GRAMMAR_WRITTEN = "là được có phải cần sẽ đã bị họ tôi chúng hãy không với vâng này đó thì mà"
"""Vietnamese words of grammar, which are folded like other words: "được", "họ"."""
NO_SUBJECT = list_words(
    f"""
    now currently today nowadays since until previously formerly
    it they you we he she i this that these those there please then yes no not nothing only bạn nó họ tôi chúng hãy
    il elle ils elles nous vous cela merci veuillez ella ellos ellas lui lei ele ela votre vos notre nos leur leurs
    sie es wir ihr bitte ich du ihnen ihre ihren ihrem ihrer ihres uns unser unsere unseren unserem unserer dein deine
    không được vui xin theo với vâng including nur lediglich seulement uniquement sólo solo solamente {ADDRESS_WRITTEN}
    """
)
"""Words before which there is no subject that could be another one: pronouns, imperatives, negations."""
ASKING = list_words(
    """
    how long much many what which who whom whose when where why does do did is are was were can need needed happens
    happen kind often bao nhiêu ai khi nào gì nào ở đâu thế mấy là của có được một thì các
    """
)
"""Words of a question that only ask."""
ASKING_WRITTEN = frozenset("nhiêu nào gì ở đâu thế mấy là của có được một thì các".split())
"""The Vietnamese ones as they are written: "mấy" asks, "máy" is a machine."""
STAND_FOR_NOUN = list_words("one any none them it")
"""Stand for a noun of the question: "Hoi An does not have one"."""
DETERMINERS = list_words("the a an our my your his her their its some this these those another")
ARTICLES_AND_PREPOSITIONS = list_words("the a an this that these those of for in at on")
"""May begin an answer before its subject."""
OBJECT_STARTS = list_words("it them the a an your this these those no any all")
"""Begin the object of an order: "Keep it …", "Hand the form …"."""
RELATIVES = list_words("which whom whose where who that")
"""Begin a clause that says which one is meant."""
RELATIVES_WRITTEN = frozenset("who whom which whose mà ma".split())
"""Stand between a noun and the one who does something with it: "the intern whom Ann trains"."""
PREPOSITIONS = list_words(
    """
    at in on of for with from by to after before during until till about around over under than as per into onto near
    between within inside outside since once if when while like without except beyond off behind along across against
    """
)
PREPOSITIONS_WRITTEN = frozenset("của trên dưới trong ngoài ở tại cho với từ đến tới về bằng khỏi theo vào".split())
"""Those of Vietnamese, as they are written."""
CONDITIONS_WRITTEN = frozenset("nếu hễ lỡ neu".split())
"""Begin a condition in Vietnamese, which "thì" ends."""
GERMAN_AROUND_VALUE = list_words(
    "innerhalb von binnen bis zu nach ab am um im vor seit pro je der die das den dem spätestens höchstens mindestens"
)
"""German words of grammar beside a value."""
NEXT_CLAUSE = list_words("thì mới then when if")
"""Words with which what follows a value is said of something else again."""
ONLY_VIETNAMESE = list_words(
    "được không của khi nhưng phải người thì và đến trong cho mỗi ngày giờ chưa nếu với các một theo nhé"
)
"""Words of Vietnamese that hardly any other language has, folded."""
NUMBER_WORDS_WRITTEN = "rưỡi|chục|hăm|lăm|trăm|ngàn|nghìn|triệu"
"""Vietnamese words of numbers that are hardly ever anything else, as they are written."""
OTHER_NUMBER_WORDS = (
    "deux|trois|quatre|cinq|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante"
    "|soixante|septante|huitante|nonante|deux cents?|cuatro|cinco|siete|ocho|nueve|diez|doce|trece|catorce|veinte"
    r"|veinti\w+|dieci(?:s\w+)?|treinta|cuarenta|cincuenta|sesenta|ochenta|noventa|dois|duas|quatro|sete|oito|nove|dez"
    "|doze|treze|catorze|quinze|dezesseis|dezasseis|dezessete|dezassete|dezoito|dezenove|dezanove|vinte|trinta|quarenta"
    "|cinquenta|sessenta|oitenta|quattro|cinque|sette|otto|undici|dodici|tredici|quattordici|quindici|sedici|diciotto"
    r"|mille|mil|ciento|cien|[a-z]{2,8}cient[oa]s|quinient[oa]s|duzent[oa]s|trezent[oa]s|[a-z]{2,16}mila|cento|cem"
    "|anderthalb|drittel|viertel|fünftel|zehntel|hälfte"
    r"|diciassette|diciannove|venti\w*|trenta\w*|quaranta\w*|cinquanta\w*|sessanta\w*|settanta\w*|ottanta\w*|novanta\w*"
)
"""French, Spanish, Portuguese and Italian words of numbers, and German ones of shares, as they are written, without
those that are English or Vietnamese words too ("six", "once", "due"): where they are left in a text, they are parts of
numbers that are not read (`romance_forms`)."""

# ── words that say little alone ──────────────────────────────────────────────────────────────────────────────────────

GENERIC = list_words(
    """
    answer yes company policy rule rules document documents total number amount limit value figure employee employees
    staff worker workers team member members person people everyone everybody anyone customer customers user users
    each every all please note according exactly currently mỗi nhân viên số lượng công ty quy định tài liệu
    uhr tarif höhe regel regelung nummer telefonnummer rufnummer formular formulare unterlagen frist dauer zeitraum
    zeitpunkt voraussetzung anspruch folgendes verfügung mitarbeiter mitarbeiterin mitarbeiterinnen personen mitglied
    mitglieder anfrage frage antwort gebühr preis betrag
    """
)
"""So general that they name nothing else than what is asked."""
OTHERS = list_words("most other others else otherwise earlier later before after autres andere anderen otros altri")
"""Say of a value that it is that of the rest, or of another time: "£14 earlier", "$900 for most drivers"."""
NEUTRAL = list_words("need needed needs required requires require necessary have has able possible")
"""Words that hold no fact by themselves."""
JOINING = list_words("per size lúc")
"""Words of a fact that only join others."""
SAYS_NO_MORE = list_words(
    """
    the a an this that these those it he she they we you one there do does did is are was were be been has have had
    but however though yet and so actually in fact
    nó họ thì là mà nhưng tuy nhiên và thực ra có
    der die das den dem ein eine einen er sie es man ist sind wird werden hat haben aber jedoch doch und
    s re n le la les l un une il elle ils elles on ce c cela est sont mais cependant pourtant et
    el los las una es son pero sin embargo y o os as um uma mas
    """
)
"""Say nothing that a sentence without them does not say: articles, pronouns, verbs of help, "but"."""
TIMES_OF_EVENTS = list_words("day date time moment")
"""Say nothing before "of" and an event: "from the day of purchase" is from the purchase on."""
TITLES = list_words("mr mrs ms miss dr doctor prof professor sir")
"""Stand before the name of a person."""
TITLES_AND_ADDRESS = list_words("mr mrs ms miss dr prof professor sir madam ông bà anh chị cô chú bác")
"""Capitalised, and no name."""
SUMMING = list_words("total overall altogether combined tổng cộng")
"""Say that a value is one of all, and of nothing else."""
GENERIC_NOUNS = list_words(
    """
    price cost fee charge rate total amount sum maximum minimum limit most least number figure answer rule norm standard
    time date day week month year hour deadline one ones place address phone line contact person way case right correct
    same usual normal whole full current new regular money thing volume average giá phí mức tổng hạn số ngày giờ lúc chỗ
    nơi người đáp câu quy định chuẩn cuối đủ xong đúng tối ít nhiều hết đẹp vừa cũng được
    """
)
"""What a value or a name may be said to be without being anything else."""
YOU = list_words("you your yours bạn anh chị mình quý sie ihnen ihr ihre ihren")
"""Words by which an answer addresses the one who asks."""
SAID_WITHOUT = list_words(
    """
    get gets got give gives given take takes taken come comes go goes hold holds have has need needs use used make makes
    made cost costs apply applies pay paid set put consist consists arrive please themselves
    """
)
"""Verbs of everyday that need not be said where the rest of a fact is: "bus 14" for "take bus 14"."""
PERMITTED = list_words("allowed permitted admitted may can able")
"""Need not be said beside an "only": "yes, but only with a lead"."""
IMPERATIVES = list_words(
    """
    take head go use call ring come see try get ask contact keep bring pay buy choose book fill send press click hold
    open visit check follow walk phone email write enter show scan tap select log sign scroll upload
    """
)
"""What may begin an answer without a subject: "Take line 12"."""
PREDICATES = list_words(
    """
    get gets give gives take takes taken cost costs charge charges charged pay paid offer offers offered include
    includes included allow allowed permit permitted require required must keep kept last lasts come comes run runs go
    goes apply applies hold holds say says mean means true case use used want ask bring sign signed let lets made make
    makes something anything anyone thu mất tốn trả cần phải dùng lấy cho tính ai
    """
)
"""Verbs of which a negation denies whatever value comes with them."""
GENERAL_VERBS = PREDICATES | list_words(
    """
    ask asks asked grant grants granted provide provides deliver delivers supply supplies bill bills billed reach
    reaches measure measures weigh weighs seat seats work works amount amounts total totals require set sets reckon
    receive receives accept accepts limit limits
    """
)
"""English verbs that come with values of every kind."""
GENERAL_SYLLABLES = PREDICATES | list_words(
    "lúc khoảng bắt đầu hiện nay hết từ sau trước đến tới qua giá phí mức tổng hạn ngày giờ cũng"
)
"""Vietnamese syllables that come with values of every kind."""
SPANNING_SYLLABLES = list_words("trong suốt thời gian khoảng giai đoạn vào lúc khi")
"""Vietnamese syllables that begin a span of time."""
INVITING_WRITTEN = frozenset("mời xin nhớ".split())
"""Begin a request in Vietnamese, and name nothing."""
REPORTING_WRITTEN = frozenset(
    """
    says say said states state stated mentions notes indicates specifies explains shows show lists gives tells confirms
    reads ghi nêu viết biết nói
    """.split()
)
"""Verbs with which a document, and no other event, is the subject: "the manual says that it takes 5 hours"."""
NAMING_NOBODY = SUMMING | list_words("age tuổi")
"""Said with a value, and of nobody in particular: "from the age of 16"."""
COUNTED = list_words(
    "age aged old older years people persons tuổi người trở lên xuống up over above a nhé nha bạn đấy thôi"
)
"""Words that only say what a bound counts, and particles."""
ONE_USE = list_words(
    "visit entry admission ticket entrance ride trip journey tour crossing use time claim loss incident damage event"
)
"""What a price is per unless it is one for many uses."""
PERSONS = list_words("person head adult guest member customer visitor passenger participant student employee tenant")
"""Whom a price is per unless it is one for several people."""
COUNTED_ALIKE = (
    list_words("day night daily overnight"),
    list_words("item piece unit copy copies photocopy photocopies page article"),
    list_words("purchase order login session connection connected once customer"),
    list_words("month rent salary wage pay lương thuê"),
    list_words("year leave holiday vacation annual allowance phép"),
    list_words("day fine late overdue delay trễ"),
    list_words("car vehicle parking park van"),
    list_words("way direction trip journey crossing"),
)
"""Words of which one may stand for another behind "per"."""
