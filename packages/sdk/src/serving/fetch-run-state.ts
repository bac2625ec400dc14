/** Fetches events and steps from the service, for runs whose state is too large for a call. */

import type { Settings } from "../client/settings.ts";
import type { ReceivedEvent } from "../events/event-types.ts";
import type { CallBody } from "../wire/call-body.ts";
import type { StepMemos } from "../wire/step-operations.ts";
import { askService } from "./ask-service.ts";

export async function fetchRunState(settings: Settings, body: CallBody): Promise<CallBody> {
  const path = `/v0/runs/${encodeURIComponent(body.runId)}`;
  const [events, steps] = await Promise.all([fetchJson(settings, `${path}/batch`), fetchJson(settings, `${path}/actions`)]);
  if (!Array.isArray(events) || events.length === 0) throw new Error(`The service has no events for run ${body.runId}`);
  if (typeof steps !== "object" || steps === null) throw new Error(`The service has no steps for run ${body.runId}`);
  return { ...body, event: events[0] as ReceivedEvent, events: events as ReceivedEvent[], steps: steps as StepMemos };
}

async function fetchJson(settings: Settings, path: string): Promise<unknown> {
  const { status, text } = await askService(settings, { method: "GET", path });
  if (status !== 200) throw new Error(`The service answered ${status} to ${path}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}
