/** A live tail that connects again after each break and goes on where it stopped: it has to see every event. */

import { setTimeout as sleep } from "node:timers/promises";
import { API_KEY } from "./processes.ts";

export interface Tail {
  /** Event IDs seen so far, with how often. */
  seen: ReadonlyMap<string, number>;
  stop(): void;
}

export function startTail(url: string): Tail {
  const seen = new Map<string, number>();
  const stopped = new AbortController();
  follow(url, seen, stopped.signal);
  return { seen, stop: () => stopped.abort() };
}

async function follow(url: string, seen: Map<string, number>, signal: AbortSignal): Promise<void> {
  let cursor = "";
  while (!signal.aborted) {
    try {
      const headers = { authorization: `Bearer ${API_KEY}`, ...(cursor && { "last-event-id": cursor }) };
      const response = await fetch(`${url}/v1/events/stream`, { headers, signal });
      let text = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const parts = (text + chunk).split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) cursor = note(part, seen) ?? cursor;
      }
    } catch {
      // The node is away; the tail goes on from its cursor.
    }
    await sleep(200);
  }
}

/** The cursor that comes with an event. */
function note(part: string, seen: Map<string, number>): string | undefined {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(part)?.[1];
  const data = field("data");
  if (field("event") === "event" && data) {
    const { id } = JSON.parse(data) as { id: string };
    seen.set(id, (seen.get(id) ?? 0) + 1);
  }
  return field("id");
}
