/** A request in the tester, as editable text. */

import type { Provider, WebhookRequest } from "../api/types.ts";

export interface TestRequest {
  body: string;
  contentType: string;
  /** One `Name: value` per line. */
  headers: string;
  /** The query string, without the question mark. */
  query: string;
  method: string;
  /** Signed with the webhook's first secret before it is tested, as the provider would. */
  isSigned: boolean;
  /** The recorded request it was copied from; null once it is edited. */
  recordedId: string | null;
}

export const METHODS = ["POST", "GET", "HEAD"];

export const CONTENT_TYPES = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

export const sampleRequest: TestRequest = {
  body: `{
  "type": "invoice.paid",
  "id": "evt_4711",
  "created": 1686089970,
  "data": { "amount": 1099, "currency": "usd" }
}`,
  contentType: "application/json",
  headers: "User-Agent: provider/1.0",
  query: "",
  method: "POST",
  isSigned: true,
  recordedId: null,
};

export function fromRecord(record: WebhookRequest): TestRequest {
  return {
    body: record.body ?? "",
    contentType: record.contentType ?? "",
    headers: headerText(record.headers),
    query: record.rawQuery,
    method: record.method,
    isSigned: false,
    recordedId: record.id,
  };
}

export function fromFixture({ headers, query, body }: Provider["fixtures"][number]): TestRequest {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "application/json";
  return { body, contentType, headers: headerText(headers), query, method: "POST", isSigned: true, recordedId: null };
}

export function headerText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

/** Canonical header names, as a transform receives them: `X-Github-Event`. */
export function canonicalHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line
      .slice(0, colon)
      .trim()
      .toLowerCase()
      .replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}

export function queryLists(text: string): Record<string, string[]> {
  const parameters = new URLSearchParams(text);
  return Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));
}
