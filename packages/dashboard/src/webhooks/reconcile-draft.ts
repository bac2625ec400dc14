/** Converts reconciliation between the form and the REST API. */

import { RECONCILE_DEFAULTS, RECONCILE_PRESETS, type ReconcileOption } from "@inlet/protocol/webhook-settings";
import type { Webhook, WebhookReconcile } from "../api/types.ts";
import { given, linesOf } from "./checks-draft.ts";

export const OWN_SOURCE = "source";
const OPTIONS: Readonly<Record<string, Readonly<Record<string, ReconcileOption>>>> = RECONCILE_PRESETS;
export const RECONCILE_CHOICES = [...Object.keys(OPTIONS).sort(), OWN_SOURCE];

export interface ReconcileDraft {
  /** A preset, `source`, or empty: off. */
  from: string;
  /** Of the preset; lists have one value per line. */
  options: Readonly<Record<string, string>>;
  baseUrl: string;
  source: string;
  every: string;
  lookBack: string;
  secrets: string;
}

const SOURCE_START = `function request({ since, until, cursor, secrets }) {
  return { url: cursor ?? "https://api.example.com/events?since=" + since, headers: { Authorization: "Bearer " + secrets[0] } };
}

function read({ status, body }) {
  if (status !== 200) throw new Error("The provider answered with status " + status);
  const page = JSON.parse(body);
  return { items: page.data.map((body) => ({ body })), cursor: page.next };
}`;

export function optionsOf(from: string): [name: string, option: ReconcileOption][] {
  return Object.entries(OPTIONS[from] ?? {});
}

export function draftOfReconcile({ reconcile }: Pick<Webhook, "reconcile">): ReconcileDraft {
  const { preset, source, every, lookBack, secrets: _, baseUrl, ...options }: Partial<WebhookReconcile> = reconcile ?? {};
  return {
    from: reconcile === null ? "" : (preset ?? OWN_SOURCE),
    options: Object.fromEntries(
      Object.entries(options).map(([name, value]) => [name, Array.isArray(value) ? value.join("\n") : String(value)]),
    ),
    baseUrl: typeof baseUrl === "string" ? baseUrl : "",
    source: source ?? SOURCE_START,
    every: every ?? RECONCILE_DEFAULTS.every,
    lookBack: lookBack ?? RECONCILE_DEFAULTS.lookBack,
    secrets: "",
  };
}

/** Null: off. */
export function reconcileBody({ from, options, baseUrl, source, every, lookBack, secrets }: ReconcileDraft) {
  if (from === "") return null;
  const times = { every: every.trim(), lookBack: lookBack.trim() };
  if (from === OWN_SOURCE) return { source, ...times, ...given(secrets) };
  const own = optionsOf(from).flatMap(([name, { isList }]) => {
    const lines = linesOf(options[name] ?? "");
    return lines.length === 0 ? [] : [[name, isList ? lines : lines[0]]];
  });
  return { preset: from, ...Object.fromEntries(own), ...(baseUrl.trim() && { baseUrl: baseUrl.trim() }), ...times, ...given(secrets) };
}
