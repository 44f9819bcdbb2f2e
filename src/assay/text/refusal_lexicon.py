"""Phrases by which an answer abstains, denies permission or escalates, in English and Vietnamese, as data.

Phrases match folded text (lower case, no diacritics) with contractions spelled out ("can't" is "can not"). Braces list
alternatives, and an empty alternative makes the word optional: "no {relevant,} data" stands for two phrases.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Literal, NamedTuple

from assay.text.normalisation import fold_text

PhraseKind = Literal["abstain", "permission_denied", "escalate", "contact"]
PhraseSubject = Literal["speaker", "me", "you", "reader", "source", "topic", "anyone", "exclusive", "contact", "free"]


class RefusalPhrase(NamedTuple):
    """The meaning of a phrase, its required subject (`behaviour.py` defines the voices), and the pattern that must
    follow it in the same clause; an empty pattern matches anything."""

    kind: PhraseKind
    subject: PhraseSubject
    following_pattern: re.Pattern[str]


# ── English ──────────────────────────────────────────────────────────────────────────────────────────────────────
_INFO = "{information,info,detail,details,data,context,evidence,knowledge,answer,figure,figures,record,records}"
_SOME = "{any,the,that,this,such,enough,sufficient,specific,relevant,reliable,more,exact,further,any specific,a,an,}"
_STATE = "{mention,contain,specify,address,discuss,state,describe,explain,indicate}"
_THING = "{any,anything,information,details,data,this,that,it,what,the answer,a,an}"
_STATED = "{specified,mentioned,covered,available,found,included,addressed,stated,documented,described,discussed}"
_TEXTS = "{documents,sources,passages,excerpts,texts,results,materials,chunks,policies}"
_HOLDERS = "{documents,document,documentation,sources,context,handbook,corpus,knowledge base,passages}"
_AN = "{any,anything,a,an,the,it,this,that,information,where,relevant,details,mention,one,what,out}"
_FACT = "{information,info,details,data,documentation,evidence}"
_ITEM = "{information,document,content,data,page,resource,file,record,question}"
_UNIT = "{request,question,case,ticket,query,message,issue,matter,conversation}"
_HANDED = "{forwarded,escalated,passed,transferred,handed,routed,referred,sent}"
_HAND = "{forward,escalate,pass,transfer,hand,connect}"
_HANDING = "{forwarding,escalating,passing,transferring,handing,connecting}"
_ASK = "{contact,reach out to,consult,ask,speak to,speak with,talk to,check with,get in touch with}"

# ── Vietnamese ───────────────────────────────────────────────────────────────────────────────────────────────────
_NO = "{khong,chua}"
_MATTER = "{thong tin,du lieu,noi dung,tai lieu,can cu,ngu canh,bang chung,chi tiet}"
_PLACES = "{tai lieu,cac tai lieu,nguon,cac nguon,ngu canh,van ban,he thong,kho,co so,corpus,du lieu}"
_ME = "{toi,em,minh}"
_THIS_MATTER = "{yeu cau,cau hoi,truong hop,van de,phieu} {nay,cua ban}"

# ── what must follow ─────────────────────────────────────────────────────────────────────────────────────────────
_STATES = r"(?: \w{1,20}){0,4}? (?:mention|contain|cover|say|address|discuss|answer|state|describe|give)(?:s|es)?\b"
_TO_SOMEONE = r"(?: \w{1,20}){0,6}? (?:to|with|over)\b"
_TO_DESK = (
    r"(?: \S{1,20}){0,8}? (?:bo phan|phong|chuyen vien|nhan vien|quan ly|doi|cap tren|ban|team|hr|legal|support"
    r"|finance|nguoi)\b"
)
_BY_SOMEONE = r"(?: \w{1,20}){0,3}? (?:by|from)\b"
_TO_SEE_THIS = r"(?: \S{1,20}){0,5}? (?:xem|truy cap|mo|doc) (?:\S{1,20} ){0,2}nay\b"
_THIS_VI = r"(?: \S{1,20}){0,4}? (?:nay|do)\b"
_FOR_DECISION = r"(?: \S{1,20}){0,8}? (?:xem xet|xu ly|quyet dinh|phe duyet|giai quyet|tham dinh)\b"
_IN_SOURCES = (
    r"(?: \w{1,20}){0,6}? (?:documents?|sources?|context|handbook|corpus|knowledge base|materials?|documentation"
    r"|excerpts?|passages?|text|anywhere|here)\b|\s*$"
)
_NOT_A_RULE = r"(?!(?: (?:is|are|was|were|will be|may be|must be|can be))? (?:shared|sent|stored|sold|kept|collected))"
_NOT_A_RULE_VI = r"(?!(?: \w{1,20}){0,3} (?:duoc|bi) (?:gui|chia se|luu|thu thap|tiet lo|ban))"
_ABOUT = r"(?= (?:about|on|regarding|available|in|for|here|to|that|of|at|which|was|provided|given)\b|[^\w ]|$)"
_NOT_BENEFITS = r"(?! (?:loi|han)\b)"

_ROWS: tuple[tuple[PhraseKind, PhraseSubject, str, str], ...] = (
    # the information is missing: the speaker says so
    ("abstain", "speaker", "", f"not {{currently,actually,yet,}} have {_SOME} {_INFO}"),
    ("abstain", "speaker", "", "not {currently,} have access to {real-time,live,current,that,this,the,any,such}"),
    ("abstain", "speaker", "", "not {actually,really,} know"),
    ("abstain", "speaker", "", "not {really,quite,entirely,} sure"),
    ("abstain", "speaker", "", "have no {information,info,data,details,idea,knowledge,record,way of knowing}"),
    ("abstain", "speaker", "", "rather not {guess,speculate}"),
    ("abstain", "speaker", "", "{lack,lacking} {the,} {information,context,data,details,evidence}"),
    ("abstain", "speaker", "", f"{{not,not able to,unable to}} {{find,locate,see}} {_AN}"),
    ("abstain", "speaker", "", "{not,not able to,unable to,not possible to} {determine,confirm,verify,tell,identify}"),
    ("abstain", "speaker", "", "{not,not able to,unable to,not possible to} {answer,establish,respond}"),
    ("abstain", "speaker", "", "{not,not able to,unable to,not possible to} say {what,whether,if,which,how,for}"),
    ("abstain", "speaker", "", "{not,not able to,unable to} {provide,give,offer} {you,a,an,any,the,that,this,it}"),
    ("abstain", "speaker", "", "{not,not able to,unable to} {provide,give,offer} {information,details,advice}"),
    ("abstain", "speaker", "", "{not,not able to,unable to} {help,assist} {you,} with"),
    ("abstain", "speaker", "", "{outside,beyond} {my knowledge,the scope of my,what i}"),
    ("abstain", "anyone", "", "not be {determined,answered} {from,based,with,using}"),
    # … or of the sources
    ("abstain", "source", "", f"not {{currently,explicitly,directly,actually,seem to,appear to,}} {_STATE}"),
    ("abstain", "source", "", f"not {{include,cover,list,define,give}} {_THING}"),
    ("abstain", "source", "", "not {actually,explicitly,} say {anything,what,how,whether,which,who,if,where,when,the}"),
    (
        "abstain",
        "source",
        "",
        "{found,find,see,says,say,have,has,contain,contains} nothing {on,about,regarding,relevant,that}",
    ),
    ("abstain", "source", "", f"{{has,have,contains,contain,provides,gives,with}} no {{specific,relevant,}} {_INFO}"),
    ("abstain", "source", "", "{makes,make,is,was,find,found} no mention"),
    ("abstain", "free", "", f"{_HOLDERS} {{contain,contains,have,has,mention,mentions,include,includes}} no"),
    ("abstain", "topic", _IN_SOURCES, f"not {{explicitly,currently,}} {_STATED}"),
    ("abstain", "anyone", _STATES, f"none of {{the,these,those,my}} {{retrieved,provided,given,available,}} {_TEXTS}"),
    ("abstain", "anyone", _STATES, "none of them"),
    ("abstain", "anyone", _STATES, "nothing in {the,these,those,my}"),
    ("abstain", "topic", "", f"not {{in,part of,present in}} {{the,any of the,these,my}} {{provided,given,}} {_TEXTS}"),
    ("abstain", "topic", "", "{unclear,not clear} from {the,these,my}"),
    # … or no one
    (
        "abstain",
        "anyone",
        "",
        "no {relevant,matching,suitable,} {documents,sources,passages,results} {found,were,was,match}",
    ),
    ("abstain", "anyone", "", "no {answer,answers,match,matches} {found,was found,were found,available}"),
    ("abstain", "anyone", _NOT_A_RULE, f"no {{relevant,specific,further,}} {_FACT} {{about,on,regarding,is,was,were}}"),
    (
        "abstain",
        "anyone",
        "",
        f"no {{relevant,specific,further,}} {_FACT} {{available,found,here,at all,in the,in my}}",
    ),
    ("abstain", "anyone", _ABOUT, f"there is no {{relevant,specific,}} {_INFO}"),
    ("abstain", "anyone", "", "{insufficient,inadequate,not enough,not sufficient} {information,context,data,details}"),
    ("abstain", "anyone", "", "{context,information,evidence} is {insufficient,inadequate,not enough,not sufficient}"),
    # permission is missing
    ("permission_denied", "reader", "", "not {currently,} have {the,any,sufficient,} {required,necessary,} permission"),
    (
        "permission_denied",
        "reader",
        "",
        "not {currently,} have {the,any,} {required,necessary,} {clearance,privileges}",
    ),
    ("permission_denied", "you", "", "not {currently,} have access"),
    ("permission_denied", "you", "", "have no {permission,permissions,access,authorization,authorisation}"),
    (
        "permission_denied",
        "you",
        "",
        "not {authorized,authorised,permitted,allowed} to {see,view,access,read,open,know}",
    ),
    ("permission_denied", "you", "", "not {authorized,authorised} for"),
    (
        "permission_denied",
        "speaker",
        "",
        "not {authorized,authorised,permitted,allowed} to {share,disclose,reveal,show}",
    ),
    (
        "permission_denied",
        "speaker",
        "",
        "not {authorized,authorised,permitted,allowed} to {discuss,provide,give,tell}",
    ),
    ("permission_denied", "speaker", "", "{not,not able to,unable to} {share,disclose,reveal,release,discuss}"),
    ("permission_denied", "speaker", "", "{not,not able to,unable to} show {you,it,this,that,the}"),
    ("permission_denied", "you", "", "{lacks,lack} {the,} {required,necessary,right,} {permission,permissions,role}"),
    ("permission_denied", "anyone", "", "{access,permission} {is,was,has been,} denied"),
    ("permission_denied", "you", "", "not {allow,permit} {access,you,viewing}"),
    ("permission_denied", "exclusive", "", "{access,permission,permissions,role} to {view,see,open,read} {this,that}"),
    ("permission_denied", "exclusive", "", "{can,may} {view,see,access,open,read} {this,that}"),
    ("permission_denied", "anyone", "", f"{{this,that}} {_ITEM} is {{strictly,highly,}} {{restricted,confidential}}"),
    ("permission_denied", "anyone", "", f"{{this,that}} {_ITEM} is {{only available,available only,limited,reserved}}"),
    # handed over
    ("escalate", "speaker", _TO_SOMEONE, f"{_HANDED} {{this,that,it,you}}"),
    ("escalate", "speaker", _TO_SOMEONE, f"{_HANDED} {{your,the}} {_UNIT}"),
    ("escalate", "me", _TO_SOMEONE, f"{{{_HAND[1:-1]},{_HANDING[1:-1]}}} {{this,that,it,you}}"),
    ("escalate", "me", _TO_SOMEONE, f"{{{_HAND[1:-1]},{_HANDING[1:-1]}}} {{your,the}} {_UNIT}"),
    ("escalate", "anyone", "", f"{{your,this}} {_UNIT} has been {_HANDED}"),
    ("escalate", "anyone", _BY_SOMEONE, f"{{this,your}} {_UNIT} {{needs to,must,has to,should,will}} be"),
    ("escalate", "anyone", _BY_SOMEONE, "this {needs to,must,has to} be {reviewed,handled,decided,resolved,approved}"),
    ("escalate", "anyone", "", "{needs,requires} {a,} {human review,human agent,human decision}"),
    ("escalate", "anyone", "", "this {needs,requires} {a,an,} {decision,review,approval} {from,by}"),
    ("contact", "free", "", "will {contact you,get back to you,follow up with you,reach out to you,take over}"),
    ("contact", "anyone", "", f"{{please,kindly,you should,you may want to,i recommend,i suggest}} {_ASK}"),
    # Vietnamese: the information is missing
    ("abstain", "anyone", "", f"{_NO} {{co,}} {{du,day du}} {_MATTER}"),
    ("abstain", "anyone", _NOT_A_RULE_VI, f"{_NO} {{he,}} co {{bat ky,bat cu,nhieu,cac,}} {_MATTER}"),
    ("abstain", "speaker", "", f"{_NO} {{the,}} {{tim thay,tim duoc,tim ra,tra cuu duoc}}"),
    ("abstain", "speaker", "", f"{_NO} thay {{thong tin,du lieu,noi dung,tai lieu,de cap}}"),
    ("abstain", "speaker", "", f"{_NO} the {{xac dinh,tra loi,cung cap,dua ra,khang dinh,xac nhan,ket luan,cho biet}}"),
    ("abstain", "speaker", "", f"{_NO} {{xac dinh,tra loi,khang dinh,xac nhan}} duoc"),
    ("abstain", "free", "", f"{_ME} {_NO} {{biet,ro,nam,chac}}"),
    ("abstain", "speaker", "", "khong biet {cau tra loi,thong tin,ve,chinh xac}"),
    ("abstain", "source", "", f"{_NO} {{he,duoc,co,}} {{de cap,nhac toi,nhac den,noi den,noi toi,noi ve,noi ro}}"),
    ("abstain", "source", "", f"{_NO} {{he,duoc,}} {{neu,ghi,mo ta,trinh bay,quy dinh ro,bao gom thong tin}}"),
    ("abstain", "free", _NOT_A_RULE_VI, "{tai lieu,nguon,ngu canh} {hien co,duoc cung cap,} {khong,chua} {co,chua}"),
    ("abstain", "topic", "", f"{_NO} {{co,nam,xuat hien}} trong {_PLACES}"),
    ("abstain", "topic", "", "{vuot qua,vuot ngoai,ngoai} pham vi {cua toi,tra loi,ho tro,kien thuc,tai lieu}"),
    ("abstain", "anyone", "", f"{_NO} co {{ket qua,cau tra loi}}"),
    ("abstain", "anyone", "", f"{_NO} du de {{ket luan,tra loi,xac dinh,khang dinh}}"),
    ("abstain", "source", "", f"{_NO} {{noi,neu,nhac,de cap}} gi {{ve,den,toi}}"),
    # Vietnamese: permission is missing
    ("permission_denied", "reader", _NOT_BENEFITS, f"{_NO} {{co,du,co du,he co,duoc cap,duoc phan}} quyen"),
    ("permission_denied", "reader", "", f"{_NO} {{du,co}} tham quyen"),
    ("permission_denied", "you", "", f"{_NO} cho phep {{truy cap,xem,mo,doc,tra cuu}}"),
    ("permission_denied", "anyone", _TO_SEE_THIS, "{can,phai co,yeu cau} quyen"),
    ("permission_denied", "you", "", f"{_NO} duoc phep {{truy cap,xem,mo,doc,tra cuu,biet}}"),
    ("permission_denied", "you", _THIS_VI, f"{_NO} duoc {{xem,truy cap,mo,doc,biet}}"),
    ("permission_denied", "speaker", "", f"{_NO} duoc phep {{tiet lo,chia se,cung cap,tra loi}}"),
    ("permission_denied", "speaker", "", f"{_NO} the {{tiet lo,chia se,hien thi,cho ban xem,cho xem}}"),
    (
        "permission_denied",
        "anyone",
        "",
        f"{_MATTER} {{nay,do}} {{chi danh,la bao mat,bi gioi han,duoc bao mat,la mat}}",
    ),
    ("permission_denied", "anyone", "", "{tu choi truy cap,truy cap bi tu choi}"),
    # Vietnamese: handed over
    ("escalate", "free", _TO_DESK, f"{_ME} {{da,se,dang,xin,xin phep,vua,can}} {{chuyen,ket noi}}"),
    ("escalate", "anyone", _TO_DESK, f"{_THIS_MATTER} {{da,se,dang,vua}} {{duoc,}} chuyen"),
    ("escalate", "anyone", _FOR_DECISION, f"{_THIS_MATTER} {{can,phai}}"),
    ("escalate", "contact", "", "de duoc {xu ly,giai quyet,xem xet,phe duyet,tham dinh}"),
    ("escalate", "free", _TO_DESK, f"{_ME} {{da,se}} {{bao,gui,thong bao,bao cao}}"),
    ("contact", "free", "", "se {lien he lai,lien he voi ban,lien lac voi ban,phan hoi ban}"),
    ("contact", "anyone", "", "{vui long,hay,nen,xin} {lien he,hoi}"),
)

_BARE = (
    "{unknown,unanswerable,unclear,undetermined,n/a,n.a,na,idk}",
    "not {known,available,stated,specified,given,mentioned,found,provided,sure,in the documents,in the context}",
    "{data,information,answer,details} not {available,found,known,provided}",
    "{information,data,answer} unavailable",
    "{the,} answer {is,} {unknown,not known,not available,not found}",
    "no {answer,data,information,idea,results,record} {available,found,}",
    "{cannot,can not} {answer,say,tell,be determined,determine}",
    "{khong,chua} {ro,biet,xac dinh,xac dinh duoc,tim thay,co thong tin,co du lieu,tra loi duoc}",
)
_BARE_LENGTH = 60
"""Length in characters up to which an answer is compared with `_BARE`: inside a sentence, most of these phrases mean
something else."""


@lru_cache(maxsize=1)
def _bare() -> frozenset[str]:
    return frozenset(phrase for template in _BARE for phrase in expand_template(template))


def match_bare_refusal(answer: str) -> str:
    """Return the folded answer if it consists only of a phrase that abstains, else "".

    >>> match_bare_refusal("**N/A**"), match_bare_refusal("Không rõ."), match_bare_refusal("An unknown error")
    ('n/a', 'khong ro', '')
    """
    if len(answer) > _BARE_LENGTH:
        return ""
    text = fold_text(answer).strip(" .!?…:;-*_\"'()[]")
    return text if text in _bare() else ""


def expand_template(template: str) -> list[str]:
    """Return all phrases that a template with braces stands for.

    >>> expand_template("no {relevant,} {data,mention}")
    ['no relevant data', 'no relevant mention', 'no data', 'no mention']
    """
    pieces = re.split(r"\{([^}]*)\}", template)
    choices = [piece.split(",") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return [" ".join("".join(choice).split()) for choice in itertools.product(*choices)]


@lru_cache(maxsize=1)
def load_refusal_phrases() -> dict[str, RefusalPhrase]:
    """Return every phrase with its cue; if several rows contain a phrase, the first one applies."""
    cue_by_phrase: dict[str, RefusalPhrase] = {}
    for kind, voice, after, template in _ROWS:
        cue = RefusalPhrase(kind, voice, re.compile(after))
        for phrase in expand_template(template):
            cue_by_phrase.setdefault(phrase, cue)
    return cue_by_phrase


# ── words without content ─────────────────────────────────────────────────────────────────────────────────────


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


FILLER_WORDS = _words(
    """
    sorry unfortunately currently still yet also and but so however can could would do does did am is are was were
    be have has had at the moment i'm afraid xin loi rat tiec hien tai nay da thi nhung nen va tuy nhien vi that's
    as of now cung van con dang vay a oi
    """
)
"""Words that may precede a phrase without naming its subject."""

CLAIMLESS_WORDS = _words(
    """
    a an the this that these those it its of in on at by for with from to into as is are was were be been do does
    did have has had will would can could may and or but so if then there here i you we they my your our their not
    no any all some more most about which who what when where how documents document sources source context
    information info provided available however only also just la cua va cho khong nay duoc trong cac co thi ve toi
    ban hien phai nhung voi tai lieu thong tin nguon nen mot nhu theo da se o de tu den noi dung cung rat hon nao
    ngu canh cau hoi dang
    """
)
"""Words that do not count towards the length of a claim."""
