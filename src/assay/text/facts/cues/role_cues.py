"""What role a sentence gives to somebody: for whom, instead of whom, opposite what, whose relative or deputy."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

FOR_PERSON = Cues(
    "on behalf of | (?:sent|given|goes?|handed|copied|submitted) to", "cho | để | thay(?: mặt| cho)? | với | giúp"
)
"""Says before a name that somebody else does it: for, to or instead of the one who is named."""
FOR_RECIPIENT = Cues("to | for | by | from | with", "cho | từ | bởi")
"""Begins a part with whom or what its value is for."""
MOVED_TO = Cues("to | into", "sang | qua | đến | tới | về")
"""Says where something goes that comes from what is named."""
OPPOSITE = Cues("opposite | across from", "đối diện", "gegenüber")
"""Says that something is on the other side of what is named."""
BESIDE = Cues(
    "next to | beside | behind | in front of | (?:near|close)(?: to)? | outside(?: of)?",
    "bên cạnh | cạnh | phía sau | trước cửa",
    "neben | hinter",
)
"""Says that something is beside what is named, and not in it."""
AT = Cues("at | by", "ở | tại", "bei | beim | am")
"""Says that something is in or beside what is named."""
DEPUTY = Cues(
    "deputy | assistant | acting | former | junior | trainee | interim | (?:vice|sub|co|ex)(?=-)",
    "phó | cựu | trợ lý",
    "stellvertretende[rn]? | ehemalige[rn]?",
)
"""Makes another role of the one that follows."""
ASKED_ABOUT = Cues("ask | check with | contact | speak to | talk to | inquire (?:of|with) | find out from")
"""Says before a name that this is the one to ask."""
SUCCEEDS = Cues(
    r"(?:took|takes|taking|taken) over (?:\w+ ){0,3}from | succeed(?:s|ed|ing)? | successor (?:of|to)"
    r" | (?:replac(?:es|ed|ing)|in (?:the )?place of|instead of|rather than|in lieu of) | inherited (?:\w+ ){0,3}from",
    "thay(?: thế)?(?: cho)? | kế nhiệm | tiếp quản từ",
)
"""Says before a name that somebody else is it now."""
COMPARED_WITH = Cues("unlike", "hơn | không bằng | thân")
"""Says before a name that something else is compared with it."""
KIN = Cues(
    vietnamese="vợ | chồng | con(?: trai| gái| dâu| rể)? | (?:anh|em) trai | (?:chị|em) gái | cháu | bố | mẹ | học trò"
    " | trợ lý | thư ký | phụ tá"
)
"""Somebody else, whom the name only tells apart: "vợ thầy Minh"."""
ADDRESSED_AS_YOU = Cues(
    "users? | members? | customers? | visitors? | passengers? | applicants? | employees? | students? | tenants?"
    " | residents? | participants? | readers? | travell?ers? | learners? | patients? | subscribers? | everyone"
    " | anyone",
    "học viên | sinh viên | nhân viên | khách hàng | hành khách | người dùng | thành viên | hội viên | bạn đọc",
    "mieter | kunden | mitglieder | fahrgäste | teilnehmer",
)
"""Whom an answer may address as "you" instead of naming them."""
ROLE_OF_USER = Cues(
    "you(?:'re| are) (?:an?|the) | as (?:an?|the) | for (?:an?|the)",
    "(?:bạn|anh|chị|em) (?:phải )?là | là (?=[^,.]{1,30} thì)",
    "sie sind | als",
)
"""Says who the user is, so that an answer tells of nobody else."""
OPEN_TO = Cues("open | available | accessible | limited | restricted | reserved | free | due")
"""Says before "to" for whom something is, and names no role."""
