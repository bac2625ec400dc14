/**
 * Finds the object with an id: an event, a run, a job, a webhook request, or the event with that dedup id. Looks in the environment that is
 * shown, then in the others.
 */

import type { NavigateOptions } from "@tanstack/react-router";
import { callForAll } from "../api/client.ts";
import type { Environment } from "../api/types.ts";

interface Found {
  kind: "event" | "run" | "job" | "request";
  id: string;
  name: string;
  /** Of a request. */
  webhook?: string;
  /** Of an event that was found by it. */
  dedupId?: string;
}

/** Longer texts are not ids. */
const ID_UNITS_MAX = 512;
/** An id that the service gave, and no other environment has. */
const SERVICE_ID = /^(?:req_)?[0-9a-hjkmnp-tv-z]{26}$/i;
/** The environment of what all branches share. */
const SHARED = "branch";

/** At most so many other environments are asked. */
const OTHERS_MAX = 50;

/** The page to open; null if nothing has this id. */
export async function findById(env: string, text: string): Promise<NavigateOptions | null> {
  if (text.length > ID_UNITS_MAX) return null;
  const here = await pageIn(env, text);
  // Other texts are ids of senders, which may name something else elsewhere.
  if (here || !SERVICE_ID.test(text.trim())) return here;
  const environments = await callForAll<Environment>("/environments", {});
  const others = environments.map(({ name }) => name).filter((name) => name !== env);
  for (const other of [...others.slice(0, OTHERS_MAX), SHARED]) {
    const page = await pageIn(other, text).catch(() => null);
    if (page) return page;
  }
  return null;
}

async function pageIn(env: string, text: string): Promise<NavigateOptions | null> {
  const [found] = await callForAll<Found>("/find", { env, query: { id: text } });
  return found ? pageOf(env, found) : null;
}

function pageOf(env: string, { kind, id, webhook = "", dedupId }: Found): NavigateOptions {
  if (kind === "run") return { to: "/env/$env/runs/$id", params: { env, id } };
  if (kind === "job") return { to: "/env/$env/jobs/$id", params: { env, id } };
  if (kind === "request") return { to: "/env/$env/webhooks/$id", params: { env, id: webhook }, search: { tab: "requests", request: id } };
  return { to: "/env/$env/events/$id", params: { env, id }, search: dedupId === undefined ? {} : { id: dedupId } };
}
