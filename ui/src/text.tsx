// Untrusted text: always a text node, with its writing direction isolated and invisible characters shown.

import { Fragment } from "preact";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const HIDDEN_IN_BLOCK = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escape(sign: string): string {
  return `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/** Text with control, bidirectional and zero-width characters as escapes; a block keeps its line breaks. */
export function visible(text: string, block = false): string {
  return text.replace(block ? HIDDEN_IN_BLOCK : HIDDEN, escape);
}

const MOST_OF_A_PIECE = 100_000;

/** A text in pieces that are lines of their own: browsers do not wrap a single one of millions of characters. */
function Pieces({ text }: { text: string }) {
  if (text.length <= MOST_OF_A_PIECE) return <>{text}</>;
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const space = text.lastIndexOf(" ", from + MOST_OF_A_PIECE);
    const to = space > from ? space + 1 : from + MOST_OF_A_PIECE;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return (
    <>
      {pieces.map((piece, index) => (
        <span class="piece" key={index}>
          {piece}
        </span>
      ))}
    </>
  );
}

export function Data({ text }: { text: string }) {
  return (
    <bdi>
      <Pieces text={visible(text)} />
    </bdi>
  );
}

const JOINT = /(?=\()|(?<=[_=/:])/;

/** Text with names as machines write them (`critical_hallucinations(by=judge)`, `tag=acl`), which may wrap at their joints. */
export function Name({ text }: { text: string }) {
  return (
    <bdi>
      {visible(text)
        .split(JOINT)
        .map((part, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </bdi>
  );
}

export function Block({ text }: { text: string }) {
  return (
    <p class="block" dir="auto">
      <Pieces text={visible(text.replaceAll("\r\n", "\n"), true)} />
    </p>
  );
}

/** A text in a cell, with its line breaks. */
export function Lines({ text }: { text: string }) {
  return (
    <bdi class="lines">
      <Pieces text={visible(text.replaceAll("\r\n", "\n"), true)} />
    </bdi>
  );
}

const COMMAND = /`(assay(?: [\w.=-]+)*)`/;

/** The ids of cases: those in a sentence become links to them. */
type Ids = ReadonlySet<string>;

/** A sentence of Assay: commands between backticks, as in Markdown, are code. */
export function Sentence({ text, ids }: { text: string; ids?: Ids | undefined }) {
  return (
    <bdi>
      {visible(text)
        .split(COMMAND)
        .map((piece, index) => {
          if (index % 2 === 1) return <code key={index}>{piece}</code>;
          return ids === undefined ? <Pieces text={piece} key={index} /> : <Linked text={piece} ids={ids} key={index} />;
        })}
    </bdi>
  );
}

const EVENTS = /^((?: on \S+)?) is (?:above 0 on|(not) above 0 on any of) /;

/** A sentence about a metric with its title in the place of its name, which stands at the begin or after the colon of what
    is told of first: a configuration, or that a rule is open. */
export function titled(sentence: string, titles: ReadonlyMap<string, string>): string {
  for (const start of [0, ...[...sentence.matchAll(/: /g)].map(({ index }) => index + 2)]) {
    const name = /^\S+/.exec(sentence.slice(start))?.[0] ?? "";
    const title = titles.get(name);
    if (title === undefined) continue;
    const rest = sentence.slice(start + name.length);
    const shown = rest.replace(EVENTS, (_, slice: string, not: string | undefined) => `${slice}: ${not === undefined ? "in" : "none in"} `);
    return sentence.slice(0, start) + title + shown;
  }
  return sentence;
}

const ENDS_OF_IDS = /([\s,;()]+)/;
/** Names such as `acl_001`; a case that is called by a mere word would make links of the words of the sentence. */
const ID = /[\d_-]/;

/** A text in which the ids of cases are links to them. */
function Linked({ text, ids }: { text: string; ids: Ids }) {
  return (
    <>
      {text.split(ENDS_OF_IDS).map((piece, index) =>
        ID.test(piece) && ids.has(piece) ? (
          <a href={`#/case/${encodeURIComponent(piece)}`} key={index}>
            {piece}
          </a>
        ) : (
          piece
        ),
      )}
    </>
  );
}

/** A sentence of the run's own data, which is in English whatever the language of the page is. */
export function English({ text, ids }: { text: string; ids?: Ids | undefined }) {
  return (
    <span lang="en">
      <Sentence text={text} ids={ids} />
    </span>
  );
}

export function Items({ items, ids }: { items: string[]; ids?: Ids | undefined }) {
  return (
    <ul class="plain">
      {items.map((item, index) => (
        <li key={index}>
          <English text={item} ids={ids} />
        </li>
      ))}
    </ul>
  );
}

/** Splits `text` at every occurrence of any of `parts`; each piece has the index of its part, -1 for none. */
export function marked(text: string, parts: string[]): [string, number][] {
  const pieces: [string, number][] = [];
  let from = 0;
  while (from < text.length) {
    let best = -1;
    let at = text.length;
    parts.forEach((part, index) => {
      const position = part === "" ? -1 : text.indexOf(part, from);
      if (position >= 0 && (position < at || (position === at && part.length > (parts[best]?.length ?? 0)))) {
        best = index;
        at = position;
      }
    });
    if (at > from) pieces.push([text.slice(from, at), -1]);
    if (best < 0) break;
    const part = parts[best] ?? "";
    pieces.push([part, best]);
    from = at + part.length;
  }
  return pieces;
}

/** Splits `text` at `parts`, which occur in it in this order; each piece has the index of its part, -1 for none. */
export function inOrder(text: string, parts: string[]): [string, number][] {
  const pieces: [string, number][] = [];
  let from = 0;
  parts.forEach((part, index) => {
    const at = part === "" ? -1 : text.indexOf(part, from);
    if (at < 0) return;
    if (at > from) pieces.push([text.slice(from, at), -1]);
    pieces.push([part, index]);
    from = at + part.length;
  });
  if (from < text.length) pieces.push([text.slice(from), -1]);
  return pieces;
}

/** Quotes a word for a POSIX shell, for an `assay explain` command. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
