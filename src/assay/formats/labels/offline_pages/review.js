const WORDS = {
  en: {
    title: "Review candidates", settle: "Settle disagreements", person: "Your name", language: "Language",
    question: "Question", reference: "Reference", must: "Must-have facts", facts: "Must-have facts, one on each line", about: "Expected",
    evidence: "Evidence", alone: "Evidence (the corpus was not given)", nearby: "Other chunks that nearly answer",
    provenance: "Where it comes from", earlier: "What others decided", ask: "Is this a good case?",
    accept: "A · Accept", edit: "E · Edit", reject: "R · Reject", form: "Edit the case", keep: "Keep the edit and accept",
    cancel: "Cancel", reason: "Reason (needed to reject)", back: "Back", next: "Next", open: "U · Next undecided",
    save: "S · Save to a file", named: "Give your name first.", saved: "Saved. Pass the file to assay golden freeze, with --base if you have a set already.",
    why: "Give the reason: choose one, or write it and press R again.", empty: "The question is empty.",
    full: "The browser keeps nothing: save to a file now.", also: "This chunk answers it too", now: "This chunk is the evidence now", nowOf: (name) => `This chunk is ${name} now`, misfit: "no longer fits the documents", stale: "What no longer fits the documents", hidden: "the user may not see it",
    expired: "expired", words: (share) => `${Math.round(share * 100)}% of the words of the question`, edited: "edited", as: (name) => `Decide as ${name}`,
    reasons: ["The reference is wrong", "The evidence does not say so", "Another chunk answers it", "The question is unclear",
      "Nobody would ask this", "A duplicate"],
    keys: "Keys: A accept, E edit, R reject, 1–6 reject with that reason, N reason, O open or close the other chunks, ← → or J K move, U next undecided, S save. Ctrl+Enter keeps an edit, Esc leaves a field.",
    done: (done, all, place) => `Candidate ${place} of ${all}; ${done} decided.`,
  },
  vi: {
    title: "Duyệt ca đề xuất", settle: "Giải quyết bất đồng", person: "Tên của bạn", language: "Ngôn ngữ",
    question: "Câu hỏi", reference: "Đáp án tham chiếu", must: "Các điều cần có", facts: "Các điều cần có, mỗi dòng một điều", about: "Kỳ vọng",
    evidence: "Bằng chứng", alone: "Bằng chứng (không có kho tài liệu)", nearby: "Các đoạn khác gần trả lời được",
    provenance: "Nguồn gốc", earlier: "Người khác đã quyết định", ask: "Đây có phải ca tốt không?",
    accept: "A · Chấp nhận", edit: "E · Sửa", reject: "R · Loại", form: "Sửa ca", keep: "Giữ bản sửa và chấp nhận",
    cancel: "Hủy", reason: "Lý do (bắt buộc khi loại)", back: "Trước", next: "Sau", open: "U · Mục chưa quyết tiếp theo",
    save: "S · Lưu ra tệp", named: "Hãy nhập tên trước.", saved: "Đã lưu. Đưa tệp này cho assay golden freeze, thêm --base nếu đã có một bộ.",
    why: "Hãy nêu lý do: chọn một lý do, hoặc viết ra rồi nhấn R lần nữa.", empty: "Câu hỏi đang trống.",
    full: "Trình duyệt không lưu được: hãy lưu ra tệp ngay.", also: "Đoạn này cũng trả lời được", now: "Đoạn này nay là bằng chứng", nowOf: (name) => `Đoạn này nay là ${name}`, misfit: "không còn khớp với tài liệu", stale: "Điều không còn khớp với tài liệu", hidden: "người dùng không được xem",
    expired: "hết hiệu lực", words: (share) => `${Math.round(share * 100)}% số từ của câu hỏi`, edited: "đã sửa", as: (name) => `Quyết định như ${name}`,
    reasons: ["Đáp án sai", "Bằng chứng không nói vậy", "Đoạn khác cũng trả lời", "Câu hỏi không rõ",
      "Không ai hỏi như vậy", "Trùng lặp"],
    keys: "Phím: A chấp nhận, E sửa, R loại, 1–6 loại với lý do đó, N lý do, O mở hoặc đóng các đoạn khác, ← → hoặc J K di chuyển, U mục chưa quyết tiếp theo, S lưu. Ctrl+Enter giữ bản sửa, Esc rời ô nhập.",
    done: (done, all, place) => `Mục ${place}/${all}; đã quyết ${done}.`,
  },
};
const cases = rows.rows;
let language = root.lang in WORDS ? root.lang : "en";
let place = 0;
const said = readSaid();
let editing = false;
at("person").value = readKept().person || "";

