/** Finds what an id names: an event, a run, a job, a webhook request, or the event with that dedup id. */

import type { NavigateOptions } from "@tanstack/react-router";
import { ApiError, call } from "../api/client.ts";
import { eventPage } from "../api/queries.ts";

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

/** Where to go; null when nothing has this id. */
export async function findById(env: string, text: string): Promise<NavigateOptions | null> {
  if (ULID.test(text)) {
    const id = text.toUpperCase();
    if (await exists(env, `/events/${id}`)) return { to: "/env/$env/events/$id", params: { env, id } };
    if (await exists(env, `/runs/${id}`)) return { to: "/env/$env/runs/$id", params: { env, id } };
    if (await exists(env, `/jobs/${id}`)) return { to: "/env/$env/jobs/$id", params: { env, id } };
  }
  const { items } = await eventPage(env, { id: text }).catch(() => ({ items: [] }));
  const [event] = items;
  return event ? { to: "/env/$env/events/$id", params: { env, id: event.id }, search: { id: text } } : null;
}

async function exists(env: string, path: string): Promise<boolean> {
  try {
    await call(path, { env });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
