/**
 * Decodes the content encoding of a body. The limit applies to decoded bytes during decoding: a zip bomb stops early. The maximum size is
 * reserved before decoding, since a few bytes may expand to very many.
 */

import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import { Refusal } from "@inlet/protocol";

const decoders = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: (bytes: Uint8Array, options: { maxOutputLength: number }) =>
    (hasZlibHeader(bytes) ? inflateAsync : inflateRawAsync)(bytes, options),
};

const inflateAsync = promisify(inflate);
const inflateRawAsync = promisify(inflateRaw);

/** More layers than any client uses; each multiplies the possible expansion. */
const LAYERS_MAX = 2;

type Decoded = Buffer | Refusal;

export interface DecodeMemory {
  /** False if there is no space. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Without a budget. */
export const UNCOUNTED: DecodeMemory = { take: () => true, give: () => undefined };

/** Most bodies are not encoded and need no asynchronous work. */
export function decodeContent(
  bytes: Buffer,
  encoding: string | undefined,
  bytesMax: number,
  memory: DecodeMemory,
): Decoded | Promise<Decoded> {
  if (bytes.length > bytesMax) return tooLarge(bytesMax, `it has ${bytes.length} bytes`);
  return encoding && bytes.length > 0 ? decode(bytes, encoding, bytesMax, memory) : bytes;
}

async function decode(bytes: Buffer, encoding: string, bytesMax: number, memory: DecodeMemory): Promise<Decoded> {
  const layers = encoding
    .toLowerCase()
    .split(",")
    .map((layer) => layer.trim());
  const applied = layers.filter((layer) => layer !== "" && layer !== "identity");
  if (applied.length > LAYERS_MAX)
    return new Refusal("content_type_unsupported", `More than ${LAYERS_MAX} content encodings are not read.`);
  const reserved = applied.length * bytesMax;
  if (reserved > 0 && !memory.take(reserved)) return new Refusal("overloaded", "The service is at capacity. Retry in a moment.");
  const decoded = await undo(bytes, applied, bytesMax);
  memory.give(reserved - (Buffer.isBuffer(decoded) && reserved > 0 ? decoded.length : 0));
  return decoded;
}

async function undo(bytes: Buffer, applied: string[], bytesMax: number): Promise<Decoded> {
  let decoded = bytes;
  for (const layer of applied.reverse()) {
    const decoder = Object.hasOwn(decoders, layer) ? decoders[layer as keyof typeof decoders] : null;
    if (!decoder) return new Refusal("content_type_unsupported", `The content encoding "${layer}" is not one of gzip, deflate, br.`);
    try {
      decoded = await decoder(decoded, { maxOutputLength: bytesMax });
    } catch (error) {
      return decodeFault(error as NodeJS.ErrnoException, { layer, bytes: decoded.length, bytesMax });
    }
  }
  return decoded;
}

function decodeFault(
  error: NodeJS.ErrnoException,
  { layer, bytes, bytesMax }: { layer: string; bytes: number; bytesMax: number },
): Refusal {
  if (error.code === "ERR_BUFFER_TOO_LARGE") return tooLarge(bytesMax, `${bytes} bytes of ${layer} decode to more`);
  return new Refusal("body_invalid", `The body is not valid ${layer}: ${error.message}`);
}

function tooLarge(bytesMax: number, what: string): Refusal {
  return new Refusal("body_too_large", `The body is larger than the limit of ${bytesMax} bytes: ${what}.`);
}

/** "deflate" means a zlib stream, but some clients send a raw deflate stream. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}
