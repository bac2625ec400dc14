/** The content types that the Event API accepts: any kind of JSON, text, or none; and none of the content encodings. */

import { Refusal } from "@inlet/protocol";

const JSON_TYPE = "application/json";
const FORM = "application/x-www-form-urlencoded";
const OBJECT_OR_ARRAY = /^\s*[{[]/;

/** Null if the body may be parsed. A form that looks like JSON is parsed as JSON: `curl -d` without a header sends that. */
export function contentTypeRefusal(header: string | undefined, body: Buffer): Refusal | null {
  const [type = ""] = (header ?? "")
    .toLowerCase()
    .split(";", 1)
    .map((text) => text.trim());
  if (type === "" || type === JSON_TYPE || type.startsWith("text/") || type.endsWith("+json")) return null;
  if (type === FORM && OBJECT_OR_ARRAY.test(body.toString("latin1", 0, 64))) return null;
  return new Refusal("content_type_unsupported", `Events are sent as application/json, not as ${type}.`);
}

/** Null if the body is sent as it is. */
export function contentEncodingRefusal(header: string | undefined): Refusal | null {
  const encoding = (header ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return null;
  return new Refusal("content_type_unsupported", `Events are not read with the content encoding ${encoding}: send the body uncompressed.`);
}
