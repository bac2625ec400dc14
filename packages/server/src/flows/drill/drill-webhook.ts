/**
 * Sends the requests of a drill to a webhook, inside the service, as its provider would: signed with the webhook's own secret, to its own
 * URL, for one branch environment. They take the way of every other request, from the handshake to the record.
 */

import { randomBytes } from "node:crypto";
import {
  type AcceptList,
  canonicalName,
  ENVIRONMENT_HEADER,
  ENVIRONMENT_HEADER_ALIAS,
  EVENT_ID_SEED_HEADER,
  type EventId,
  Refusal,
} from "@inlet/protocol";
import { ABORTED } from "../../receive/bodies/read-body.ts";
import { targetOf } from "../../receive/connections/target.ts";
import { type InboundRequest, type ReceiveOutcome, UNCOUNTED } from "../../receive/inbound-request.ts";
import type { Webhook } from "../../store/contract/index.ts";
import { type SampleRequest, signSample } from "../../transform/index.ts";
import { type DrillSample, type FindSamplesParts, readSample, sampleKeys } from "./find-samples.ts";

export interface DrillFlowParts extends FindSamplesParts {
  receive(request: InboundRequest): Promise<ReceiveOutcome>;
  /** Of the service, for signatures over the URL. */
  publicUrl: string | null;
}

export interface DrillSendParams {
  webhook: Webhook;
  /** The name of a branch environment. */
  environment: string;
  /** The key of a sample. */
  sample: string;
  /** `forged`: signed with another secret. `malformed`: a body that is declared as JSON and is none. */
  form: "whole" | "forged" | "malformed";
  signedAt: number;
  /** Determines the id of the event. */
  seed: string;
}

export interface DrillResponse {
  title: string;
  contentType: string;
  bytes: number;
  status: number;
  /** The event that it became, or that it is a duplicate of. */
  eventId: EventId | null;
  /** Why it was refused. */
  refusal: string | null;
}

const HOST = "localhost";
const SELECTORS = [ENVIRONMENT_HEADER, ENVIRONMENT_HEADER_ALIAS].map(canonicalName);

export function createDrill(parts: DrillFlowParts) {
  return {
    samples: (webhook: Webhook) => sampleKeys(parts, webhook),
    /** Null: the sample has been removed. */
    async send(params: DrillSendParams): Promise<DrillResponse | null> {
      const sample = await readSample(parts, params.webhook, params.sample);
      return sample && sendSample(parts, sample, params);
    },
  };
}

async function sendSample(parts: DrillFlowParts, sample: DrillSample, params: DrillSendParams): Promise<DrillResponse> {
  const request = requestOf(parts, sample, params);
  const { headers, bytes } = request;
  const answer = await parts.receive(inboundOf(request, params));
  if (answer === ABORTED) throw new Error("a request of a drill cannot be aborted");
  // A fault of the service says nothing about the webhook: the request is sent again.
  if (answer instanceof Refusal && answer.status >= 500) throw new Error(answer.message);
  const sent = { title: sample.title, contentType: headers["Content-Type"] ?? "", bytes: bytes.length };
  if (answer instanceof Refusal) return { ...sent, status: answer.status, eventId: null, refusal: `${answer.code}: ${answer.message}` };
  if ("handshake" in answer) return { ...sent, status: answer.handshake.status, eventId: null, refusal: null };
  return { ...sent, status: answer.answer?.status ?? 200, eventId: answer.ids[0] ?? null, refusal: null };
}

function requestOf(
  { publicUrl }: DrillFlowParts,
  sample: DrillSample,
  { webhook, environment, form, signedAt }: DrillSendParams,
): SampleRequest {
  const { verify, token } = webhook;
  const given = Object.entries(sample.headers).filter(([name]) => !SELECTORS.includes(name));
  const headers = {
    ...Object.fromEntries(given),
    Host: HOST,
    [canonicalName(ENVIRONMENT_HEADER)]: environment,
    ...(form === "malformed" && { "Content-Type": "application/json" }),
  };
  const bytes = form === "malformed" ? broken(sample.bytes) : sample.bytes;
  const [own] = webhook.secrets.verify;
  const secret = form === "forged" ? otherSecret() : own;
  if (!verify || secret === undefined) return { headers, query: sample.query, bytes };
  const urlOf = (query: string) => (publicUrl ?? `https://${HOST}`) + targetOf(token, query);
  return signSample({ headers, query: sample.query, bytes, verify, secret, at: signedAt, urlOf });
}

function inboundOf({ headers, query, bytes }: SampleRequest, { webhook, seed }: DrillSendParams): InboundRequest {
  const rawHeaders = Object.entries(headers).flat();
  const byName = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method: "POST",
    target: targetOf(webhook.token, query),
    keyText: webhook.token,
    query,
    headers: { ...byName, [EVENT_ID_SEED_HEADER]: seed },
    rawHeaders,
    ip: addressIn(webhook.ips),
    readBody: () => Promise.resolve(bytes),
    // Requests of a drill are sent one at a time.
    memory: UNCOUNTED,
  };
}

/** The first half of a JSON document is none; other text becomes none by a brace. */
function broken(bytes: Buffer): Buffer {
  const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
  return /^\s*[{[]/.test(bytes.toString("latin1")) ? half : Buffer.concat([Buffer.from("{"), half]);
}

/** Valid in every scheme. */
function otherSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/** An address from which the webhook accepts requests: where they come from is not what a drill tests. */
function addressIn(ips: AcceptList | null): string {
  const [first = ""] = ips?.mode === "allow" ? ips.list : [];
  return first.split("/")[0] || "127.0.0.1";
}
