/**
 * `reconcile` of a webhook as REST accepts and shows it: a preset with what its provider's API needs, or a source with two functions.
 * Durations are shown as given. Secrets are accepted and never shown.
 */

import {
  parseDuration,
  RECONCILE_DEFAULTS,
  RECONCILE_PRESETS,
  type ReconcileOption,
  type ReconcilePreset,
  reconcileRecipient,
} from "@inlet/protocol";
import { SECRETS_MAX, type Webhook, type WebhookReconcile } from "../../store/contract/index.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";

export interface ReconcileSettingsParts {
  /** Returns the fault of a source, or null. */
  checkTransform(source: string, entry: "request" | "read"): Promise<{ message: string; line?: number; column?: number } | null>;
  now: () => number;
}

export interface GivenReconcile {
  preset?: ReconcilePreset;
  source?: string;
  secrets?: string[];
  every?: string;
  lookBack?: string;
  baseUrl?: string;
  [option: string]: unknown;
}

const PRESETS: Readonly<Record<string, Readonly<Record<string, ReconcileOption>>>> = RECONCILE_PRESETS;
const EVERY_MS_MIN = 10_000;
const EVERY_MS_MAX = 30 * 86_400_000;
const LOOK_BACK_MS_MIN = 1_000;
const LOOK_BACK_MS_MAX = 366 * 86_400_000;
/** JavaScript that a setting contains. */
export const SOURCE_UNITS_MAX = 65_536;
const OPTION_UNITS_MAX = 256;
const LIST_MAX = 100;
const DURATION = { type: "string", minLength: 1, maxLength: 32 } as const;

/** Every option of every preset. Which of them a preset takes is checked here. Options of one name have one type. */
const OPTIONS = Object.fromEntries(
  [
    ...Map.groupBy(
      Object.entries(PRESETS).flatMap(([preset, options]) =>
        Object.entries(options).map(([name, { isList, description }]) => ({ name, isList, about: `\`${preset}\`: ${description}` })),
      ),
      ({ name }) => name,
    ),
  ].map(([name, uses]) => [name, optionSchema(uses)]),
);

function optionSchema(uses: readonly { isList: boolean; about: string }[]) {
  const text = { type: "string", minLength: 1, maxLength: OPTION_UNITS_MAX } as const;
  const description = uses.map(({ about }) => about).join(" ");
  return uses[0]?.isList ? { type: "array", minItems: 1, maxItems: LIST_MAX, items: text, description } : { ...text, description };
}

const FIELDS = {
  preset: { type: "string", enum: Object.keys(PRESETS), description: "The provider whose API is asked." },
  source: {
    type: "string",
    minLength: 1,
    maxLength: SOURCE_UNITS_MAX,
    description: "Instead of a preset: JavaScript that defines `request` and `read`.",
  },
  every: { ...DURATION, description: `How often a comparison starts: at least \`10s\`, default \`${RECONCILE_DEFAULTS.every}\`.` },
  lookBack: { ...DURATION, description: `How far back each comparison looks; default \`${RECONCILE_DEFAULTS.lookBack}\`.` },
  baseUrl: { type: "string", minLength: 1, maxLength: 2_048, description: "Replaces the origin of the provider's API." },
  ...OPTIONS,
} as const;

export const RECONCILE_FIELDS = closed({
  ...FIELDS,
  secrets: {
    type: "array",
    minItems: 1,
    maxItems: SECRETS_MAX,
    items: { type: "string", minLength: 1, maxLength: 1_024 },
    description: "Keys of the provider's API. Write-only: they are never shown. If absent, the current ones are kept.",
  },
});
export const RECONCILE_SHOWN = { fields: FIELDS, optional: Object.keys(FIELDS).filter((name) => name !== "every" && name !== "lookBack") };

export function reconcileView(reconcile: WebhookReconcile) {
  const { preset, source, every, lookBack, options } = reconcile;
  return { ...(preset !== undefined && { preset }), ...(source !== undefined && { source }), every, lookBack, ...options };
}

