/**
 * Describes in sentences how a function that an app registers would behave here, for people who move from Inngest: its triggers, its
 * settings, and what is not supported or differs. Pure: nothing is registered.
 */

import { type FunctionConfig, readFunctionConfig } from "./function-config.ts";

export interface Difference {
  /** `unsupported`: the app could not be synced, or its runs would fail. `differs`: it runs, but not exactly as on Inngest. */
  kind: "unsupported" | "differs";
  sentence: string;
  advice: string;
}

export interface ExaminedFunction {
  id: string;
  triggers: string[];
  settings: string[];
  differences: Difference[];
}

/** Fields of a registration that are supported here. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "name",
  "triggers",
  "steps",
  "retries",
  "concurrency",
  "throttle",
  "rateLimit",
  "idempotency",
  "debounce",
  "batchEvents",
  "priority",
  "singleton",
  "Singleton",
  "cancel",
  "timeouts",
  // Shown there, and without effect on either side.
  "checkpoint",
  "optimizeParallelism",
  "description",
  "meta",
]);

export function examineFunction(registered: unknown): ExaminedFunction {
  const raw = (typeof registered === "object" && registered !== null ? registered : {}) as Record<string, unknown>;
  const id = typeof raw.id === "string" ? raw.id : "(without id)";
  if (isWorker(raw)) return { id, triggers: [], settings: [], differences: [WORKER] };
  const read = readFunctionConfig(registered);
  if ("faults" in read) return { id, triggers: [], settings: [], differences: read.faults.map(refusal) };
  const { config } = read;
  return { id, triggers: triggersOf(config), settings: settingsOf(config), differences: differencesOf(config) };
}

const WORKER: Difference = {
  kind: "unsupported",
  sentence: "it is served by a worker that connects by itself (Connect), which is not supported",
  advice: "Serve it over HTTP with the SDK's serve().",
};

function isWorker({ steps }: Record<string, unknown>): boolean {
  const [step] = Object.values((steps ?? {}) as Record<string, { runtime?: { type?: string; url?: string } } | null>);
  return step?.runtime?.type === "ws" || /^wss?:/.test(step?.runtime?.url ?? "");
}

function refusal(fault: string): Difference {
  return { kind: "unsupported", sentence: `a sync would be refused: ${fault}`, advice: "Change this setting of the function." };
}

function triggersOf({ triggers }: FunctionConfig): string[] {
  return triggers.map((trigger) => {
    if ("cron" in trigger) return `cron ${trigger.cron}`;
    const { event, expression } = trigger;
    return expression ? `event ${event} if ${expression}` : `event ${event}`;
  });
}

function settingsOf({
  retries,
  concurrency,
  throttle,
  rateLimit,
  debounce,
  batch,
  priority,
  singleton,
  ...rest
}: FunctionConfig): string[] {
  const { cancelOn, timeouts } = rest;
  const by = (key: string | null) => (key === null ? "" : ` by ${key}`);
  return [
    `retries ${retries}`,
    ...concurrency.map(({ limit, key, scope, counts }) => `concurrency ${limit} ${counts} per ${scope}${by(key)}`),
    ...(throttle ? [`throttle ${throttle.limit} per ${seconds(throttle.periodMs)}${by(throttle.key)}`] : []),
    ...(rateLimit ? [`rate limit ${rateLimit.limit} per ${seconds(rateLimit.periodMs)}${by(rateLimit.key)}`] : []),
    ...(debounce ? [`debounce ${seconds(debounce.periodMs)}${by(debounce.key)}`] : []),
    ...(batch ? [`batches of ${batch.maxSize} within ${seconds(batch.timeoutMs)}${by(batch.key)}`] : []),
    ...(priority ? [`priority ${priority.expression}`] : []),
    ...(singleton ? [`singleton, ${singleton.mode}${by(singleton.key)}`] : []),
    ...cancelOn.map(({ event }) => `cancelled by ${event}`),
    ...(timeouts.startMs === null ? [] : [`must start within ${seconds(timeouts.startMs)}`]),
    ...(timeouts.finishMs === null ? [] : [`must finish within ${seconds(timeouts.finishMs)}`]),
  ];
}

function differencesOf({ concurrency, raw }: FunctionConfig): Difference[] {
  const unknown = Object.keys(raw).filter((name) => !KNOWN_FIELDS.has(name) && raw[name] !== null);
  const found: Difference[] = unknown.map((name) => ({
    kind: "differs",
    sentence: `its setting ${name} is not known here and has no effect`,
    advice: "Check whether the function depends on it.",
  }));
  if (concurrency.some(({ scope }) => scope === "account")) {
    found.push({
      kind: "differs",
      sentence: "its concurrency limit of the scope account counts all environments of this installation",
      advice: "If environments must not share it, use the scope env, or an installation for each of them.",
    });
  }
  return found;
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
