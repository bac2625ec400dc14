/**
 * From the bytes of a webhook request to what its transform receives: `evt` as JSON text, and `raw`.
 *
 * JSON is not parsed here: its text goes to the sandbox, which parses it once and answers `body_invalid` when it cannot. Forms become
 * objects whose values are always arrays of strings. Everything else, and an empty body, gives `{}`; the text is in `raw`.
 */

import { parseForm, type Refusal } from "@inlet/protocol";
import { bodyText } from "./body-text.ts";
import { contentKind } from "./content-kind.ts";
import { decodeContent } from "./decode-content.ts";
import { multipartFields } from "./multipart-fields.ts";

export interface RequestBodyParams {
  bytes: Buffer;
  contentType: string | undefined;
  contentEncoding?: string | undefined;
  /** Counts the bytes after decoding. */
  bytesMax: number;
}

export interface RequestBody {
  evtJson: string;
  raw: string;
  /** The bytes, after decoding, when `raw` is not exactly their text. */
  rawBase64?: string;
}

export type RequestBodyResult = { ok: true; body: RequestBody } | { ok: false; refusal: Refusal };

const EMPTY_OBJECT = "{}";

export async function readRequestBody({ bytes, contentType, contentEncoding, bytesMax }: RequestBodyParams): Promise<RequestBodyResult> {
  const decoded = await decodeContent(bytes, contentEncoding, bytesMax);
  if (!Buffer.isBuffer(decoded)) return { ok: false, refusal: decoded };
  const { kind, charset } = contentKind(contentType);
  const { text, base64 } = bodyText(decoded, charset);
  const evtJson = await evtText(kind, decoded, text, contentType ?? "");
  if (typeof evtJson !== "string") return { ok: false, refusal: evtJson };
  return { ok: true, body: base64 === undefined ? { evtJson, raw: text } : { evtJson, raw: text, rawBase64: base64 } };
}

async function evtText(kind: string, bytes: Buffer, text: string, contentType: string): Promise<string | Refusal> {
  if (bytes.length === 0 || kind === "other") return EMPTY_OBJECT;
  if (kind === "json") return text;
  if (kind === "urlencoded") return JSON.stringify(parseForm(text));
  const result = await multipartFields(bytes, contentType);
  return "refusal" in result ? result.refusal : JSON.stringify(result.fields);
}
