/**
 * A connection whose statements take and return arbitrary text: values are escaped when they are bound and results when they are read,
 * see `shared/store-text.ts`. Every connection of the store is one of these, so nothing that is stored or searched for can be left out.
 */

import { Client, type ClientConfig, types } from "pg";
import { fromStoreJson, fromStoreText, toStoreText } from "../shared/store-text.ts";

const BIGINT = 20;
const TEXT = 25;
const JSON_TEXT = 114;
const TEXT_ARRAY = 1009;
const BIGINT_ARRAY = 1016;

type Parse = (value: string) => unknown;

export const TYPES = {
  getTypeParser(oid: number, format?: "text" | "binary"): Parse {
    const parse = types.getTypeParser(oid, format as "text") as Parse;
    switch (oid) {
      case TEXT:
        return fromStoreText;
      case TEXT_ARRAY:
        return (value) => (parse(value) as (string | null)[]).map((item) => item && fromStoreText(item));
      case JSON_TEXT:
        return fromStoreJson;
      // Our numbers stay below 2^53.
      case BIGINT:
        return Number;
      case BIGINT_ARRAY:
        return (value) => (parse(value) as (string | null)[]).map((item) => (item === null ? null : Number(item)));
      default:
        return parse;
    }
  },
} as NonNullable<ClientConfig["types"]>;

export class TextClient extends Client {
  // The overloads of `Client`: a text with values, or a query that pg itself makes.
  override query = ((query: unknown, values?: unknown, callback?: unknown) =>
    send.call(this, query, Array.isArray(values) ? values.map(bound) : values, callback)) as Client["query"];
}

const send = Client.prototype.query as (this: Client, query: unknown, values: unknown, callback: unknown) => unknown;

/** Rows in JSON are escaped by `jsonRows`. */
function bound(value: unknown): unknown {
  if (typeof value === "string") return toStoreText(value);
  return Array.isArray(value) ? value.map(bound) : value;
}
