/** Texts for jobs. */

import type { JobKindName, JobView } from "@inlet/protocol";

interface JobWords {
  title: string;
  /** The label of the button that starts it begins with this. */
  action: string;
  item: string;
}

const WORDS: Readonly<Record<JobKindName, JobWords>> = {
  "events.replay": { title: "Replay events", action: "Replay", item: "event" },
  "runs.rerun": { title: "Rerun runs", action: "Rerun", item: "run" },
  "runs.cancel": { title: "Cancel runs", action: "Cancel", item: "run" },
  "requests.replay": { title: "Replay webhook requests", action: "Replay", item: "request" },
  "webhooks.drill": { title: "Drill a webhook", action: "Drill", item: "request" },
  "events.erase": { title: "Erase events", action: "Erase", item: "event" },
  "environments.move": { title: "Move the environment", action: "Move", item: "row" },
  "webhooks.reconcile": { title: "Check what the provider lists", action: "Check", item: "item" },
};

export function wordsOf(kind: JobKindName): JobWords {
  return WORDS[kind] ?? { title: kind, action: "Start", item: "item" };
}

/** The filter in words, such as `status failed, function shop-charge`. */
export function filterText({ filter, function: fn }: Pick<JobView, "filter" | "function">): string {
  const parts = Object.entries(filter).map(([name, value]) =>
    name === "run" ? chosenText(String(value)) : `${name} ${filterValue(name, value)}`,
  );
  if (fn) parts.push(`only function ${fn}`);
  return parts.length === 0 ? "everything" : parts.join(", ");
}

/** Ids, separated by commas. */
function chosenText(ids: string): string {
  const { length } = ids.split(",");
  return length === 1 ? `run ${ids}` : `${length} selected runs`;
}

function filterValue(name: string, value: unknown): string {
  const isInstant = (name === "from" || name === "to") && /^\d+$/.test(String(value));
  return isInstant ? new Date(Number(value)).toISOString() : String(value);
}
