/**
 * The samples of a webhook's drill: those of the catalogue's providers that sign as the webhook verifies, else its last recorded
 * requests. A sample has a key, by which it is found again after a restart.
 */

import { canonicalHeaders, canonicalName, type WebhookHandshake, type WebhookRequestId, type WebhookVerify } from "@inlet/protocol";
import { bodyOf } from "../../receive/replay-request.ts";
import type { EventCursor, Webhook, WebhookRequest, WebhookRequestStore } from "../../store/contract/index.ts";
import { completeVerify, type GivenVerify, type SampleRequest } from "../../transform/index.ts";

export interface DrillSample extends SampleRequest {
  title: string;
}

/** A provider of the catalogue, with its samples. */
export interface SampleProvider {
  id: string;
  title: string;
  verify: GivenVerify | null;
  handshake: WebhookHandshake | null;
  transform: string;
  fixtures: readonly { title: string; headers: Record<string, string>; query: string; body: string }[];
}

export interface FindSamplesParts {
  store: Pick<WebhookRequestStore, "webhookRequestGet" | "webhookRequestList">;
  providers(): Promise<readonly SampleProvider[]>;
}

/** How many recorded requests are used, and among how many they are looked for: copies of one request count once. */
const RECORDED_MAX = 10;
const RECORDED_PAGES = 5;
const RECORDED_PAGE = 100;
/** Headers of a recorded request that belong to its connection or to the encoding of its body. */
const OF_THE_JOURNEY: ReadonlySet<string> = new Set(["Host", "Connection", "Content-Length", "Transfer-Encoding", "Content-Encoding"]);

/** In the order in which they are sent. */
export async function sampleKeys({ store, providers }: FindSamplesParts, webhook: Webhook): Promise<string[]> {
  const found = providersOf(webhook, await providers());
  if (found.length > 0) return found.flatMap(({ id, fixtures }) => fixtures.map((_, index) => `${id}/${index}`));
  const recorded = await lastRecorded(store, webhook);
  return recorded.map(({ id }) => id);
}

/** Of copies, the oldest: it stays the same when the drill, whose requests are recorded too, is repeated. Oldest first. */
async function lastRecorded(store: FindSamplesParts["store"], webhook: Webhook): Promise<WebhookRequest[]> {
  const { environmentId, id: webhookId } = webhook;
  const distinct = new Map<string, WebhookRequest>();
  let after: EventCursor | null | undefined;
  for (let pages = 0; pages < RECORDED_PAGES && after !== null; pages++) {
    const list = { environmentId, webhookId, outcome: "accepted", limit: RECORDED_PAGE, ...(after && { after }) };
    const { requests, next } = await store.webhookRequestList(list);
    for (const request of requests.filter(isWhole)) distinct.set(contentOf(request), request);
    after = next;
  }
  return [...distinct.values()].slice(0, RECORDED_MAX).sort((one, other) => one.sequence - other.sequence);
}

/** Null: a recorded request that has been removed. */
export async function readSample({ store, providers }: FindSamplesParts, webhook: Webhook, key: string): Promise<DrillSample | null> {
  const [id, index] = key.split("/");
  const provider = index === undefined ? undefined : (await providers()).find((candidate) => candidate.id === id);
  const fixture = provider?.fixtures[Number(index)];
  if (provider && fixture) {
    const headers = { "Content-Type": "application/json", ...canonicalHeaders(Object.entries(fixture.headers).flat()) };
    return { title: `${provider.title}: ${fixture.title}`, headers, query: fixture.query, bytes: Buffer.from(fixture.body) };
  }
  const { environmentId } = webhook;
  const request = await store.webhookRequestGet({ environmentId, webhookId: webhook.id, id: key as WebhookRequestId });
  return request && isWhole(request) ? recordedSample(request) : null;
}

/** Several providers may share a scheme: the starter transform or the handshake, if one is theirs, says which it is. */
function providersOf({ verify, handshake, transform }: Webhook, providers: readonly SampleProvider[]): readonly SampleProvider[] {
  if (!verify) return [];
  const signing = providers.filter((provider) => provider.verify && schemeOf(completeVerify(provider.verify)) === schemeOf(verify));
  const named = signing.filter((provider) => provider.transform.trim() === transform.trim());
  if (named.length > 0) return named;
  const shaking = signing.filter((provider) => JSON.stringify(provider.handshake) === JSON.stringify(handshake));
  return shaking.length > 0 ? shaking : signing;
}

/** What two verifications have to share. The tolerance and the user are the webhook's own choice. */
function schemeOf({ toleranceSeconds: _, user: __, ...verify }: WebhookVerify): string {
  const { header, timestampHeader } = verify;
  const names = {
    ...(header !== undefined && { header: canonicalName(header) }),
    ...(timestampHeader !== undefined && { timestampHeader: canonicalName(timestampHeader) }),
  };
  return JSON.stringify(Object.entries({ ...verify, ...names }).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isWhole({ method, body }: WebhookRequest): boolean {
  return method === "POST" && body !== null;
}

function contentOf({ body, bodyBase64, contentType }: WebhookRequest): string {
  return JSON.stringify([contentType, body, bodyBase64]);
}

/** A compressed body is sent as its text. */
function recordedSample(request: WebhookRequest): DrillSample {
  const given = canonicalHeaders(JSON.parse(request.headers) as string[]);
  const bytes = given["Content-Encoding"] === undefined ? bodyOf(request) : Buffer.from(request.body ?? "");
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !OF_THE_JOURNEY.has(name)));
  return { title: `Request ${request.id}`, headers, query: request.query, bytes };
}
