/**
 * Secrets in webhook.json are names of environment variables: the file can be committed, and the values come from the environment when the
 * folder is applied. The server shows the last four characters of long secrets, by which a changed value is detected.
 */

import { CommandFault } from "../../command-line/command-fault.ts";
import type { Variables } from "../../command-line/command-row.ts";
import type { FieldChecks } from "./check-fields.ts";
import { isObject } from "./check-fields.ts";
import type { Entry, FileSettings } from "./entry.ts";

/** The fields of webhook.json that name secrets. */
export const SECRET_FIELDS = ["verify", "handshake", "reconcile"] as const;
export type SecretField = (typeof SECRET_FIELDS)[number];

export function isSecretField(field: string): field is SecretField {
  return (SECRET_FIELDS as readonly string[]).includes(field);
}

interface ShownSecret {
  last4: string | null;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SECRETS_MAX = 4;
const SHOWN_UNITS_MIN = 12;

/** A setting as written in the file; the server checks everything except the names. */
export function readSettings(check: FieldChecks, value: unknown, field: string): FileSettings | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) {
    check.fault(`${field} must be an object`);
    return null;
  }
  const { secrets, ...rest } = value as { secrets?: unknown };
  if (secrets === undefined) return rest;
  const isNames =
    Array.isArray(secrets) && secrets.length > 0 && secrets.length <= SECRETS_MAX && secrets.every((name) => NAME.test(String(name)));
  if (!isNames) check.fault(`${field}.secrets must be 1 to ${SECRETS_MAX} names of environment variables, such as STRIPE_SECRET`);
  return { ...rest, secrets: secrets as string[] };
}

/** The entries with the values of the variables that they name. */
export function withSecrets(entries: readonly Entry[], variables: Variables): Entry[] {
  return entries.map((entry) => ({
    ...entry,
    secretValues: Object.fromEntries(namesIn(entry).map((name) => [name, variables[name]])),
  }));
}

/**
 * The settings to send: the values instead of the names. `mayWait`: a webhook may be created without any secret of `verify`, because some
 * providers show it only once they have the URL.
 */
export function settingToSend(entry: Entry, field: SecretField, { mayWait }: { mayWait: boolean }): unknown {
  const setting = entry[field];
  if (!setting?.secrets) return setting;
  const { secrets: _, ...waiting } = setting;
  if (mayWait && field === "verify" && hasNoSecret(entry)) return waiting;
  const missing = setting.secrets.filter((name) => !entry.secretValues?.[name]);
  if (missing.length > 0) {
    throw new CommandFault(`${entry.files.webhook}: ${field} needs the environment variable ${missing.join(", ")}, which is not set.`);
  }
  return { ...setting, secrets: setting.secrets.map((name) => entry.secretValues?.[name]) };
}

/** Whether none of the variables that `verify` names is set. */
export function hasNoSecret({ verify, secretValues = {} }: Entry): boolean {
  return verify?.secrets?.every((name) => !secretValues[name]) ?? false;
}

/** Whether the server may already have these secrets: the same number, with the same last characters where both are known. */
export function sameSecrets({ secretValues = {} }: Entry, names: readonly string[] | undefined, shown: readonly ShownSecret[]): boolean {
  if (!names) return true;
  if (shown.length === 0 && names.every((name) => !secretValues[name])) return true;
  const isSame = (name: string, { last4 }: ShownSecret) => {
    const value = secretValues[name];
    if (!value) return true;
    return last4 === (value.length < SHOWN_UNITS_MIN ? null : value.slice(-4));
  };
  return names.length === shown.length && names.every((name, at) => isSame(name, shown[at] as ShownSecret));
}

/** Generates names for unknown secrets, from the folder name. */
export function namesFor(slug: string, count: number): string[] {
  const base = `${slug.replaceAll(/[^A-Za-z0-9]+/g, "_").toUpperCase()}_SECRET`.replace(/^(?=\d)/, "_");
  return Array.from({ length: count }, (_, at) => (at === 0 ? base : `${base}_${at + 1}`));
}

function namesIn(entry: Entry): string[] {
  return SECRET_FIELDS.flatMap((field) => entry[field]?.secrets ?? []);
}
