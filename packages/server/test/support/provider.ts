/** A provider with an API that lists what it sent, on loopback: page by page, in the order and with the faults that a test wants. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";

export interface ProviderResponse {
  status?: number;
  headers?: Record<string, string>;
  /** A value other than a text is sent as JSON. */
  body?: unknown;
  /** The connection ends in the middle of the body. */
  isCut?: boolean;
}

export interface Asked {
  url: URL;
  method: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface TestProvider {
  url: string;
  /** Everything that was asked. */
  asked: Asked[];
  /** What it answers; "nothing": it never does. */
  answer: (asked: Asked) => ProviderResponse | "nothing";
}

export async function startProvider(t: TestContext, answer: TestProvider["answer"]): Promise<TestProvider> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? "/", "http://provider");
    const one = { url, method: request.method ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() };
    asked.push(one);
    const given = provider.answer(one);
    if (given === "nothing") return;
    const text = typeof given.body === "string" ? given.body : JSON.stringify(given.body ?? {});
    response.writeHead(given.status ?? 200, { ...given.headers, ...(given.isCut && { "content-length": String(text.length + 100) }) });
    if (given.isCut) response.write(text, () => request.socket.destroy());
    else response.end(text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const provider: TestProvider = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, answer };
  return provider;
}

/** A source that lists `{ items, next }` page by page, each page a response of the provider. */
export function sourceOf(provider: TestProvider, items = "page.items.map((body) => ({ body, id: body.own }))"): string {
  return `
    function request({ since, until, cursor, secrets }) {
      const query = "since=" + encodeURIComponent(since) + "&until=" + encodeURIComponent(until) + "&page=" + (cursor ?? 0);
      return { url: "${provider.url}/list?" + query, headers: { authorization: "Bearer " + (secrets[0] ?? "") } };
    }
    function read({ status, headers, body, cursor }) {
      if (status !== 200) throw new Error("status " + status);
      const page = JSON.parse(body);
      return { items: ${items}, cursor: page.next };
    }`;
}

/** Items in pages of this size, for `sourceOf`. */
export function pagesOf(items: readonly unknown[], size: number): (asked: Asked) => ProviderResponse {
  return ({ url }) => {
    const page = Number(url.searchParams.get("page"));
    const next = (page + 1) * size < items.length ? page + 1 : undefined;
    return { body: { items: items.slice(page * size, (page + 1) * size), next } };
  };
}
