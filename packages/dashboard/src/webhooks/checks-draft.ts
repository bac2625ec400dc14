/** Converts verification, handshake and answer between the form and the REST API. */

import type { Webhook } from "../api/types.ts";

export const STATUSES = ["200", "201", "202", "204"];
export const CONTENT_TYPES = ["text/plain", "application/json", "application/xml", "text/xml"];
/** The fields specific to a scheme. */
export const SCHEME_FIELDS: Readonly<Record<string, readonly string[]>> = {
  stripe: ["header"],
  hmac: ["header", "algorithm", "encoding", "prefix", "signed", "timestampHeader"],
  basic: ["user"],
  header: ["header"],
};

export interface ChecksDraft {
  /** Empty: none. */
  scheme: string;
  fields: Readonly<Record<string, string>>;
  tolerance: string;
  secrets: string;
  handshake: string;
  source: string;
  handshakeSecrets: string;
  status: string;
  contentType: string;
  body: string;
}

const SOURCE_START = `function handshake({ method, headers, queryParams, raw, secrets }) {
}`;

export function draftOfChecks({ verify, handshake, answer }: Webhook): ChecksDraft {
  const { scheme = "", toleranceSeconds = 300, secrets: _, ...fields } = verify ?? {};
  return {
    scheme,
    fields: fields as Record<string, string>,
    tolerance: String(toleranceSeconds),
    secrets: "",
    handshake: handshake === null ? "" : (handshake.preset ?? "function"),
    source: handshake?.source ?? SOURCE_START,
    handshakeSecrets: "",
    status: answer === null ? "" : String(answer.status),
    contentType: answer?.contentType ?? "text/plain",
    body: answer?.body ?? "",
  };
}

type ChecksField = keyof ChecksDraft;
const VERIFY_FIELDS: readonly ChecksField[] = ["scheme", "fields", "tolerance", "secrets"];
const HANDSHAKE_FIELDS: readonly ChecksField[] = ["handshake", "source", "handshakeSecrets"];
const ANSWER_FIELDS: readonly ChecksField[] = ["status", "contentType", "body"];

/** Each part of which a field was changed. */
export function checksBody(draft: ChecksDraft, changed: Partial<ChecksDraft>) {
  const isChanged = (fields: readonly ChecksField[]) => fields.some((field) => field in changed);
  return {
    ...(isChanged(VERIFY_FIELDS) && { verify: verifyOf(draft) }),
    ...(isChanged(HANDSHAKE_FIELDS) && { handshake: handshakeOf(draft) }),
    ...(isChanged(ANSWER_FIELDS) && { answer: answerOf(draft) }),
  };
}

function verifyOf({ scheme, fields, tolerance, secrets }: ChecksDraft) {
  if (scheme === "") return null;
  const own = (SCHEME_FIELDS[scheme] ?? []).filter((name) => fields[name]);
  return { scheme, toleranceSeconds: Number(tolerance), ...Object.fromEntries(own.map((name) => [name, fields[name]])), ...given(secrets) };
}

function handshakeOf({ handshake, source, handshakeSecrets }: ChecksDraft) {
  if (handshake === "") return null;
  return { ...(handshake === "function" ? { source } : { preset: handshake }), ...given(handshakeSecrets) };
}

function answerOf({ status, contentType, body }: ChecksDraft) {
  if (status === "") return null;
  return status === "204" ? { status: 204 } : { status: Number(status), contentType, body };
}

/** If empty, the current ones are kept. */
export function given(lines: string): { secrets?: string[] } {
  const secrets = linesOf(lines);
  return secrets.length > 0 ? { secrets } : {};
}

export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
