/**
 * The text of a body, as exact as a text can be: nothing is trimmed or normalised, and a byte order mark stays. A signature that a
 * provider computed over the bytes can be verified over this text; where that is not so, the bytes come along as base64.
 */

import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";

export interface BodyText {
  text: string;
  /** Present when the UTF-8 form of the text is not what was sent. */
  base64?: string;
}

export function bodyText(bytes: Buffer, charset: string | null): BodyText {
  const decoder = otherDecoder(charset);
  if (!decoder)
    return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { text: bytes.toString("utf8"), base64: bytes.toString("base64") };
  const text = decoder.decode(bytes);
  return Buffer.from(text).equals(bytes) ? { text } : { text, base64: bytes.toString("base64") };
}

/** A decoder for a known charset other than UTF-8. What nobody knows is read as UTF-8. */
function otherDecoder(charset: string | null): TextDecoder | null {
  if (!charset) return null;
  try {
    const decoder = new TextDecoder(charset, { ignoreBOM: true });
    return decoder.encoding === "utf-8" ? null : decoder;
  } catch {
    return null;
  }
}
