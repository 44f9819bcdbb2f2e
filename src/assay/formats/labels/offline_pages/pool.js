const WORDS = {
  en: {
    title: "Judge retrieved chunks", person: "Your name", language: "Language", question: "Question", reference: "Reference",
    quotes: "Evidence that is labelled", chunk: "Chunk to judge", note: "Why (optional)", back: "Back", next: "Next",
    open: "U · Next open one", save: "S · Save to a file", named: "Give your name first.", full: "The browser keeps nothing: save to a file now.",
    saved: "Saved. Pass the file to assay golden pool --grades.", ask: "How far does this chunk answer the question?", textless: "No text of this chunk is known.",
    grades: ["unrelated", "background: the same topic, no part of the answer", "strong, but not enough alone", "contains the fact that answers"],
    keys: "Keys: 0–3 grade, ← → or J K move, U next open one, N note, S save, Esc leaves a field.",
    done: (done, all, place) => `Chunk ${place} of ${all}; ${done} judged.`,
  },
  vi: {
    title: "Chấm các đoạn truy hồi", person: "Tên của bạn", language: "Ngôn ngữ", question: "Câu hỏi", reference: "Đáp án tham chiếu",
    quotes: "Bằng chứng đã gán nhãn", chunk: "Đoạn cần chấm", note: "Vì sao (không bắt buộc)", back: "Trước", next: "Sau",
    open: "U · Mục chưa chấm tiếp theo", save: "S · Lưu ra tệp", named: "Hãy nhập tên trước.", full: "Trình duyệt không lưu được: hãy lưu ra tệp ngay.",
    saved: "Đã lưu. Đưa tệp này cho assay golden pool --grades.", ask: "Đoạn này trả lời câu hỏi đến đâu?", textless: "Không có nội dung của đoạn này.",
    grades: ["không liên quan", "bối cảnh: cùng chủ đề, không có phần nào của đáp án", "mạnh, nhưng một mình chưa đủ", "chứa điều trả lời câu hỏi"],
    keys: "Phím: 0–3 chấm điểm, ← → hoặc J K di chuyển, U mục chưa chấm tiếp theo, N ghi chú, S lưu, Esc rời ô nhập.",
    done: (done, all, place) => `Đoạn ${place}/${all}; đã chấm ${done}.`,
  },
};
const chunks = rows.rows;
const said = readSaid();
let language = root.lang in WORDS ? root.lang : "en";
let place = 0;
at("person").value = readKept().person || "";

const answer = (item) => said[item.id] || {};
const isJudged = (item) => Number.isInteger(answer(item).grade);
const texts = (list) => list.filter((text) => text).map((text) => textBlock(text));

function say(change) {
  const item = chunks[place];
  said[item.id] = { ...answer(item), ...change };
  return keepAnswer(item.id, said[item.id], at("person").value);
}

function grade(value) {
  const isKept = say({ grade: value });
  if (place < chunks.length - 1) place += 1;
  show();
  if (!isKept) tell(WORDS[language].full);
}

function show() {
  const words = WORDS[language];
  const item = chunks[place];
  root.lang = language;
  at("title").textContent = words.title;
  for (const id of ["ask", "back", "next", "open", "save", "keys"]) at(id).textContent = words[id];
  for (const id of ["person", "language", "note"]) at(id + "-name").textContent = words[id];
  const source = textBlock([item.chunk, item.place].filter(Boolean).join(" · "));
  source.className = "place";
  at("row").replaceChildren(
    ...part(words.question, texts([item.question]), "question"),
    ...part(words.reference, texts([item.reference]), "reference"),
    ...part(words.quotes, texts(item.quotes), "quotes"),
    ...part(words.chunk, [source, textBlock(item.text || words.textless)], "chunk"),
  );
  at("options").replaceChildren(...words.grades.map((meaning, value) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${value} ${meaning}`;
    button.setAttribute("aria-pressed", String(answer(item).grade === value));
    button.addEventListener("click", () => grade(value));
    return button;
  }));
  at("note").value = answer(item).note || "";
  tellProgress();
}

function tellProgress() {
  const done = chunks.filter(isJudged).length;
  tell(WORDS[language].done(done, chunks.length, place + 1));
  document.title = `${WORDS[language].title} · ${done}/${chunks.length}`;
}

function move(step) {
  place = Math.min(chunks.length - 1, Math.max(0, place + step));
  show();
}

function nextOpen() {
  const open = findOpen(chunks, place, isJudged);
  if (open >= 0) move(open - place);
}

function save() {
  const by = readName("person", WORDS[language]);
  if (!by) return;
  const grades = chunks.filter(isJudged).map((item) => ({ case: item.case, chunk: item.chunk, grade: answer(item).grade, note: answer(item).note || "" }));
  saveFile("grades", by, [JSON.stringify({ format: 1, golden: rows.golden, by, grades }, null, 1), "\n"], "application/json", "json");
  tell(WORDS[language].saved);
}

onOtherTab(() => {
  Object.assign(said, readKept().said);
  tellProgress();
});
at("language").value = language;
at("language").addEventListener("change", () => { language = at("language").value; show(); });
at("person").addEventListener("input", () => keepPerson(at("person").value));
at("note").addEventListener("input", () => say({ note: at("note").value }));
at("back").addEventListener("click", () => move(-1));
at("next").addEventListener("click", () => move(1));
at("open").addEventListener("click", nextOpen);
at("save").addEventListener("click", save);
onKeys((key) => {
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (/^[0-3]$/.test(name)) grade(Number(name));
  else if (name === "ArrowRight" || name === "j") move(1);
  else if (name === "ArrowLeft" || name === "k") move(-1);
  else if (name === "u") nextOpen();
  else if (name === "n") at("note").focus();
  else if (name === "s") save();
  else return false;
  return true;
});
show();