const row = () => cases[place];
const chunkOf = (name) => (Object.hasOwn(rows.chunks, name) ? rows.chunks[name] : undefined);
const answer = () => said[row().case.id] || {};
const isDecided = (item) => Boolean((said[item.case.id] || {}).decision);

function say(change) {
  const id = row().case.id;
  said[id] = { ...answer(), ...change };
  if (!keepAnswer(id, said[id], at("person").value)) tell(WORDS[language].full);
}

function forward() {
  if (place < cases.length - 1) place += 1;
  show();
}

function accept() {
  say({ decision: "accept", reason: answer().decision === "reject" ? "" : answer().reason });
  forward();
}

function reject(reason) {
  if (!reason.trim()) {
    tell(WORDS[language].why);
    at("reason").focus();
    return;
  }
  say({ decision: "reject", reason });
  forward();
}

// Fields that are as they were are no edit; another chunk takes the place of the unit that no longer fits the documents and
// for which it was chosen, or is one more selector of the only unit, or the first unit.
function edits(item, given) {
  const edited = {};
  for (const [field, value] of Object.entries(given.edited || {})) {
    if (JSON.stringify(value) !== JSON.stringify(item.case[field] ?? (field === "must_have" ? [] : ""))) edited[field] = value;
  }
  const select = (chunks) => chunks.map((chunk) => ({ chunk_id: chunk }));
  const units = structuredClone(item.case.evidence || []);
  const replaced = staleUnits(item).filter((unit) => chosenFor(given, unit).length);
  for (const unit of replaced) {
    const { quote, text_hash, ...kept } = units[unit];
    units[unit] = { ...kept, any_of: select(chosenFor(given, unit)) };
  }
  if (replaced.length) {
    const cited = (item.case.must_cite || []).map((name) => {
      const lost = replaced.find((unit) => isLost(name, item.case.evidence[unit], units));
      return lost === undefined ? name : chosenFor(given, lost)[0];
    });
    if (cited.length) edited.must_cite = [...new Set(cited)];
  }
  const also = select(given.also || []);
  const needed = neededUnits(item)[0];
  if (also.length && needed) units[item.case.evidence.indexOf(needed)].any_of.push(...also);
  else if (also.length) units.push({ any_of: also });
  if (replaced.length || also.length) edited.evidence = units;
  return edited;
}

// The places of the units whose evidence is gone, expired or changed.
function staleUnits(item) {
  return (item.evidence || []).map((unit, place) => (unit.is_stale ? place : -1)).filter((place) => place >= 0);
}

// A unit by the name that the findings have for it.
function nameUnit(place) {
  return `evidence[${place}]`;
}

// The chunks that were chosen in the place of a unit.
function chosenFor(given, unit) {
  return (given.now || {})[unit] || [];
}

// A required citation is lost if it named a chunk of the unit before, or its document, and no unit has either now.
function isLost(name, before, units) {
  const names = (unit) => unit.any_of.some(({ chunk_id: id }) => id === name || (typeof id === "string" && id.startsWith(name) && ":#/".includes(id[name.length])));
  return names(before) && !units.some(names);
}

function neededUnits(item) {
  return (item.case.evidence || []).filter((unit) => unit.required !== false && unit.grade !== 0);
}

function takesChunks(item) {
  return neededUnits(item).length < 2 && !["abstain", "permission_denied"].includes(item.case.behaviour);
}

function line(text, name, tag = "p") {
  const block = document.createElement(tag);
  block.className = name;
  block.dir = "auto";
  block.textContent = text;
  return block;
}

function decideAs(other) {
  say({ decision: other.decision, reason: other.reason || "", edited: other.edited || {}, also: [], now: {} });
  forward();
}

function describeEdit(name, value, words) {
  const labels = { question: words.question, reference: words.reference, must_have: words.must };
  const isText = (part) => typeof part === "string";
  const text = isText(value) ? value : Array.isArray(value) && value.every(isText) ? value.join("; ") : JSON.stringify(value);
  return `${labels[name] || name}: ${text}`;
}

