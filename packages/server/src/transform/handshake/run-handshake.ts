/** The handshake of a webhook: a preset, or the user's own function in the transform sandbox. */

import { createHash } from "node:crypto";
import { Refusal, secretForms, type WebhookHandshake, withoutSecrets } from "@inlet/protocol";
import type { HandedOver } from "../../store/contract/index.ts";
import { overloadedRefusal } from "../overloaded-refusal.ts";
import type { TransformRunner } from "../threads/transform-runner.ts";
import type { TransformOwner } from "../transform-outcome.ts";
import { type HandshakeResponse, readHandshakeResponse, responseFault } from "./handshake-response.ts";
import { type HandshakeRequest, PRESETS } from "./presets.ts";

export interface HandshakeParams extends HandshakeRequest {
  handshake: WebhookHandshake;
  owner?: TransformOwner | undefined;
}

/** `answer` ends the request; without it, and without a refusal, processing continues. */
export interface HandshakeOutcome {
  answer?: HandshakeResponse;
  refused?: Refusal;
  handedOver?: HandedOver;
  logs: string[];
  durationMs: number;
}

export async function runHandshake(runner: TransformRunner, params: HandshakeParams): Promise<HandshakeOutcome> {
  const { handshake } = params;
  if ("source" in handshake) return runSource(runner, params, handshake.source);
  const outcome = PRESETS[handshake.preset](params);
  const { refused, ...rest } = outcome ?? {};
  // A preset returns nothing but what was sent to it, or a hash.
  const fault = rest.answer ? responseFault(rest.answer, []) : null;
  if (fault !== null) return { refused: failed(fault), logs: [], durationMs: 0 };
  return { ...rest, ...(refused !== undefined && { refused: new Refusal("signature_invalid", refused) }), logs: [], durationMs: 0 };
}

async function runSource(runner: TransformRunner, params: HandshakeParams, source: string): Promise<HandshakeOutcome> {
  const { method, headers, queryParams, raw, secrets, owner } = params;
  const outcome = await runner.run({
    versionKey: `handshake:${createHash("sha256").update(source).digest("hex")}`,
    owner,
    source,
    entry: "handshake",
    headers,
    queryParams,
    raw,
    evtJson: JSON.stringify({ method, headers, queryParams, raw, secrets }),
  });
  const { durationMs } = outcome;
  const logs = outcome.logs.map((line) => masked(line, secrets));
  if (!outcome.ok) {
    if (outcome.code === "overloaded") return { refused: overloadedRefusal(outcome), logs, durationMs };
    const place =
      outcome.line === undefined ? "" : ` (line ${outcome.line}${outcome.column === undefined ? "" : `, column ${outcome.column}`})`;
    return { refused: failed(masked(`${outcome.message}${place}`, secrets)), logs, durationMs };
  }
  const returned: unknown = JSON.parse(outcome.eventJson);
  if (returned === null) return { logs, durationMs };
  const answer = readHandshakeResponse(returned);
  const fault = typeof answer === "string" ? answer : responseFault(answer, secrets);
  return fault === null ? { answer: answer as HandshakeResponse, logs, durationMs } : { refused: failed(fault), logs, durationMs };
}

/** Logs and messages are shown to people who may not see secrets. */
function masked(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets.flatMap(secretForms));
}

function failed(message: string): Refusal {
  return new Refusal("handshake_failed", `The handshake failed: ${message}`);
}
