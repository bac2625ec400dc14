/**
 * Two services, one on each engine, that get the same requests: their responses have to be the same, but for what each chooses itself. An id
 * that one service chose stands for the id that the other chose at the same position, from then on and in both directions.
 */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { until } from "../runs.ts";
import { type Answer, call, type TestService } from "../service.ts";

/** What one service knows by one name and the other by another. */
export type Twins = readonly [embedded: string, shared: string];

export interface TwinRequest {
  method: string;
  /** From the root. `{}` stands for the twins in `ids`, in their order. */
  path: string;
  ids?: readonly Twins[];
  /** JSON; `{"$id": n}` stands for the n-th of `ids`. */
  body?: unknown;
  /** Instead of JSON. */
  text?: string;
  headers?: Record<string, string>;
  /** Fields of the response that depend on what goes on meanwhile. */
  varying?: readonly string[];
}

/** How long what each service does by itself may take on a busy machine. */
const PATIENCE_MS = 60_000;
const POLL_INTERVAL_MS = 50;

/** Where in a response values are compared. */
interface Place {
  at: string;
  varying: ReadonlySet<string>;
}

/** What services choose: ULIDs and everything that contains one, tokens, keys, UUIDs, cursors. */
const CHOSEN = /[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,}|(?<=\/approve\/\w{26}\/)[\w-]{22}/g;
/** What they measure, and what depends on what they chose: only its type is compared. */
const MEASURED = new Set(["durationMs", "bytes", "storedBytes", "reachable", "next", "prefix", "length", "callsAtOnce"]);

export class TwinServices {
  readonly #services: readonly [TestService, TestService];
  readonly #sharedOf = new Map<string, string>();
  readonly #embeddedOf = new Map<string, string>();
  /** The pairs that the response being compared has added. */
  #paired: [string, string][] = [];

  constructor(embedded: TestService, shared: TestService) {
    this.#services = [embedded, shared];
  }

  get services(): readonly [TestService, TestService] {
    return this.#services;
  }

