/** Which content types the Event API reads: JSON in any guise, and no content type at all. */

import { Refusal } from "@inlet/protocol";

const USUAL_TYPE = "application/json";
const JSON_TYPE = /^(?:application|text)\/(?:[^;]+\+)?json$/;
const FORM = "application/x-www-form-urlencoded";
const OBJECT_OR_ARRAY = /^\s*[{[]/;

/** Null when the body may be parsed. A form is JSON all the same when it looks like it: `curl -d` without a header sends that. */
export function contentTypeRefusal(header: string | undefined, body: Buffer): Refusal | null {
  if (header === USUAL_TYPE) return null;
  const type = header?.split(";", 1)[0]?.trim().toLowerCase();
  if (!type || type.startsWith("text/") || JSON_TYPE.test(type) || type.endsWith("+json")) return null;
  if (type === FORM && OBJECT_OR_ARRAY.test(body.toString("latin1", 0, 64))) return null;
  return new Refusal("content_type_unsupported", `Events are sent as application/json, not as ${type}.`);
}
