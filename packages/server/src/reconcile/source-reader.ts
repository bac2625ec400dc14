/** Pages by the user's own source: `request` and `read` run in the transform's sandbox. */

import { createHash } from "node:crypto";
import { canonicalName } from "@inlet/protocol";
import type { PageReader, PageRequest, ReadPage, ReconcilingWebhook } from "./page-reader.ts";

/** The sandbox, as far as it is needed here. */
export interface SourceRunner {
  run(request: {
    versionKey: string;
    owner: { webhook: string; environment: string };
    source: string;
    entry: "request" | "read";
    evtJson: string;
    headers: Record<string, string>;
    queryParams: Record<string, string[]>;
    raw: string;
  }): Promise<{ ok: true; eventJson: string } | { ok: false; message: string; line?: number; column?: number }>;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH"]);

export function sourceReader(runner: SourceRunner, webhook: ReconcilingWebhook, source: string): PageReader {
  const owner = { webhook: webhook.id, environment: String(webhook.environmentId) };
  const hash = createHash("sha256").update(source).digest("hex");

  async function call(entry: "request" | "read", argument: object): Promise<Record<string, unknown>> {
    const outcome = await runner.run({
      versionKey: `reconcile:${entry}:${hash}`,
      owner,
      source,
      entry,
      evtJson: JSON.stringify(argument),
      headers: {},
      queryParams: {},
      raw: "",
    });
    if (outcome.ok) return JSON.parse(outcome.eventJson) as Record<string, unknown>;
    const { message, line, column } = outcome;
    throw new Error(
      `${entry} failed: ${message}${line === undefined ? "" : ` (line ${line}${column === undefined ? "" : `, column ${column}`})`}`,
    );
  }

  return {
    request: async ({ since, until, cursor, secrets }) => readRequest(await call("request", { since, until, cursor, secrets })),
    read: async ({ status, headers, body, cursor }) => readPage(await call("read", { status, headers: bothNames(headers), body, cursor })),
  };
}

function readRequest({ url, method, headers, body }: Record<string, unknown>): PageRequest {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) throw new Error("request must return an http(s) url");
  const hasBody = body !== undefined && body !== null;
  const verb = method === undefined || method === null ? (hasBody ? "POST" : "GET") : String(method).toUpperCase();
  if (!METHODS.has(verb)) throw new Error(`request returned the method ${verb.slice(0, 16)}, which is none of ${[...METHODS].join(", ")}`);
  const named = readHeaders(headers);
  const text = hasBody ? (typeof body === "string" ? body : JSON.stringify(body)) : null;
  const hasType = Object.keys(named).some((name) => name.toLowerCase() === "content-type");
  return {
    url,
    method: verb,
    headers: hasBody && typeof body !== "string" && !hasType ? { ...named, "content-type": "application/json" } : named,
    body: text,
    returnsRedirects: true,
  };
}

function readHeaders(headers: unknown): Record<string, string> {
  if (headers === undefined || headers === null) return {};
  if (typeof headers !== "object" || Array.isArray(headers)) throw new Error("request must return headers as an object");
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])));
}

function readPage({ items, cursor }: Record<string, unknown>): ReadPage {
  if (!Array.isArray(items)) throw new Error("read must return a list of items");
  // Providers write the end of a list in several ways.
  const isEnd = cursor === undefined || cursor === null || cursor === "" || cursor === false;
  return isEnd ? { items } : { items, cursor };
}

/** By the name in lower case, and by the canonical one, which transforms know. */
function bothNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => [
      [name, value],
      [canonicalName(name), value],
    ]),
  );
}
