/**
 * Converts the bytes of a webhook request to the input of its transform: `evt` as JSON text, and `raw`.
 *
 * JSON is not parsed here: its text is sent to the sandbox, which parses it once and returns `body_invalid` if it cannot. Forms become
 * objects whose values are always arrays of strings. For everything else, and for an empty body, `evt` is `{}`; the text is in `raw`.
 */

import { parseForm, type Refusal } from "@inlet/protocol";
import { bodyText } from "./body-text.ts";
import { type ContentKind, contentKind } from "./content-kind.ts";
import { type DecodeMemory, decodeContent, UNCOUNTED } from "./decode-content.ts";
import { multipartFields } from "./multipart-fields.ts";

export interface RequestBodyParams {
  bytes: Buffer;
  contentType: string | undefined;
  contentEncoding?: string | undefined;
  /** Applies to the bytes after decoding. */
  bytesMax: number;
  /** Memory reservation for decoding; absent: it is not counted. */
  memory?: DecodeMemory;
}

export interface RequestBody {
  evtJson: string;
  raw: string;
  /** The bytes after decoding, if `raw` does not represent them exactly. */
  rawBase64?: string;
}

export type RequestBodyResult = { ok: true; body: RequestBody } | { ok: false; refusal: Refusal };

const EMPTY_OBJECT = "{}";

export async function readRequestBody(params: RequestBodyParams): Promise<RequestBodyResult> {
  const { bytes, contentType, contentEncoding, bytesMax, memory = UNCOUNTED } = params;
  const decoding = decodeContent(bytes, contentEncoding, bytesMax, memory);
  const decoded = decoding instanceof Promise ? await decoding : decoding;
  if (!Buffer.isBuffer(decoded)) return { ok: false, refusal: decoded };
  const { kind, charset } = contentKind(contentType);
  const { text, base64 } = bodyText(decoded, charset);
  const evtJson =
    kind === "multipart" && decoded.length > 0 ? await multipartText(decoded, contentType ?? "") : evtText(kind, decoded, text);
  if (typeof evtJson !== "string") return { ok: false, refusal: evtJson };
  return { ok: true, body: base64 === undefined ? { evtJson, raw: text } : { evtJson, raw: text, rawBase64: base64 } };
}

function evtText(kind: ContentKind["kind"], bytes: Buffer, text: string): string {
  if (bytes.length === 0) return EMPTY_OBJECT;
  if (kind === "json") return text;
  return kind === "urlencoded" ? JSON.stringify(parseForm(text)) : EMPTY_OBJECT;
}

async function multipartText(bytes: Buffer, contentType: string): Promise<string | Refusal> {
  const result = await multipartFields(bytes, contentType);
  return "refusal" in result ? result.refusal : JSON.stringify(result.fields);
}
