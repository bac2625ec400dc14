/**
 * Rows as text that is the same in every database: a JSON array of the texts of their columns, in which names and sources stand for
 * their interned numbers. The text passes through this program unread.
 */

import type { Column, MovedTable } from "./moved-tables.ts";

/** Numbers that are interned: what they stand for, and the number that this has here. */
const INTERNED: Readonly<Record<string, { text(number: string): string; number(text: string): string }>> = {
  name_id: {
    text: (number) => `(SELECT interned.name FROM event_names AS interned WHERE interned.name_id = ${number})`,
    number: (text) => `(SELECT interned.name_id FROM event_names AS interned WHERE interned.name = ${text})`,
  },
  source_no: {
    text: (number) =>
      `(SELECT interned.source_kind || ' ' || interned.source_id FROM event_sources AS interned WHERE interned.source_no = ${number})`,
    number: (text) => `(SELECT interned.source_no FROM event_sources AS interned
      WHERE interned.source_kind = split_part(${text}, ' ', 1) AND interned.source_id = substr(${text}, strpos(${text}, ' ') + 1))`,
  },
};

/** Adds what is new among the names or sources of `$1`, an array of rows, at this position. */
const ADD: Readonly<Record<string, (position: number) => string>> = {
  name_id: (position) => `
    INSERT INTO event_names (name) SELECT DISTINCT r.row ->> ${position} FROM jsonb_array_elements($1::jsonb) AS r(row)
    WHERE NOT EXISTS (SELECT FROM event_names AS known WHERE known.name = r.row ->> ${position}) ORDER BY 1 ON CONFLICT DO NOTHING`,
  source_no: (position) => `
    INSERT INTO event_sources (source_kind, source_id)
    SELECT DISTINCT split_part(r.row ->> ${position}, ' ', 1), substr(r.row ->> ${position}, strpos(r.row ->> ${position}, ' ') + 1)
    FROM jsonb_array_elements($1::jsonb) AS r(row) ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
};

/** The row `t` as JSON. */
export function rowJson(columns: readonly Column[]): string {
  return `json_build_array(${columns.map((column) => textOf(column, `t.${column.name}`)).join(", ")})::text`;
}

/** The value of a column at a position of the JSON array `json`. */
export function valueAt({ name, type }: Column, json: string, position: number): string {
  const text = `(${json} ->> ${position})`;
  return INTERNED[name]?.number(text) ?? `${text}::${type}`;
}

/** What stands for the value of a column. */
export function textOf({ name }: Column, value: string): string {
  return INTERNED[name]?.text(value) ?? `${value}::text`;
}

/** Statements that intern what the rows `$1` of a table need. */
export function interning({ columns }: MovedTable): string[] {
  return columns.flatMap(({ name }, position) => ADD[name]?.(position) ?? []);
}

/** JSON that comes from the database and goes back to one: its text is not escaped again. */
export class PassedJson {
  readonly #text: string;

  constructor(elements: readonly string[]) {
    this.#text = `[${elements.join(",")}]`;
  }

  /** Called by pg. */
  toPostgres(): string {
    return this.#text;
  }
}
