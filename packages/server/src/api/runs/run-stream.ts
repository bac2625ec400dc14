/**
 * REST: changes of runs, as server-sent events. Each message is the current state of a run; a run that changes often is sent less often
 * than it changes. A client that reconnects reads the list again: a stream does not resume. So does a client that is sent a gap: more runs
 * changed at once than the stream sends.
 */

import type { RunNo } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { runView } from "../../observe/run-view.ts";
import { environmentOf } from "../access/rest-access.ts";
import { shownTo } from "../approvals/mask-links.ts";
import { closed } from "../rest-schemas.ts";
import { answerStream, type StreamSource, type StreamSurroundings } from "../streams/server-sent.ts";
import type { RunsRoutesParts } from "./runs-routes.ts";

const GAP = 'event: gap\ndata: {"kind":"gap"}\n\n';

/** Changes are collected for this long. */
const GATHER_MS = 100;
/** If more runs change at once, those that changed last are sent, followed by a message that says so. */
const RUNS_AT_ONCE_MAX = 100;

export type RunStreamParts = RunsRoutesParts & StreamSurroundings;

const STREAM_SCHEMA = {
  summary: "Follow runs live",
  description:
    "Server-sent events named `run`, each with a run as it is in lists: sent when a run is created and when it changes. If more runs change at once than the stream sends, an event named `gap` follows those that are sent: read the list again.",
  querystring: closed({ function: { type: "string", minLength: 1, description: "Runs of the function with this id." } }),
  response: {
    200: { description: "A continuous stream.", content: { "text/event-stream": { schema: { type: "string" } } } },
  },
  errors: ["overloaded"],
} as const;

export function registerRunStream(app: FastifyInstance, parts: RunStreamParts): void {
  app.get<{ Querystring: { function?: string } }>(
    "/runs/stream",
    { config: { about: "environment" }, schema: STREAM_SCHEMA },
    async (request, reply) => {
      const environment = environmentOf(parts.access, request);
      const wanted = request.query.function === undefined ? null : parts.runs.functionNos(environment, request.query.function);
      const names = { environment: environment.name, function: parts.runs.functionName };
      const masked = shownTo(parts.access, request);
      let changed = new Set<RunNo>();
      let hasGap = false;

      async function nextMessages(): Promise<string> {
        const runNos = [...changed];
        const gap = hasGap ? GAP : "";
        changed = new Set();
        hasGap = false;
        const runs = await parts.store.runSummaries({ environmentId: environment.id, runNos });
        const shown = runs.filter(({ functionNo }) => wanted === null || wanted.includes(functionNo));
        return shown.map((run) => `event: run\ndata: ${masked(JSON.stringify(runView(run, names)))}\n\n`).join("") + gap;
      }

      const source: StreamSource = {
        watch: (ring) =>
          parts.store.runWatch((runNos) => {
            for (const runNo of runNos) if (!note(changed, runNo)) hasGap = true;
            ring();
          }),
        async follow(stream, alarm) {
          while (!stream.isEnded) {
            await alarm.rung();
            await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
            const messages = await nextMessages();
            if (messages !== "" && !stream.write(messages)) await stream.caughtUp();
          }
        },
      };
      return answerStream(parts, reply, async () => source);
    },
  );
}

/** Bounded, also while the client does not read: the run that changed longest ago is dropped first. Returns whether none was dropped. */
function note(changed: Set<RunNo>, runNo: RunNo): boolean {
  changed.delete(runNo);
  changed.add(runNo);
  const [oldest] = changed;
  if (changed.size <= RUNS_AT_ONCE_MAX || oldest === undefined) return true;
  changed.delete(oldest);
  return false;
}