/** Throws a RestRefusal that names the fault. */
export async function readReconcile(
  parts: ReconcileSettingsParts,
  given: GivenReconcile,
  current: Pick<Webhook, "reconcile" | "secrets">,
): Promise<WebhookReconcile> {
  const { preset, source, secrets, every = RECONCILE_DEFAULTS.every, lookBack = RECONCILE_DEFAULTS.lookBack, ...options } = given;
  if ((preset === undefined) === (source === undefined)) throw invalid("reconcile", "must have either preset or source");
  checkDuration("every", every, EVERY_MS_MIN, EVERY_MS_MAX, "from 10s to 30d");
  checkDuration("lookBack", lookBack, LOOK_BACK_MS_MIN, LOOK_BACK_MS_MAX, "from 1s to 366d");
  if (source !== undefined) await checkSource(parts, source);
  checkOptions(preset, options);
  const read = { ...(preset !== undefined && { preset }), ...(source !== undefined && { source }), every, lookBack, setAt: parts.now() };
  const reconcile: WebhookReconcile = { ...read, options: options as WebhookReconcile["options"] };
  checkSecrets(reconcile, secrets, current);
  return reconcile;
}

function checkDuration(field: string, text: string, minMs: number, maxMs: number, range: string): void {
  const ms = parseDuration(text);
  if (ms === null) throw invalid(`reconcile.${field}`, `must be a duration such as "15m" or "72h", not "${text}"`);
  if (ms < minMs || ms > maxMs) throw invalid(`reconcile.${field}`, `must be ${range}`);
}

async function checkSource(parts: ReconcileSettingsParts, source: string): Promise<void> {
  for (const entry of ["request", "read"] as const) {
    const fault = await parts.checkTransform(source, entry);
    if (!fault) continue;
    const sentence = `The source of reconcile cannot be used: ${fault.message}.`;
    throw new RestRefusal("request_invalid", sentence, [{ field: "reconcile.source", ...fault }]);
  }
}

function checkOptions(preset: string | undefined, given: Readonly<Record<string, unknown>>): void {
  const known = preset === undefined ? {} : (PRESETS[preset] ?? {});
  const { baseUrl, ...options } = given;
  if (baseUrl !== undefined && preset === undefined) throw invalid("reconcile.baseUrl", "is only for presets: a source names its own URL");
  if (typeof baseUrl === "string" && !isWebUrl(baseUrl)) throw invalid("reconcile.baseUrl", "must be an http or https URL without a query");
  for (const name of Object.keys(options)) {
    if (!known[name])
      throw invalid(
        `reconcile.${name}`,
        preset === undefined ? "is only for presets: leave it out" : `is not for the preset ${preset}: leave it out`,
      );
  }
  for (const [name, { isRequired, isList, pattern, description }] of Object.entries(known)) {
    const value = options[name];
    if (value === undefined && isRequired) throw invalid(`reconcile.${name}`, `is required by the preset ${preset}`);
    const texts = value === undefined ? [] : isList ? (value as string[]) : [value as string];
    if (texts.some((text) => !new RegExp(pattern).test(text)))
      throw invalid(`reconcile.${name}`, `is not valid. ${description.replace(/\.$/, "")}`);
  }
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "" && url.password === ""
  );
}

/** Stored secrets stay with whom they were given for: another source or address could reveal them. */
function checkSecrets(
  reconcile: WebhookReconcile,
  given: readonly string[] | undefined,
  { reconcile: before, secrets }: Pick<Webhook, "reconcile" | "secrets">,
): void {
  if (given) return;
  const isKept = secrets.reconcile.length > 0;
  if (isKept && before && reconcileRecipient(before) !== reconcileRecipient(reconcile)) {
    throw invalid(
      "reconcile.secrets",
      "must be given again, because the preset, source or address changed: stored secrets are not sent to a new one",
    );
  }
  if (!isKept && reconcile.preset !== undefined) throw invalid("reconcile.secrets", `is required by the preset ${reconcile.preset}`);
}
