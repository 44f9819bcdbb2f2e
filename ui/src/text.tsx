// Text that strangers wrote: always a text node, isolated from the direction of what stands around it, nothing hidden.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const HIDDEN_IN_BLOCK = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escape(sign: string): string {
  return `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/** Text with control, bidirectional and zero-width characters spelled out; a block keeps its lines. */
export function visible(text: string, block = false): string {
  return text.replace(block ? HIDDEN_IN_BLOCK : HIDDEN, escape);
}

export function Data({ text }: { text: string }) {
  return <bdi>{visible(text)}</bdi>;
}

export function Block({ text }: { text: string }) {
  return (
    <p class="block" dir="auto">
      {visible(text.replaceAll("\r\n", "\n"), true)}
    </p>
  );
}

export function Items({ items }: { items: string[] }) {
  return (
    <ul class="plain">
      {items.map((item, place) => (
        <li key={place}>
          <Data text={item} />
        </li>
      ))}
    </ul>
  );
}

/** `text` cut where any of `parts` stands, each piece with the place of its part (-1: none), first match first. */
export function marked(text: string, parts: string[]): [string, number][] {
  const pieces: [string, number][] = [];
  let from = 0;
  while (from < text.length) {
    let best = -1;
    let at = text.length;
    parts.forEach((part, place) => {
      const found = part === "" ? -1 : text.indexOf(part, from);
      if (found >= 0 && (found < at || (found === at && part.length > (parts[best]?.length ?? 0)))) {
        best = place;
        at = found;
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

/** `text` cut at `parts`, which stand in it in this order, each piece with the place of its part (-1: none). */
export function inOrder(text: string, parts: string[]): [string, number][] {
  const pieces: [string, number][] = [];
  let from = 0;
  parts.forEach((part, place) => {
    const at = part === "" ? -1 : text.indexOf(part, from);
    if (at < 0) return;
    if (at > from) pieces.push([text.slice(from, at), -1]);
    pieces.push([part, place]);
    from = at + part.length;
  });
  if (from < text.length) pieces.push([text.slice(from), -1]);
  return pieces;
}

/** A word for a POSIX shell, as `assay explain` takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
