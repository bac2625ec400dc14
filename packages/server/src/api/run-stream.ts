/**
 * REST: runs as they change, as server-sent events. Each message is a run as it is now; a run that changes often is sent less often
 * than it changes. Who connects again reads the list anew: a stream does not go back.
 */

import { Refusal, type RunNo } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { runView } from "../observe/run-view.ts";
import { environmentOf } from "./rest-access.ts";
import { sendRefusal } from "./rest-errors.ts";
import { closed } from "./rest-schemas.ts";
import type { RunsRoutesParts } from "./runs-routes.ts";
import { type Alarm, drained, openStream } from "./server-sent.ts";

const STREAMS_MAX = 500;
/** Changes are gathered for this long. */
const GATHER_MS = 100;
/** Of more changes than this at once, the newest are shown. */
const RUNS_AT_ONCE_MAX = 100;

export interface RunStreamParts extends RunsRoutesParts {
  drained: AbortSignal;
  log: Logger;
}

const STREAM_PARAMETERS = closed({ function: { type: "string", minLength: 1, description: "Runs of the function with this id." } });

export function registerRunStream(app: FastifyInstance, parts: RunStreamParts): void {
  let streams = 0;
  app.get<{ Querystring: { function?: string } }>(
    "/runs/stream",
    { schema: { querystring: STREAM_PARAMETERS } },
    async (request, reply) => {
      const environment = environmentOf(parts.access, request);
      if (streams >= STREAMS_MAX) return sendRefusal(reply, new Refusal("overloaded", `${STREAMS_MAX} streams are open already.`));
      const wanted = request.query.function === undefined ? null : parts.runs.functionNos(environment, request.query.function);
      const names = { environment: environment.name, function: parts.runs.functionName };
      let changed = new Set<RunNo>();
      const follow = async (alarm: Alarm, ended: () => boolean) => {
        while (!ended()) {
          await alarm.rung();
          await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
          const runNos = [...changed].slice(-RUNS_AT_ONCE_MAX);
          changed = new Set();
          const runs = await parts.store.runSummaries({ environmentId: environment.id, runNos });
          const shown = runs.filter(({ functionNo }) => wanted === null || wanted.includes(functionNo));
          const sent = shown.map((run) => `event: run\ndata: ${JSON.stringify(runView(run, names))}\n\n`);
          if (sent.length > 0 && !ended() && !reply.raw.write(sent.join(""))) await drained(reply.raw);
        }
      };
      const watch = (ring: () => void) =>
        parts.store.runWatch((runNos) => {
          for (const runNo of runNos) changed.add(runNo);
          ring();
        });
      reply.hijack();
      streams++;
      try {
        await openStream(reply.raw, { stopped: parts.drained, watch, follow });
      } catch (error) {
        parts.log.warn({ err: error }, "a stream of runs ended early");
      } finally {
        streams--;
        reply.raw.end();
      }
    },
  );
}
