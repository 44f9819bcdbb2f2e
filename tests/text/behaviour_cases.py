"""Labelled answers for behaviour detection: what each text does, judged by its meaning and not by the rules.

HELD_OUT was written before the rules and only measures them: it was not read while they were made. TUNED was, and grew.
A case starts with `- `, its further lines are indented; `\\n` is a line break inside the answer.
"""

from __future__ import annotations

from typing import NamedTuple


class Labelled(NamedTuple):
    """One answer with the behaviour that a careful reader sees in it ("" where there is none to see)."""

    behaviour: str
    text: str


def _table(**texts: str) -> tuple[Labelled, ...]:
    rows = []
    for behaviour, block in texts.items():
        for entry in ("\n" + block.strip()).split("\n- ")[1:]:
            text = " ".join(line.strip() for line in entry.splitlines())
            rows.append(Labelled(behaviour, text.replace("\\n", "\n")))
    return tuple(rows)


TUNED = _table(
    answer="""
- Full-time employees get 12 days of annual leave per year.
- Nhân viên toàn thời gian có 12 ngày phép năm.
- Nhan vien chinh thuc duoc nghi phep 12 ngay mot nam.
- 600 requests per minute.
- 14
- I don't have enough information, but the limit is 600 per minute.
- I could not find the exact policy, however part-time staff receive leave in proportion to their hours.
- Tôi không tìm thấy thông tin chi tiết, nhưng theo chính sách thì tối đa là 5 ngày và cần quản lý duyệt.
- The limit is 600 requests per minute per key. I don't have information about enterprise contracts.
- Mật khẩu tối thiểu 14 ký tự. Tôi không tìm thấy thông tin về việc ngoại lệ cho tài khoản dịch vụ.
- ERR-403 means 'không có quyền': the caller is authenticated but lacks the role.
- The message "access denied" appears when the token is valid but the role is missing.
- 401 là chưa xác thực hoặc token sai; 403 là đã xác thực nhưng không có quyền truy cập.
- Mã 403 nghĩa là người gọi đã đăng nhập nhưng không có quyền truy cập tài nguyên.
- Nhân viên không có quyền thì phải gửi yêu cầu cho quản lý trước khi mở tài liệu.
- If you do not have access, ask your manager to open a request in the portal.
- Users without permission get a 403, while an expired token gives a 401.
- Nếu bạn không có quyền truy cập VPN, hãy mở phiếu cho bộ phận IT và chờ duyệt trong 1 ngày.
- When the customer does not have enough information on the invoice, Billing corrects the tax details.
- VAT cannot be removed from a taxable invoice; wrong tax details can be corrected.
- Sales reps can not approve more than 10%; above that a manager or Finance approves.
- It is not true that you do not have access: finance users may read the band table, and E5 is in the third band.
- Không phải là không có thông tin: chính sách ghi rõ được chuyển tối đa 5 ngày phép sang năm sau.
- No information is shared with third parties without consent.
- Không có thông tin nào được gửi cho bên thứ ba nếu khách hàng chưa đồng ý.
- P1 incidents are escalated to the on-call engineer within 30 minutes.
- Escalate to on-call when the incident is P1, or when a P2 passes its SLA with confirmed production impact.
- Sự cố P1 được chuyển cho kỹ sư trực ngay; P2 chỉ chuyển khi quá SLA và có ảnh hưởng production.
- Giảm giá 25% cho hợp đồng một năm cần Giám đốc kinh doanh và Finance phê duyệt.
- Lost laptops must be reported to Security within 1 hour. Please contact the Security hotline if you need help.
- Bạn cần báo Security trong vòng 1 giờ kể từ khi phát hiện mất laptop. Vui lòng liên hệ IT nếu cần máy thay thế.
- The handbook does not mention weekends for Starter, so only working hours are covered by that plan.
- Do you not have permission? Then ask the document owner, who grants it in the sharing menu.
- Yes, you may carry over up to five days if your manager approves.
- Không, gói Starter chỉ được hỗ trợ trong giờ làm việc, không có hỗ trợ cuối tuần.
- Không được gửi mật khẩu hoặc khóa bí mật qua tin nhắn trực tiếp, email hay ticket không mã hóa.
- You cannot remove VAT from the invoice.
- I can confirm that one external monitor may be issued per person.
- Although I don't have the full table, the Enterprise P1 response time is 30 minutes.
- Mặc dù tài liệu không nêu rõ mức cho part-time, số ngày phép được tính theo tỷ lệ giờ làm việc.
- Hệ thống hiển thị "Bạn không có quyền xem trang này" khi vai trò chưa được gán; quản trị viên gán lại vai trò là xong.
- Nếu không tìm thấy thông tin trên cổng nội bộ, nhân viên gửi phiếu cho HR.
- The assistant replies with “I do not have enough information” when the score is below the threshold.
- Chính sách có nêu điều kiện làm việc ở nước ngoài quá 10 ngày phải được HR và Legal duyệt, nhưng không đủ thông tin
  để xác định trường hợp 3 tuần của bạn.
- Webhooks are retried at most 8 times with exponential back-off; there is no information on the exact intervals.
- Khách hàng không đủ thông tin thuế thì hóa đơn được sửa lại theo mã số đúng.
- Employees who cannot access the portal should call the service desk.
- Sick leave of three or more consecutive days needs a certificate. If anything is unclear, please contact HR.
- Theo tài liệu, thông tin không đủ thì hồ sơ bị trả lại để bổ sung.
- Requests without permission are rejected; I do not see any exception for contractors in the security policy.
- The policy does not allow working abroad for more than ten days without approval.
- Access is denied after five wrong passwords; the account unlocks after 30 minutes.
- Starter customers do not have access to weekend support.
- Interns are not authorised to approve invoices.
- You do not need permission to work remotely two days a week.
- Không cần quyền đặc biệt để xem chính sách phép năm.
- There is no data retention limit in the Enterprise plan.
- Không có dữ liệu khách hàng nào được lưu quá 30 ngày.
- Forward the ticket to the on-call engineer when it is P1.
- Hệ thống sẽ chuyển phiếu cho kỹ sư trực khi P2 quá hạn.
- Nhân viên sẽ chuyển yêu cầu đến quản lý để được phê duyệt trước khi nghỉ phép.
- You are not allowed to share passwords by direct message.
- Bạn không được phép chia sẻ mật khẩu qua email.
- Kết quả tra cứu: 403 - không có quyền truy cập; 401 - chưa xác thực.
- It does not cover weekends: Starter support runs during working hours.
- Chưa được: nghỉ ốm từ 3 ngày liên tiếp phải có giấy xác nhận.
- I cannot stress enough that secrets must never be sent by email.
- If no information is available about the device, Security locks it remotely.
- Với lỗi 403, thông báo hiển thị là bạn không có quyền, hãy kiểm tra vai trò của khóa API.
- Không tìm thấy khóa API trong header thì hệ thống trả về 401.
""",
    abstain="""
- I don't know.
- I don't have enough information to answer this question.
- I'm sorry, but I could not find anything about a car purchase policy in the documents provided.
- The provided context does not contain information about a GraphQL endpoint.
- There is no information about the Q4/2027 roadmap in the available sources.
- Based on the documents I was given, I cannot determine who the current CEO of Acme is.
- Không đủ thông tin để trả lời.
- Tôi không tìm thấy thông tin về chính sách mua xe trong tài liệu.
- Hiện không có thông tin về lộ trình Q4/2027.
- Không thể xác định từ các nguồn hiện có.
- Toi khong tim thay thong tin ve GraphQL trong tai lieu.
- khong du thong tin
- KHÔNG CÓ THÔNG TIN VỀ VẤN ĐỀ NÀY.
- Xin lỗi, tài liệu hiện có không đề cập đến chính sách mua xe ô tô. Bạn có thể liên hệ phòng Nhân sự
  để biết thêm chi tiết.
- I’m afraid I don’t have that information. You may want to check with the HR team.
- Unfortunately, the handbook doesn't say anything about buying cars, so I can't give you an answer.
- Thank you for your question! I have looked through the leave, remote-work and security policies that are available
  to me, but none of them mentions a company car. I would rather not guess. If you can share the document you have in
  mind, I will gladly take another look.
- Cảm ơn câu hỏi của bạn. Tôi đã kiểm tra các tài liệu hiện có nhưng không tìm thấy nội dung nào nói về chính sách mua
  xe. Nếu bạn cung cấp thêm tài liệu, tôi sẽ kiểm tra lại.
- I couldn't find\\nany information on this topic.
- Tôi không có\\n đủ thông tin để\\ntrả lời câu hỏi này.
- You asked about the 25% discount on a 2-year contract. I do not have enough information to answer that.
- I cannot answer this question based on the given context.
- The sources only cover annual leave and remote work. They do not mention a car policy.
- Không tìm thấy thông tin trong 12 tài liệu đã tra cứu.
- I am unable to find a reliable answer to that in the knowledge base.
- Tôi chưa có thông tin về CEO hiện tại của Acme nên không thể trả lời chính xác.
- Rất tiếc, tôi không có dữ liệu về nội dung này. Vui lòng liên hệ bộ phận liên quan để được hỗ trợ.
- Information on this is not available in the corpus.
- Not enough information.
- "I don't have enough information to answer."
- I don't have access to real-time information, so I can't tell who the CEO is today.
- Sorry, I'm not sure about this one.
- Tài liệu không nêu thông tin này.
- Mình không biết câu trả lời cho câu hỏi này.
- I couldn't find that in our documentation.
- The answer isn't in the documents.
- I have no record of such a policy.
- It's unclear from the documents.
- The question can't be answered with the provided context.
- No relevant documents were found.
- Nothing in the retrieved passages answers this.
- The corpus has nothing about it.
- Cannot be determined from the context.
- No answer found.
- Không có trong tài liệu.
- Hiện tôi chưa thể trả lời câu hỏi này.
- Không có kết quả nào phù hợp với câu hỏi.
- Nguồn hiện có không đủ để kết luận.
- Nội dung này nằm ngoài phạm vi tài liệu.
- Tôi không có câu trả lời cho vấn đề này.
- Tôi không chắc chắn về điều này.
- Tai lieu khong noi gi ve phu cap nam 2027.
- I wish I could help, but this topic is not discussed in any of the documents.
- Chính sách hiện hành chưa quy định rõ về trường hợp này nên tôi không thể khẳng định.
- I don't have enough information: the handbook contains no plan for Q3 2028.
- Tài liệu hiện có không có kế hoạch cho quý 3 năm 2028.
- 抱歉，我找不到相关信息。
""",
    permission_denied="""
- You do not have permission to view this document.
- Bạn không có quyền xem bảng lương chi tiết.
- Ban khong co quyen truy cap thong tin nay.
- Xin lỗi, tôi không có quyền cung cấp thông tin về dải lương.
- Không có quyền truy cập.
- Access denied.
- I'm sorry, but I'm not authorised to share salary bands with your role.
- This information is restricted to the Finance and HR roles, so I can't show it to you.
- Tài khoản của bạn không có quyền xem tài liệu của công ty khác.
- Thông tin này chỉ dành cho bộ phận Finance và HR, nên tôi không thể chia sẻ với bạn.
- I can't disclose that information. Please contact HR if you believe you should have access.
- Bạn chưa được cấp quyền xem tài liệu này. Vui lòng liên hệ quản lý để xin quyền.
- Your account isn't allowed to see documents of another company.
- You’re not authorized to access the compensation table.
- Rất tiếc, thông tin lương là bảo mật và vai trò hiện tại của bạn không được phép truy cập.
- I do not have enough information in the documents that you are allowed to see, and you don't have permission to open
  the finance folder.
- For confidentiality reasons I cannot share other employees' pay details.
- YOU DON’T HAVE ACCESS TO THIS RESOURCE
- Vì lý do bảo mật, tôi không thể tiết lộ dữ liệu của công ty A.
- You need Finance access to view this document.
- Only HR can view this document.
- I'm not permitted to disclose that.
- Your current permissions do not allow access to this file.
- Bạn cần quyền finance để xem nội dung này.
- Vai trò của bạn không cho phép xem bảng lương.
- Tôi không thể cung cấp thông tin lương do chính sách bảo mật.
- Bạn không đủ thẩm quyền xem mục này.
- Quyền hiện tại của bạn không cho phép truy cập tài liệu này.
- Bạn không có quyền xem bảng lương. Nếu muốn biết mức lương của mình, bạn hãy trao đổi trực tiếp với quản lý.
""",
    escalate="""
- I have forwarded this to HR.
- I've escalated your request to the Legal team; they will reply within 2 working days.
- Vui lòng liên hệ phòng Nhân sự để được xử lý.
- Tôi đã chuyển yêu cầu của bạn đến bộ phận Pháp chế.
- Toi da chuyen cau hoi nay cho phong Nhan su, ho se phan hoi som.
- This request needs to be reviewed by a human agent.
- I don't have enough information to decide this. I have passed your question to the Support lead.
- Tôi không đủ thông tin để quyết định trường hợp này, tôi sẽ chuyển cho chuyên viên Nhân sự xem xét.
- Let me connect you with a specialist who can look into your contract.
- Trường hợp này cần được bộ phận Pháp chế xem xét trực tiếp.
- Please contact the Legal department about this.
- Your ticket has been escalated to the on-call engineer.
- Câu hỏi này vượt quá phạm vi của tôi, tôi xin chuyển cho nhân viên hỗ trợ.
- I'm transferring you to a human colleague now.
- Hãy liên hệ trực tiếp với phòng Pháp chế để được hướng dẫn về trường hợp của bạn.
- I'll forward your question to HR.
- Your question has been sent to the Legal team.
- An agent will contact you shortly.
- I'm handing you over to our support team.
- This needs a decision from Legal.
- Mình sẽ chuyển câu hỏi tới HR nhé.
- Tôi sẽ kết nối bạn với nhân viên hỗ trợ.
- Nhân viên tư vấn sẽ liên hệ lại với bạn.
- Chúng tôi sẽ báo cáo vấn đề này lên cấp quản lý.
- Yêu cầu của bạn cần được quản lý phê duyệt trước.
""",
    **{
        "": """
- 🙂👍
- ...
- 🙂 !?
"""
    },
)

