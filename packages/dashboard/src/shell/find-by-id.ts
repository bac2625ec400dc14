/** Finds the object with an id: an event, a run, a job, a webhook request, or the event with that dedup id. */

import type { NavigateOptions } from "@tanstack/react-router";
import { callForAll } from "../api/client.ts";

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

/** The page to open; null if nothing has this id. */
export async function findById(env: string, text: string): Promise<NavigateOptions | null> {
  if (text.length > ID_UNITS_MAX) return null;
  const [found] = await callForAll<Found>("/find", { env, query: { id: text } });
  return found ? pageOf(env, found) : null;
}

function pageOf(env: string, { kind, id, webhook = "", dedupId }: Found): NavigateOptions {
  if (kind === "run") return { to: "/env/$env/runs/$id", params: { env, id } };
  if (kind === "job") return { to: "/env/$env/jobs/$id", params: { env, id } };
  if (kind === "request") return { to: "/env/$env/webhooks/$id", params: { env, id: webhook }, search: { tab: "requests", request: id } };
  return { to: "/env/$env/events/$id", params: { env, id }, search: dedupId === undefined ? {} : { id: dedupId } };
}
