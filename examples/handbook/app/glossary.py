"""A small Vietnamese–English glossary of office words: questions come in both languages, documents in either.

Each line holds words that mean the same in a handbook. A question that uses one of them is searched for all.
"""

from __future__ import annotations

from examples.handbook.app.text import fold, words

GROUPS = """
annual leave = phép năm = pto
paid time off = pto = phép năm
leave = nghỉ phép = ngày phép
sick leave = nghỉ ốm = nghỉ bệnh
maternity = thai sản
wedding = marriage = kết hôn
funeral = tang
unpaid leave = nghỉ không lương
carry over = chuyển sang = chuyển phép
certificate = giấy xác nhận
full-time = toàn thời gian
part-time = bán thời gian
probation = thử việc
manager = quản lý
approve = approval = phê duyệt = duyệt
employee = staff = nhân viên
company = công ty
office = văn phòng
home office = tại nhà
work from home = remote work = làm việc từ xa = làm từ xa
remotely = từ xa
abroad = overseas = nước ngoài
time zone = múi giờ
working day = ngày làm việc
working hours = giờ làm việc
weekend = cuối tuần
public holiday = ngày lễ
week = tuần
month = tháng
hour = giờ
day = ngày
equipment = device = thiết bị
laptop = máy tính xách tay = máy tính
monitor = screen = màn hình
external = rời
headset = tai nghe
desk = bàn làm việc
electricity = tiền điện
password = mật khẩu
character = ký tự
multi-factor authentication = xác thực đa yếu tố = mfa
secret = bí mật
api key = khóa api
encryption = encrypted = mã hóa
direct message = tin nhắn riêng = tin nhắn trực tiếp
lost = mất
stolen = trộm
report = báo cáo = báo
incident = sự cố
phishing = lừa đảo
instruction = chỉ dẫn
document = tài liệu
assistant = trợ lý
retrieved = truy xuất
ignore = disregard = bỏ qua
policy = chính sách
version = phiên bản
effective = in force = hiệu lực
exception = ngoại lệ
software = phần mềm
customer = khách hàng
plan = gói
response time = thời gian phản hồi = phản hồi
priority = mức ưu tiên
support = hỗ trợ
escalate = chuyển cấp
service credit = tín dụng dịch vụ
contract = hợp đồng
one-year = một năm
invoice = hóa đơn
payment = thanh toán
overdue = quá hạn
refund = hoàn tiền = hoàn lại
cancel = cancellation = hủy
pro rata = prorated = theo tỷ lệ
usage = lượng sử dụng
billing error = lỗi tính phí
fee = phí
tax = vat = thuế
complaint = khiếu nại
accounting = kế toán
discount = giảm giá
price = giá
quote = báo giá
questionnaire = bảng câu hỏi
promise = hứa
salary = pay = lương
pay band = khung lương
level = bậc
bonus = thưởng
error = lỗi
limit = giới hạn
retry = thử lại
permission = quyền
difference = khác nhau = khác
server = máy chủ
vulnerability = lỗ hổng
affected = ảnh hưởng
project = dự án
deadline = hạn chót
lead = owner = người phụ trách = phụ trách
patch = fix = bản vá
disk = ổ đĩa
memory = bộ nhớ
queue = hàng đợi
cause = nguyên nhân = vì sao
backup = sao lưu
"""


def _table(folded: bool) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return for the words of each form all forms of its groups; with `folded`, the keys are without diacritics."""
    table: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in GROUPS.strip().splitlines():
        forms = tuple(line.split(" = "))
        for form in forms:
            key = tuple(words(fold(form) if folded else form))
            table[key] = tuple(dict.fromkeys(table.get(key, ()) + forms))
    return table


EXACT = _table(folded=False)
FOLDED = _table(folded=True)
LONGEST = max(map(len, EXACT))
"""Words in the longest phrase."""