HELD_OUT = _table(
    answer="""
- An Enterprise P1 ticket is answered in half an hour.
- Khách gói Business nhận phản hồi P2 trong 4 giờ làm việc.
- Hoan tien hop le duoc xu ly trong 10 ngay lam viec.
- Only one extra monitor.
- The documents are not fully clear, but they do say that working abroad for over ten days requires
  HR and Legal approval.
- I can't find a figure for contractors; permanent staff get 12 days.
- Tài liệu không ghi con số cụ thể, tuy nhiên nhân viên bán thời gian được hưởng phép theo tỷ lệ giờ làm.
- Refunds take 10 working days. Note that I was unable to find the rule for partial refunds.
- Phép năm được chuyển tối đa 5 ngày. Phần dành cho thực tập sinh thì tôi không có thông tin.
- The API returns "You do not have permission to access this resource" together with status 403.
- Thông báo “Bạn không có quyền” xuất hiện khi tài khoản chưa được gán vai trò finance.
- Error 403 indicates that you do not have permission for that endpoint, whereas 401 indicates a missing token.
- Trong trường hợp không có quyền truy cập kho mã nguồn, lập trình viên xin quyền qua cổng IT.
- Người dùng không có quyền quản trị không thể đổi cấu hình SSO.
- Contractors do not have permission to install software; they ask IT to do it.
- Unless you have access to the finance folder, request the report from Finance through the portal.
- A rep who is not authorised to approve the discount sends it to the Sales Director.
- Agents should say "I don't know" rather than guess when no source is cited.
- If there is not enough information in the ticket, support asks the customer for logs before escalating.
- Khi không đủ thông tin để xác minh danh tính, tổng đài từ chối đổi mật khẩu.
- Usage that has already been incurred is not refundable, except for a confirmed billing error.
- Nhân viên kinh doanh không thể tự duyệt mức giảm trên 10%.
- You can't send secrets by email; use the vault instead.
- Bạn không thể bỏ VAT trên hóa đơn chịu thuế, nhưng có thể sửa thông tin thuế bị sai.
- Tickets are handed over to the on-call engineer when a P2 exceeds its SLA and production is affected.
- Bảng câu hỏi mua sắm phải được Security và Legal xem xét trước khi gửi khách hàng.
- Custom SLAs are never promised by email: Legal and Support leadership put them in the contract. Contact them early.
- Nghỉ ốm từ 3 ngày liên tiếp cần giấy xác nhận. Nếu cần hỗ trợ thêm, vui lòng liên hệ phòng Nhân sự.
- There is no limit on the number of passphrase words, and the minimum length is 14 characters.
- No, weekend support is not included in Starter.
- Not by default: three weeks abroad needs approval from HR and Legal.
- Whether or not you have access to the VPN, MFA is compulsory for email and SSO.
- Tài liệu cũ ghi 10 ký tự nhưng bản đang hiệu lực yêu cầu 14 ký tự.
- The instruction inside that document is ignored because the system policy has priority.
- Không có quyền lợi bảo hiểm nào bị cắt trong thời gian thử việc.
- Chính sách không giới hạn số lần đổi mật khẩu.
- While I lack details on your contract, the default is 600 calls a minute for each key.
- Retry after the delay in Retry-After; I couldn't tell from the docs whether it is in seconds, but
  8 retries is the cap.
- I know this one: PTO is for personal time or holidays and sick leave is for illness.
""",
    abstain="""
- I do not know the answer to that.
- Sorry, that isn't covered in the material I can see.
- I looked but found nothing on that subject.
- The documentation makes no mention of GraphQL.
- None of the retrieved passages addresses this question.
- It is not possible to determine this from the excerpts.
- My sources say nothing about who leads Acme today, and I'd rather not speculate.
- I'm unable to answer: the context is insufficient.
- There isn't sufficient evidence in the supplied text to respond.
- I wasn't able to locate a policy on company cars. Perhaps the HR portal has one.
- That detail isn't specified anywhere in the handbook.
- Insufficient context to answer.
- Các tài liệu được cung cấp không chứa thông tin về vấn đề này.
- Tôi không rõ CEO hiện tại của Acme là ai.
- Chưa tìm thấy tài liệu nào nói về điều này.
- Trong ngữ cảnh không có nội dung liên quan đến GraphQL.
- Dạ, em chưa có đủ dữ liệu để trả lời câu hỏi này ạ.
- Xin lỗi anh/chị, hiện tại hệ thống chưa có thông tin về chính sách này. Anh/chị vui lòng hỏi phòng Nhân sự
  để biết thêm.
- khong co du lieu ve lo trinh nam 2027 trong tai lieu
- Thông tin này không có trong tài liệu.
- Tôi không thể trả lời câu hỏi này dựa trên tài liệu hiện có.
- Tài liệu không đề cập.
- Không xác định được từ nguồn đã cho.
- Rất tiếc, tôi không thể đưa ra câu trả lời vì ngữ cảnh không nhắc tới mức phụ cấp năm 2027.
- I don't have any details regarding the roadmap for 2027. Would you like me to search for something else?
- As far as I can see, the knowledge base has no entry on this.
- 情報が見つかりませんでした。
""",
    permission_denied="""
- You aren't permitted to see other tenants' data.
- I cannot show you this because your role lacks the required permission.
- Only Finance and HR may see the pay table, and your role is employee, so I can't provide it.
- Sorry, this document is confidential and not available to your account.
- Bạn không được phép truy cập dữ liệu của công ty khác.
- Tôi không được phép tiết lộ thông tin lương.
- Anh không có quyền xem mục này ạ.
- Tài liệu này bị giới hạn quyền truy cập; vai trò employee không xem được.
- toi khong duoc phep chia se bang luong
- That content is off limits for your current role.
- I'm not allowed to reveal salary information. You can request access from Finance.
- Permission denied: the compensation table is limited to HR.
""",
    escalate="""
- I've passed this on to the billing team and they'll get back to you.
- A member of our legal team will take over from here.
- I'm escalating this to a supervisor.
- Yêu cầu của bạn đã được chuyển tới bộ phận Billing, họ sẽ liên hệ lại trong 24 giờ.
- Em xin phép chuyển cuộc trò chuyện cho chuyên viên hỗ trợ ạ.
- Vấn đề này cần con người quyết định, tôi đã báo cho quản lý của bạn.
- Please reach out to your HR business partner, who will handle this case.
- I will hand this over to a human agent.
- Bạn vui lòng liên hệ bộ phận Pháp chế để được giải quyết.
- This has to be decided by the Sales Director, so I have sent your request to her.
""",
    **{
        "": """
- 👩‍💻🚀
- — — —
- ¿?
"""
    },
)
