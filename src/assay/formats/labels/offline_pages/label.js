const WORDS = {
  en: {
    title: "Label answers", rater: "Your name", language: "Language", question: "Question", answer: "Answer",
    reference: "Reference", sources: "Sources", note: "Why (optional)", explain: "Why, in a sentence",
    unexplained: (at) => `Row ${at} is not explained yet.`, back: "Back", next: "Next", open: "Next open one",
    save: "Save to a file", named: "Give your name first.", saved: "Saved. Send the file back as it is.",
    item: { faithfulness: "Claim", citation_support: "Statement and its source", completeness: "Fact to look for",
      correct_answer: "Must be stated" },
    ask: {
      faithfulness: "Do the sources support this claim?",
      citation_support: "Does that one source support this statement?",
      correctness: "Does the answer agree with the reference?",
      completeness: "Does the answer state this fact?",
      answer_relevance: "Does the answer address the question?",
      grade: "How good is the answer?",
      failure_label: "What went wrong first?",
      correct_answer: "Is the answer right?",
      behaviour: "What does the answer do?",
    },
    done: (done, all, at) => `Row ${at} of ${all}; ${done} labelled. Keys: 1–9 choose, ← → move, n note.`,
  },
  vi: {
    title: "Gán nhãn câu trả lời", rater: "Tên của bạn", language: "Ngôn ngữ", question: "Câu hỏi", answer: "Câu trả lời",
    reference: "Đáp án tham chiếu", sources: "Nguồn", note: "Vì sao (không bắt buộc)", explain: "Vì sao, trong một câu",
    unexplained: (at) => `Mục ${at} chưa có lý do.`, back: "Trước", next: "Sau",
    open: "Mục chưa gán tiếp theo", save: "Lưu ra tệp", named: "Hãy nhập tên trước.",
    saved: "Đã lưu. Hãy gửi lại tệp, đừng sửa gì.",
    item: { faithfulness: "Ý cần xét", citation_support: "Câu và nguồn của nó", completeness: "Điều cần có",
      correct_answer: "Phải nêu" },
    ask: {
      faithfulness: "Các nguồn có xác nhận ý này không?",
      citation_support: "Riêng nguồn đó có xác nhận câu này không?",
      correctness: "Câu trả lời có khớp đáp án tham chiếu không?",
      completeness: "Câu trả lời có nêu điều này không?",
      answer_relevance: "Câu trả lời có đúng vào câu hỏi không?",
      grade: "Câu trả lời tốt đến đâu?",
      failure_label: "Lỗi đầu tiên là gì?",
      correct_answer: "Câu trả lời có đúng không?",
      behaviour: "Câu trả lời làm gì?",
    },
    done: (done, all, at) => `Mục ${at}/${all}; đã gán ${done}. Phím: 1–9 chọn nhãn, ← → di chuyển, n ghi chú.`,
  },
};
let language = root.lang in WORDS ? root.lang : "en";
let place = 0;
const said = readSaid();
at("rater").value = readKept().person || "";

function keep(id) {
  if (!keepAnswer(id, said[id], at("rater").value)) tell(WORDS[language].save);
}

const texts = (list) => list.filter((text) => text).map((text) => textBlock(text));

function isUnexplained(row) {
  const answer = said[row.row_id];
  return Boolean(row.must_explain && answer && answer.label && !answer.note.trim());
}

function choose(label) {
  const row = rows[place];
  said[row.row_id] = { label, note: at("note").value };
  keep(row.row_id);
  if (isUnexplained(row)) {
    show();
    at("note").focus();
    return;
  }
  if (place < rows.length - 1) place += 1;
  show();
  document.querySelector("#options button").focus();
}

function show() {
  const words = WORDS[language];
  const row = rows[place];
  const base = row.metric.split("(")[0];
  const now = said[row.row_id] || { label: null, note: "" };
  root.lang = language;
  for (const id of ["title", "back", "next", "open", "save"]) at(id).textContent = words[id];
  for (const id of ["rater", "language", "note"]) at(id + "-name").textContent = words[id];
  if (row.must_explain) at("note-name").textContent = words.explain;
  at("row").replaceChildren(
    ...part(words.question, texts([row.question]), "question"),
    ...part(words.answer, texts([row.answer]), "answer"),
    ...part(words.reference, texts([row.reference]), "reference"),
    ...part(words.item[base] || base, texts([row.item]), "item"),
    ...part(words.sources, texts(row.sources.map((text, number) => text && `[${number + 1}] ${text}`)), "sources"),
  );
  at("ask").textContent = words.ask[base] || row.metric;
  at("options").replaceChildren(...row.options.map((label, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${number + 1} ${label}`;
    const meaning = document.createElement("small");
    meaning.textContent = row.meanings[number];
    button.append(meaning);
    button.setAttribute("aria-pressed", String(now.label === label));
    button.addEventListener("click", () => choose(label));
    return button;
  }));
  at("note").value = now.note;
  const done = rows.filter((each) => said[each.row_id] && said[each.row_id].label).length;
  tell(words.done(done, rows.length, place + 1));
  document.title = `${words.title} · ${done}/${rows.length}`;
}

function move(step) {
  place = Math.min(rows.length - 1, Math.max(0, place + step));
  show();
}

function nextOpen() {
  const open = findOpen(rows, place, (row) => (said[row.row_id] || {}).label);
  if (open >= 0) place = open;
  show();
}

function save() {
  const rater = readName("rater", WORDS[language]);
  if (!rater) return;
  const unexplained = rows.findIndex(isUnexplained);
  if (unexplained >= 0) {
    place = unexplained;
    show();
    tell(WORDS[language].unexplained(unexplained + 1));
    at("note").focus();
    return;
  }
  const lines = rows.filter((row) => said[row.row_id] && said[row.row_id].label).map((row) =>
    JSON.stringify({ row_id: row.row_id, label: said[row.row_id].label, note: said[row.row_id].note, rater }) + "\n");
  const ofAnswers = rows.every((row) => ["correct_answer", "behaviour"].includes(row.metric));
  const name = rows.some((row) => row.must_explain) ? "review" : ofAnswers ? "answers" : "labels";
  saveFile(name, rater, lines, "application/jsonl", "jsonl");
  tell(WORDS[language].saved);
}

at("language").value = language;
at("language").addEventListener("change", () => { language = at("language").value; show(); });
at("rater").addEventListener("input", () => keepPerson(at("rater").value));
at("note").addEventListener("input", () => {
  const row = rows[place];
  said[row.row_id] = { label: (said[row.row_id] || {}).label || null, note: at("note").value };
  keep(row.row_id);
});
at("back").addEventListener("click", () => move(-1));
at("next").addEventListener("click", () => move(1));
at("open").addEventListener("click", nextOpen);
at("save").addEventListener("click", save);
onKeys((key) => {
  const options = rows[place].options;
  if (/^[1-9]$/.test(key) && Number(key) <= options.length) choose(options[Number(key) - 1]);
  else if (key === "ArrowRight" || key === "j") move(1);
  else if (key === "ArrowLeft" || key === "k") move(-1);
  else if (key === "n") at("note").focus();
  else return false;
  return true;
});
show();
