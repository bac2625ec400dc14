/**
 * The exact text of a body: nothing is trimmed or normalised, and a byte order mark is kept. A signature over the bytes can be verified
 * over this text; if the text cannot represent the bytes, they are included as base64.
 */

import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";

export interface BodyText {
  text: string;
  /** Present if the UTF-8 form of the text differs from the bytes sent. */
  base64?: string;
}

export function bodyText(bytes: Buffer, charset: string | null): BodyText {
  const decoder = otherDecoder(charset);
  if (!decoder)
    return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { text: bytes.toString("utf8"), base64: bytes.toString("base64") };
  const text = decoder.decode(bytes);
  return Buffer.from(text).equals(bytes) ? { text } : { text, base64: bytes.toString("base64") };
}

/** A decoder for a known charset other than UTF-8. Unknown charsets are read as UTF-8. */
function otherDecoder(charset: string | null): TextDecoder | null {
  if (!charset) return null;
  try {
    const decoder = new TextDecoder(charset, { ignoreBOM: true });
    return decoder.encoding === "utf-8" ? null : decoder;
  } catch {
    return null;
  }
}
