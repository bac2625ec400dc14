/** An answer that is not plain: in chunks, without a length, after others that only announce it. Node's HTTP client makes sense of it. */

import type { IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { ANSWER_BYTES_MAX, tooLarge } from "./no-answer.ts";
import type { AppAnswer } from "./read-answer.ts";

export interface StrangeAnswer {
  /** More of it; null at its end. */
  push(bytes: Buffer | null): void;
  /** Nothing more comes. */
  cut(error: Error): void;
}

/** The request was sent already: what Node would send is thrown away, and what has come for it, from `begun` on, is all it sees. */
export function readStrangeAnswer(begun: Buffer, tell: (answer: AppAnswer | Error) => void): StrangeAnswer {
  // Loaded with the first of them: a service that starts has no need of it.
  const { request } = process.getBuiltinModule("node:http");
  // An error reaches whoever reads the answer; it may also come when nobody does any more.
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }).on("error", () => {});
  const sent = request({ method: "POST", createConnection: () => connection });
  sent.on("response", (response) => void collect(response).then(tell, tell)).on("error", tell);
  sent.end();
  connection.push(begun);
  return { push: (bytes) => void connection.push(bytes), cut: (error) => void connection.destroy(error) };
}

async function collect(response: IncomingMessage): Promise<AppAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  const headers = Object.fromEntries(Object.entries(response.headersDistinct).map(([name, values]) => [name, oneOrAll(values)]));
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString() };
}

function oneOrAll(values: readonly string[] = []): string | string[] | undefined {
  return values.length > 1 ? [...values] : values[0];
}
