/**
 * Tests a transform without storing anything. Same sandbox and rules as for a real request, with the handshake and verification of a
 * webhook if given; a wrong signature is explained as far as possible.
 */

import { createHash } from "node:crypto";
import { canonicalName, MASK, Refusal } from "@inlet/protocol";
import { type AuthenticateParams, type AuthenticationRules, authenticateRequest, type Receipt } from "./authenticate-request.ts";
import type { HandshakeResponse } from "./handshake/handshake-response.ts";
import type { TransformRunner } from "./threads/transform-runner.ts";
import type { TransformOwner } from "./transform-outcome.ts";
import { resultOf, type TransformedRequest, transformRequest } from "./transform-request.ts";
import { signRequest } from "./verify/sign-request.ts";
import { credentialHeader, type VerifyFault } from "./verify/verify-request.ts";

export interface TrialRequest {
  owner: TransformOwner;
  transform: string;
  /** The parsed body as JSON text; without it, `bytes` are parsed by their content type. */
  bodyJson?: string;
  /** The body as it would arrive. */
  bytes: Buffer;
  contentType?: string;
  /** Absent: the bytes are not encoded, whatever the headers say. */
  contentEncoding?: string;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
  /** The checks before the transform; absent: none. */
  authentication?: TrialAuthentication;
}

export interface TrialAuthentication {
  rules: AuthenticationRules;
  method: string;
  query: string;
  urls: readonly string[];
  receipt: Receipt;
  /** Sign it first, as the provider would, with the first secret. */
  signs: boolean;
}

export interface TrialFault {
  code: string;
  message: string;
  line?: number;
  column?: number;
}

/** The event as JSON text, the response of the handshake, or the fault. */
export interface Trial {
  eventJson?: string;
  handshake?: HandshakeResponse;
  error?: TrialFault;
  /** The result of verification, if any. */
  verification?: { ok: boolean } & Partial<VerifyFault>;
  logs: string[];
  durationMs: number;
}

export interface TrialLimits {
  bytesMax: number;
}

export async function tryTransform(runner: TransformRunner, request: TrialRequest, limits: TrialLimits): Promise<Trial> {
  const { authentication } = request;
  if (!authentication) return runTransform(runner, request, limits);
  const bytes = request.bytes.length === 0 && request.bodyJson !== undefined ? Buffer.from(request.bodyJson) : request.bytes;
  const unsigned = withContentType(canonical(request.headers), request.contentType);
  const headers = authentication.signs ? { ...unsigned, ...signatureOf(authentication, bytes, unsigned) } : unsigned;
  const { refused, answer, fault, isVerified, logs, durationMs } = await authenticateRequest(runner, {
    ...authentication,
    owner: request.owner,
    bytes,
    headers,
    bytesMax: limits.bytesMax,
    explains: true,
    contentType: headers["Content-Type"],
    contentEncoding: request.contentEncoding,
  } satisfies AuthenticateParams);
  const verification = fault ? { verification: { ok: false, ...fault } } : isVerified ? { verification: { ok: true } } : {};
  if (refused) return { error: { code: refused.code, message: refused.message }, ...verification, logs, durationMs };
  if (answer) return { handshake: answer, logs, durationMs };
  const trial = await runTransform(runner, { ...request, bytes, headers: { ...headers, ...maskOf(authentication) } }, limits);
  return { ...trial, ...verification, logs: [...logs, ...trial.logs], durationMs: durationMs + trial.durationMs };
}

function signatureOf(
  { rules, urls, receipt }: TrialAuthentication,
  bytes: Buffer,
  headers: Record<string, string>,
): Record<string, string> {
  const [secret] = rules.secrets.verify;
  if (!rules.verify || secret === undefined) return {};
  return signRequest({ verify: rules.verify, secret, bytes, headers, urls, contentType: headers["Content-Type"], at: receipt.at });
}

/** A secret that was added to a header here must not be visible to the transform, which could expose it. */
function maskOf({ rules: { verify }, signs }: TrialAuthentication): Record<string, string> {
  const name = signs && verify ? credentialHeader(verify) : null;
  return name === null ? {} : { [canonicalName(name)]: MASK };
}

async function runTransform(runner: TransformRunner, request: TrialRequest, { bytesMax }: TrialLimits): Promise<Trial> {
  const headers = withContentType(canonical(request.headers), request.contentType);
  const params = {
    versionKey: `trial:${createHash("sha256").update(request.transform).digest("hex")}`,
    owner: request.owner,
    transform: request.transform,
    headers,
    queryParams: request.queryParams,
  };
  if (request.bodyJson !== undefined) {
    const { versionKey, owner, transform: source, queryParams } = params;
    const raw = request.bytes.length > 0 ? request.bytes.toString() : request.bodyJson;
    const evtJson = request.bodyJson;
    const outcome = await runner.run({ versionKey, owner, source, headers, queryParams, evtJson, raw, resultBytesMax: bytesMax });
    return asTrial(
      { ...resultOf(outcome), logs: outcome.logs, durationMs: outcome.durationMs },
      outcome.ok ? outcome.eventJson : undefined,
    );
  }
  const { bytes, contentEncoding } = request;
  const contentType = headers["Content-Type"];
  const transformed = await transformRequest(runner, { ...params, bytes, contentType, contentEncoding, bytesMax });
  return asTrial(transformed, transformed.eventJson);
}

function asTrial({ result, fault, logs, durationMs }: Omit<TransformedRequest, "body">, eventJson: string | undefined): Trial {
  if (result instanceof Refusal) return { error: fault ?? { code: result.code, message: result.message }, logs, durationMs };
  return { ...(eventJson !== undefined && { eventJson }), logs, durationMs };
}

function canonical(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [canonicalName(name), value]));
}

/** A body without a type is treated as JSON, which nearly all of them are. */
function withContentType(headers: Record<string, string>, contentType: string | undefined): Record<string, string> {
  return { "Content-Type": "application/json", ...headers, ...(contentType !== undefined && { "Content-Type": contentType }) };
}