  /** Sends the request to both. Fails if they respond differently: where it only reads, if they still do after a while. */
  async ask(request: TwinRequest): Promise<readonly [Answer, Answer]> {
    const deadline = Date.now() + (request.method === "GET" ? PATIENCE_MS : 0);
    for (;;) {
      const [one, other] = await Promise.all([this.#send(request, 0), this.#send(request, 1)]);
      const difference = this.#difference(one, other, new Set(request.varying));
      if (difference === null) return [one, other];
      const what = `${request.method} ${request.path} ${JSON.stringify(request.body ?? request.text ?? "").slice(0, 1_000)}`;
      if (Date.now() >= deadline)
        assert.fail(`${what}: ${difference}\nembedded: ${one.status} ${one.text}\nshared:   ${other.status} ${other.text}`);
      await pause(POLL_INTERVAL_MS);
    }
  }

  /** The same for every page that follows, each service with its own cursor. */
  async askPages(request: TwinRequest, pagesMax: number): Promise<readonly [Answer, Answer]> {
    const first = await this.ask(request);
    let [one, other] = first;
    for (let pages = 1; pages < pagesMax && one.body?.page?.next; pages++) {
      const ids = [...(request.ids ?? []), [one.body.page.next, other.body.page.next] as const];
      [one, other] = await this.ask({ ...request, ids, path: `${request.path}${request.path.includes("?") ? "&" : "?"}cursor={}` });
    }
    return first;
  }

  /** Waits until no job of either is open in the environment that the headers name, and no run but those of paused functions. */
  async settle(headers: Record<string, string>): Promise<void> {
    for (const service of this.#services) {
      await until("the jobs to end", async () => (await openOf(service, "/jobs", headers)).length === 0 || undefined);
      await until("the runs to end", async () => {
        const functions: { id: string; pausedAt: string | null }[] = (await service.rest("GET", "/functions")).body.data;
        const paused = new Set(functions.filter(({ pausedAt }) => pausedAt !== null).map(({ id }) => id));
        return (await openOf(service, "/runs", {})).every((run) => paused.has(run.function?.id ?? "")) || undefined;
      });
    }
  }

  #send({ method, path, ids = [], body, text, headers = {} }: TwinRequest, side: 0 | 1): Promise<Answer> {
    const service = this.#services[side];
    let next = 0;
    const target = path.replace(/\{\}/g, () => encodeURIComponent(ids[next++]?.[side] ?? ""));
    const written = text ?? (body === undefined ? undefined : JSON.stringify(substituted(body, ids, side)));
    const isRest = target.startsWith("/v1/");
    return call(`${service.url}${target}`, {
      method,
      headers: {
        ...(isRest && { authorization: "Bearer test-api-key" }),
        ...(written !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(written !== undefined && { body: written }),
    });
  }

  #difference(one: Answer, other: Answer, varying: ReadonlySet<string>): string | null {
    if (one.status !== other.status) return `status ${one.status} and ${other.status}`;
    const isJson = one.body !== undefined && other.body !== undefined;
    this.#paired = [];
    const difference = isJson ? this.#differ(one.body, other.body, { at: "", varying }) : this.#differTexts(one.text, other.text, "text");
    if (difference !== null) for (const [id, twin] of this.#paired) this.#unpair(id, twin);
    return difference;
  }

  #pair(id: string, twin: string): void {
    if (this.#sharedOf.has(id)) return;
    this.#sharedOf.set(id, twin);
    this.#embeddedOf.set(twin, id);
    this.#paired.push([id, twin]);
  }

  #unpair(id: string, twin: string): void {
    this.#sharedOf.delete(id);
    this.#embeddedOf.delete(twin);
  }

  #differ(one: unknown, other: unknown, { at, varying }: Place): string | null {
    if (typeof one === "string" && typeof other === "string") return this.#differTexts(one, other, at);
    if (Array.isArray(one) && Array.isArray(other)) {
      if (one.length !== other.length) return `${at}: ${one.length} and ${other.length} items`;
      return firstOf(one.map((item, n) => this.#differ(item, other[n], { at: `${at}[${n}]`, varying })));
    }
    if (isObject(one) && isObject(other)) return this.#differObjects(one, other, { at, varying });
    return Object.is(one, other) ? null : `${at}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
  }

  #differObjects(one: Record<string, unknown>, other: Record<string, unknown>, { at, varying }: Place): string | null {
    if (!isDeepStrictEqual(this.#keys(one), this.#keys(other))) return `${at}: ${Object.keys(one)} and ${Object.keys(other)}`;
    const [ones, others] = [one, other].map((value) => Object.entries(value).sort(byKey)) as [[string, unknown][], [string, unknown][]];
    return firstOf(
      ones.map(([key, value], n) => {
        if (varying.has(key)) return null;
        const [place, twin] = [{ at: `${at}.${key}`, varying }, others[n]?.[1]];
        return MEASURED.has(key) ? differKinds(value, twin, place.at) : this.#differ(value, twin, place);
      }),
    );
  }

  #keys(value: object): string[] {
    return Object.keys(value)
      .map((key) => (key.match(CHOSEN) ? "#" : key))
      .sort();
  }

  #differTexts(one: string, other: string, at: string): string | null {
    const [ones, others] = [comparable(one), comparable(other)];
    const told = `${at}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
    if (ones.replace(CHOSEN, "#") !== others.replace(CHOSEN, "#")) return told;
    const [chosen, too] = [ones.match(CHOSEN) ?? [], others.match(CHOSEN) ?? []];
    for (const [n, id] of chosen.entries()) {
      const twin = too[n] as string;
      if ((this.#sharedOf.get(id) ?? twin) !== twin || (this.#embeddedOf.get(twin) ?? id) !== id) return `${told}, which stand for others`;
      this.#pair(id, twin);
    }
    return null;
  }
}

async function openOf(service: TestService, path: string, headers: Record<string, string>): Promise<{ function?: { id: string } }[]> {
  const ask = (status: string) => service.rest("GET", `${path}?status=${status}&limit=100`, { headers });
  const open = await Promise.all(["queued", "running"].map(ask));
  // There may be no such environment.
  return open.flatMap(({ body }) => body.data ?? []);
}

/** Without ports, the times that an SDK measured, and the lines of a stack. */
function comparable(text: string): string {
  const withoutTimes = text.replace(/"timing":\{[^}]*\}/g, "").replace(/127\.0\.0\.1:\d+/g, "");
  return withoutTimes.replace(/(?:\n|\\n)\s+at [^\\"\n]*/g, "");
}

function substituted(value: unknown, ids: readonly Twins[], side: 0 | 1): unknown {
  if (Array.isArray(value)) return value.map((item) => substituted(item, ids, side));
  if (!isObject(value)) return value;
  if ("$id" in value) return ids[Number(value.$id)]?.[side];
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substituted(item, ids, side)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}

function differKinds(one: unknown, other: unknown, at: string): string | null {
  const kinds = [one, other].map((value) => (value === null ? "null" : typeof value));
  return kinds[0] === kinds[1] ? null : `${at}: ${kinds.join(" and ")}`;
}

function firstOf(differences: readonly (string | null)[]): string | null {
  return differences.find((difference) => difference !== null) ?? null;
}
