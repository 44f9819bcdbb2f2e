// Texts in the language of the reader. Each bundle has the texts of its own pages and those that all pages share.

import type { PageKey } from "./page_strings";
import type { ReportKey } from "./strings";

export type Language = "en" | "vi";
export type Key = ReportKey | PageKey;
export type SharedKey = keyof typeof SHARED.en;

export const SHARED = {
  en: {
    skip: "Skip to the content",
    language: "Language",
    nav: "Sections",
    more: "and {n} more",
    no_reason: "No reason against a release was found.",
    "class.D": "deterministic",
    "class.J": "judge",
  },
  vi: {
    skip: "Đến thẳng nội dung",
    language: "Ngôn ngữ",
    nav: "Các phần",
    more: "và {n} mục nữa",
    no_reason: "Không tìm thấy lý do nào để phản đối.",
    "class.D": "tất định",
    "class.J": "mô hình chấm",
  },
} as const;

type Table = Readonly<Record<string, string>>;
const tables: Record<Language, Table> = { ...SHARED };

/** Sets the texts of the bundle; called once, before the first page is rendered. */
export function setTexts(texts: Record<Language, Table>): void {
  Object.assign(tables, texts);
}

/** A text of the page in a language, with its {places} filled. */
export function translate(language: Language, key: Key, values: Record<string, string | number> = {}): string {
  const text = tables[language][key] ?? key;
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}

/** A word of the records (a cause, a state …) in a language; a name without a translation is returned unchanged. */
export function translateName(language: Language, kind: string, name: string): string {
  const key = `${kind}.${name}`;
  return Object.hasOwn(tables.en, key) ? (tables[language][key] ?? name) : name;
}

/** The name of a kind, a stem or what refines it, that has a text in English; null if the texts know none. */
export function findName(kind: string, stem: string, text: string): string | null {
  const whole = `${kind}.${stem}`;
  const key = Object.keys(tables.en).find(
    (known) => (known === whole || known.startsWith(`${whole}.`)) && tables.en[known] === text,
  );
  return key === undefined ? null : key.slice(kind.length + 1);
}

/** The name of a kind whose text in English is this one; null if the texts know none. */
export function findText(kind: string, text: string): string | null {
  const key = Object.keys(tables.en).find((known) => known.startsWith(`${kind}.`) && tables.en[known] === text);
  return key === undefined ? null : key.slice(kind.length + 1);
}