function showEarlier(other, words) {
  const edited = Object.entries(other.edited || {}).map(([name, value]) => describeEdit(name, value, words));
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words.as(other.reviewer);
  button.addEventListener("click", () => decideAs(other));
  return [textBlock([`${other.reviewer}: ${other.decision}`, other.reason, ...edited].filter(Boolean).join("\n")), button];
}

function showUnit(unit, place, units) {
  const chunk = chunkOf(unit.chunks[0]);
  const number = units.length > 1 && nameUnit(place);
  const misfit = units.length > 1 && unit.is_stale && WORDS[language].misfit;
  const head = line([number, unit.chunks.join(", "), chunk && chunk.place, misfit].filter(Boolean).join(" · "), "place");
  if (!chunk) return [head, textBlock(unit.quote || "")];
  const found = (unit.marks || []).length > 0;
  return [head, textBlock(chunk.text, unit.marks || []), ...(unit.quote && !found ? [textBlock(unit.quote)] : [])];
}

function showNearby(item, words) {
  const chunk = chunkOf(item.chunk);
  const box = document.createElement("details");
  const summary = document.createElement("summary");
  const notes = [words.words(item.share), item.is_hidden && words.hidden, item.is_expired && words.expired];
  const statement = line(item.statement || "", "statement", "span");
  summary.append(line([item.chunk, chunk.place, ...notes].filter(Boolean).join(" · "), "place", "span"), statement);
  box.append(summary, textBlock(chunk.text));
  const stale = staleUnits(row());
  const turn = (chosen) => (chosen.includes(item.chunk) ? chosen.filter((name) => name !== item.chunk) : [...chosen, item.chunk]);
  const choose = (label, chosen, change) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.setAttribute("aria-label", `${label}: ${item.chunk}`);
    button.setAttribute("aria-pressed", String(chosen.includes(item.chunk)));
    button.addEventListener("click", () => { say(change(turn(chosen))); show(); });
    return button;
  };
  if (stale.length) {
    const name = (unit) => (row().evidence.length > 1 ? words.nowOf(nameUnit(unit)) : words.now);
    const put = (unit) => (chosen) => ({ now: { ...answer().now, [unit]: chosen } });
    return [box, ...stale.map((unit) => choose(name(unit), chosenFor(answer(), unit), put(unit)))];
  }
  return takesChunks(row()) ? [box, choose(words.also, answer().also || [], (also) => ({ also }))] : [box];
}

function describeUser(user) {
  return Object.entries(user || {}).map(([name, value]) => `${name}: ${[].concat(value).join(", ")}`);
}

