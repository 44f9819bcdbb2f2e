"""What a language model might say about handbooks in general: plausible, not this handbook's, and often wrong here.

Only the generator faults use it.
"""

from __future__ import annotations

from examples.handbook.app.query import Question
from examples.handbook.app.text import fold, words

USUAL = {
    "vi": (
        "Thông thường nhân viên có 14 ngày phép năm và được chuyển 7 ngày sang năm sau.",
        "Thông thường nghỉ ốm từ 2 ngày liên tiếp cần giấy của bác sĩ.",
        "Thông thường được làm việc từ xa 3 ngày mỗi tuần, kể cả từ nước ngoài.",
        "Thông thường mật khẩu dài tối thiểu 8 ký tự và đổi mỗi 90 ngày, MFA được khuyến khích.",
        "Thông thường mất máy tính phải báo cho IT trong 24 giờ.",
        "Thông thường yêu cầu hỗ trợ được phản hồi trong 1 giờ với mọi gói.",
        "Thông thường tiền được hoàn trong 30 ngày, kể cả phí sử dụng và thuế VAT của hóa đơn.",
        "Thông thường nhân viên kinh doanh được giảm giá đến 15% và có thể hứa SLA qua email.",
        "Thông thường lương của mỗi bậc cao hơn bậc dưới khoảng 20%.",
        "Thông thường lỗi 429 hết sau vài giây và client có thể thử lại ngay.",
        "Thông thường sự cố máy chủ kéo dài khoảng một giờ do lỗi phần cứng.",
    ),
    "en": (
        "Usually employees get 20 days of annual leave and may carry over ten.",
        "Usually every employee may order two monitors for the home office.",
        "Usually a public API allows 1000 requests a minute per account.",
        "Usually a failed webhook is retried 3 times, one minute apart.",
        "Usually a sales representative may give up to 15% discount without asking anybody.",
        "Usually a customer's questionnaire is answered by the account manager within two days.",
        "Usually an assistant follows the most recent instruction that it has read.",
        "Usually a vulnerability on a server is patched within one month by the project's owner.",
    ),
}
EMBELLISHMENT = {
    "vi": "Quy định này cũng áp dụng cho người thân của nhân viên và được tự động gia hạn thêm 45 ngày.",
    "en": "This also applies to contractors' families and is extended automatically by another 45 days.",
}


def recall(question: Question) -> str:
    """Return the usual saying that shares most words with the question."""
    asked = set(map(fold, words(question.text)))
    return max(USUAL[question.language], key=lambda saying: len(asked & set(map(fold, words(saying)))))
