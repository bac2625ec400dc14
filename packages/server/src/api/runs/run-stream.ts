/**
 * REST: changes of runs, as server-sent events. Each message is the current state of a run; a run that changes often is sent less often
 * than it changes. A client that reconnects reads the list again: a stream does not resume.
 */

import type { RunNo } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { runView } from "../../observe/run-view.ts";
import { environmentOf } from "../access/rest-access.ts";
import { closed } from "../rest-schemas.ts";
import { answerStream, type StreamSource, type StreamSurroundings } from "../streams/server-sent.ts";
import type { RunsRoutesParts } from "./runs-routes.ts";

/** Changes are collected for this long. */
const GATHER_MS = 100;
/** If more runs change at once, the newest are sent. */
const RUNS_AT_ONCE_MAX = 100;

export type RunStreamParts = RunsRoutesParts & StreamSurroundings;

const STREAM_SCHEMA = {
  summary: "Follow runs live",
  description: "Server-sent events named `run`, each with a run as it is in lists: sent when a run is created and when it changes.",
  querystring: closed({ function: { type: "string", minLength: 1, description: "Runs of the function with this id." } }),
  response: {
    200: { description: "A continuous stream.", content: { "text/event-stream": { schema: { type: "string" } } } },
  },
  errors: ["overloaded"],
} as const;

export function registerRunStream(app: FastifyInstance, parts: RunStreamParts): void {
  app.get<{ Querystring: { function?: string } }>("/runs/stream", { schema: STREAM_SCHEMA }, async (request, reply) => {
    const environment = environmentOf(parts.access, request);
    const wanted = request.query.function === undefined ? null : parts.runs.functionNos(environment, request.query.function);
    const names = { environment: environment.name, function: parts.runs.functionName };
    let changed = new Set<RunNo>();

    async function nextMessages(): Promise<string> {
      const runNos = [...changed];
      changed = new Set();
      const runs = await parts.store.runSummaries({ environmentId: environment.id, runNos });
      const shown = runs.filter(({ functionNo }) => wanted === null || wanted.includes(functionNo));
      return shown.map((run) => `event: run\ndata: ${JSON.stringify(runView(run, names))}\n\n`).join("");
    }

    const source: StreamSource = {
      watch: (ring) =>
        parts.store.runWatch((runNos) => {
          for (const runNo of runNos) note(changed, runNo);
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
  });
}

/** Bounded, also while the client does not read: the run that changed longest ago is dropped first. */
function note(changed: Set<RunNo>, runNo: RunNo): void {
  changed.delete(runNo);
  changed.add(runNo);
  const [oldest] = changed;
  if (changed.size > RUNS_AT_ONCE_MAX && oldest !== undefined) changed.delete(oldest);
}
