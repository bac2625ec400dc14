/** The declared type of a body: the kinds that transforms support, and the parameters needed to read it. */

import { MIMEType } from "node:util";

export interface ContentKind {
  kind: "json" | "urlencoded" | "multipart" | "other";
  charset: string | null;
}

const PLAIN_JSON: ContentKind = { kind: "json", charset: null };

/** An absent or invalid content type is `other`: its text is in `raw`, and nothing is guessed. */
export function contentKind(contentType: string | undefined): ContentKind {
  if (contentType === "application/json") return PLAIN_JSON;
  const type = parse(contentType);
  if (!type) return { kind: "other", charset: null };
  return { kind: kindOf(type), charset: type.params.get("charset") };
}

function parse(contentType: string | undefined): MIMEType | null {
  try {
    return new MIMEType(contentType ?? "");
  } catch {
    return null;
  }
}

function kindOf({ essence, subtype }: MIMEType): ContentKind["kind"] {
  if (subtype === "json" || subtype.endsWith("+json")) return "json";
  if (essence === "application/x-www-form-urlencoded") return "urlencoded";
  return essence === "multipart/form-data" ? "multipart" : "other";
}