function show() {
  const words = WORDS[language];
  const item = row();
  const now = answer();
  const fields = { ...item.case, ...edits(item, now) };
  root.lang = language;
  at("title").textContent = nameSheet(words);
  for (const id of ["accept", "edit", "reject", "keep", "cancel", "back", "next", "open", "save", "ask", "keys"]) at(id).textContent = words[id];
  for (const id of ["person", "language", "question", "reference", "facts", "form", "reason"]) at(id + "-name").textContent = words[id];
  const about = [item.case.id, fields.behaviour || "answer", ...(fields.tags || []), fields.language, ...describeUser(fields.user),
    ...(Object.keys(edits(item, now)).length ? [words.edited] : [])];
  at("row").replaceChildren(
    ...part(words.question, [textBlock(fields.question)], "question"),
    ...part(words.reference, fields.reference ? [textBlock(fields.reference)] : [], "reference"),
    ...part(words.facts, (fields.must_have || []).map((fact) => textBlock(fact)), "facts"),
    ...part(words.stale, (item.findings || []).map((text) => line(text, "place")), "stale"),
    ...part(words.about, [line(about.filter(Boolean).join(" · "), "place")], "about"),
    ...part(Object.keys(rows.chunks).length ? words.evidence : words.alone, (item.evidence || []).flatMap(showUnit), "evidence"),
    ...part(words.nearby, (item.nearby || []).flatMap((each) => showNearby(each, words)), "nearby"),
    ...part(words.earlier, (item.earlier || []).flatMap((each) => showEarlier(each, words)), "earlier"),
    ...part(words.provenance, (item.provenance || []).map(([name, value]) => line(`${name}: ${value}`, "place")), "provenance"),
  );
  for (const id of ["accept", "reject"]) at(id).setAttribute("aria-pressed", String(now.decision === id));
  at("reasons").replaceChildren(...words.reasons.map((reason, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${number + 1} ${reason}`;
    button.setAttribute("aria-pressed", String(now.decision === "reject" && now.reason === reason));
    button.addEventListener("click", () => reject(reason));
    return button;
  }));
  at("reason").value = now.reason || "";
  at("form").hidden = !editing;
  tellProgress();
}

function startEdit() {
  const fields = { ...row().case, ...answer().edited };
  editing = true;
  show();
  at("question").value = fields.question;
  at("reference").value = fields.reference || "";
  at("facts").value = (fields.must_have || []).join("\n");
  at("question").focus();
}

function stopEdit() {
  editing = false;
  show();
  at("edit").focus();
}

function keepEdit() {
  const question = at("question").value.trim();
  if (!question) {
    tell(WORDS[language].empty);
    at("question").focus();
    return;
  }
  const facts = at("facts").value.split("\n").map((fact) => fact.trim()).filter(Boolean);
  const edited = { question, reference: at("reference").value.trim(), must_have: facts };
  say({ decision: "accept", edited });
  editing = false;
  forward();
  at("accept").focus();
}

function nameSheet(words) {
  return rows.settles ? words.settle : words.title;
}

function tellProgress() {
  const done = cases.filter(isDecided).length;
  tell(WORDS[language].done(done, cases.length, place + 1));
  document.title = `${nameSheet(WORDS[language])} · ${done}/${cases.length}`;
}

function move(step) {
  editing = false;
  place = Math.min(cases.length - 1, Math.max(0, place + step));
  show();
}

function nextUndecided() {
  const open = findOpen(cases, place, isDecided);
  if (open >= 0) move(open - place);
}

function save() {
  const reviewer = readName("person", WORDS[language]);
  if (!reviewer) return;
  const decisions = cases.filter(isDecided).map((item) => {
    const given = said[item.case.id];
    const edited = given.decision === "accept" ? edits(item, given) : {};
    return { case: item.case.id, decision: given.decision, reason: given.reason || "", edited };
  });
  const review = { format: 1, candidates: rows.candidates, reviewer, settles: rows.settles, decisions };
  saveFile(rows.settles ? "settled" : "review", reviewer, [JSON.stringify(review, null, 1), "\n"], "application/json", "json");
  tell(WORDS[language].saved);
}

onOtherTab(() => {
  Object.assign(said, readKept().said);
  tellProgress();
});
at("language").value = language;
at("language").addEventListener("change", () => { language = at("language").value; show(); });
at("person").addEventListener("input", () => keepPerson(at("person").value));
at("reason").addEventListener("input", () => say({ reason: at("reason").value }));
at("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keepEdit();
  else if (event.key === "Escape") stopEdit();
});
at("accept").addEventListener("click", accept);
at("edit").addEventListener("click", startEdit);
at("reject").addEventListener("click", () => reject(at("reason").value));
at("keep").addEventListener("click", keepEdit);
at("cancel").addEventListener("click", stopEdit);
at("back").addEventListener("click", () => move(-1));
at("next").addEventListener("click", () => move(1));
at("open").addEventListener("click", nextUndecided);
at("save").addEventListener("click", save);
const KEYS = {
  a: accept, e: startEdit, r: () => reject(at("reason").value), n: () => at("reason").focus(), u: nextUndecided, s: save,
  j: () => move(1), ArrowRight: () => move(1), k: () => move(-1), ArrowLeft: () => move(-1),
  o: () => { const boxes = [...document.querySelectorAll("details")]; const open = !boxes.every((box) => box.open); boxes.forEach((box) => { box.open = open; }); },
};
onKeys((key) => {
  const name = key.length === 1 ? key.toLowerCase() : key;
  const reason = WORDS[language].reasons[Number(name) - 1];
  if (/^[1-9]$/.test(name) && reason) reject(reason);
  else if (Object.hasOwn(KEYS, name)) KEYS[name]();
  else return false;
  return true;
});
show();
