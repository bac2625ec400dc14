/**
 * Compresses responses of the REST API for clients that accept it, on the threads of zlib, with a quick level.
 *
 * Only whole texts are compressed: a stream of server-sent events would wait for its buffer to fill. Only of GET: the responses that
 * contain a secret once answer a POST, and a secret next to text that somebody else chose can be guessed from compressed lengths. The
 * budget of responses counts the uncompressed length, which was checked before.
 */

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { acceptedEncoding, type Encoding } from "./accepted-encoding.ts";

/** A shorter response fits into one packet. */
const BYTES_MIN = 1_024;
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 4;

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

const COMPRESS: Readonly<Record<Encoding, (text: Buffer) => Promise<Buffer>>> = {
  br: (text) =>
    asBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }),
  gzip: (text) => asGzip(text, { level: GZIP_LEVEL }),
};

export function registerCompression(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (request.method !== "GET" || typeof payload !== "string" || payload.length < BYTES_MIN) return payload;
    reply.header("vary", "accept-encoding");
    const encoding = acceptedEncoding(request);
    if (encoding === null || reply.hasHeader("content-encoding")) return payload;
    const compressed = await COMPRESS[encoding](Buffer.from(payload));
    reply.header("content-encoding", encoding);
    return compressed;
  });
}
