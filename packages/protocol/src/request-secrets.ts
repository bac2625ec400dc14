/** Finds the secrets of a request that the service makes for a function, and masks them, and those of webhooks, in what is recorded. */

import { type GatewayRequest, isSecretName, MASK } from "./gateway-request.ts";

/** Shorter parts of a header and shorter fields of a body are words, not secrets; masking them would make records unreadable. */
const HEADER_PART_UNITS_MIN = 8;
const FIELD_UNITS_MIN = 4;
/** Of one body. */
const FIELDS_MAX = 200;

/** The texts of a request that must not appear in records. */
export function secretsOf({ url, headers, body }: Pick<GatewayRequest, "url" | "headers" | "body">): string[] {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) => (isSecretName(name) ? headerSecrets(value) : []));
  const { searchParams, username, password } = new URL(url);
  const inUrl = [...searchParams.values(), ...[username, password].flatMap((text) => [text, decoded(text)])];
  const secrets = [...inHeaders, ...inUrl, ...(body === null ? [] : bodySecrets(body))];
  return [...new Set(secrets.filter((text) => text !== ""))];
}

/**
 * `text` is JSON, or any other text, that may contain these, escaped or not. Of a long text only what stands before `unitsMax` is shown, and
 * no part of a secret that reaches across that limit.
 */
export function withoutSecrets(text: string, secrets: readonly string[], unitsMax = Number.POSITIVE_INFINITY): string {
  const written = [...new Set(secrets.flatMap(writtenForms))];
  const reach = Math.max(0, ...written.map(({ length }) => length));
  const searched = text.slice(0, unitsMax + reach);
  let shown = "";
  let at = 0;
  for (const [start, end] of merged(written.flatMap((secret) => occurrences(searched, secret)))) {
    if (start >= unitsMax) break;
    shown += searched.slice(at, start) + MASK;
    at = end;
  }
  const rest = at < unitsMax ? searched.slice(at, unitsMax) : "";
  // Cutting a surrogate pair leaves half a character.
  return (shown + rest).toWellFormed();
}

/** A shorter text occurs by chance. */
export const SECRET_UNITS_MIN = 4;

/** How code could write a secret that it knows: as it is, escaped, and encoded. None for a secret that occurs by chance. */
export function secretForms(secret: string): string[] {
  if (secret.length < SECRET_UNITS_MIN) return [];
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const base64 = [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
  return [...new Set([...writtenForms(secret), hex, hex.toUpperCase(), ...base64])];
}

/** As it is, in JSON text, in JSON text within JSON text, and in URLs and forms. */
function writtenForms(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [secret, inJson, JSON.stringify(inJson).slice(1, -1), inUrl, inUrl.replaceAll("%20", "+")];
}

function occurrences(text: string, secret: string): [start: number, end: number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) found.push([at, at + secret.length]);
  return found;
}

/** Overlapping occurrences as one. */
function merged(found: [start: number, end: number][]): [start: number, end: number][] {
  const whole: [number, number][] = [];
  for (const [start, end] of found.sort(([a], [b]) => a - b)) {
    const last = whole.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else whole.push([start, end]);
  }
  return whole;
}

/** The value, and its parts: servers repeat the key of `Bearer <key>` and the value of a cookie without what is around them. */
function headerSecrets(value: string): string[] {
  return [value, ...value.split(/[\s,;="]+/).filter(({ length }) => length >= HEADER_PART_UNITS_MIN)];
}

/** The values of fields with secret names, in JSON or a form. */
function bodySecrets(body: string): string[] {
  const fields = /^\s*[[{]/.test(body)
    ? secretsInJson(body)
    : [...new URLSearchParams(body)].flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  return fields.filter(({ length }) => length >= FIELD_UNITS_MIN).slice(0, FIELDS_MAX);
}

/** Without recursion: a body may be nested deeply. */
function secretsInJson(body: string): string[] {
  const secrets: string[] = [];
  const open: { value: unknown; isSecret: boolean }[] = [{ value: parsed(body), isSecret: false }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, isSecret } = next;
    if (typeof value === "string" && isSecret) secrets.push(value);
    if (typeof value !== "object" || value === null) continue;
    const isList = Array.isArray(value);
    for (const [name, inner] of Object.entries(value)) open.push({ value: inner, isSecret: isSecret || (!isList && isSecretName(name)) });
  }
  return secrets;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
