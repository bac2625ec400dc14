/**
 * REST: sends a signal to the run that waits for it. Called with API keys, and by published SDKs with their app's signing key. Apps send
 * signals like events: the response has the shape of their SDK, and the audit log gets no entry.
 */

import type { RunId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { type Environment, SIGNAL_UNITS_MAX } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { memberText } from "../body-text.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, JSON_VALUE, shape, TEXT } from "../route-facts.ts";

export interface SignalsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  signals: {
    /** The run that waited for the signal and now continues; null if none did. `data` is JSON text. */
    send(environment: Environment, signal: string, data: string): Promise<RunId | null>;
  };
}

interface SignalBody {
  signal: string;
}

const SEND = {
  summary: "Send a signal",
  description: "Resumes the run that waits for the signal with `step.waitForSignal`. A signal that no run waits for is not stored.",
  querystring: closed({}),
  body: closed(
    {
      signal: { type: "string", minLength: 1, maxLength: SIGNAL_UNITS_MAX, description: "The name the run waits for." },
      data: { ...JSON_VALUE, description: "Any JSON value, which the step returns." },
    },
    ["signal"],
  ),
  response: { 200: dataOf(shape({ runId: { ...TEXT, description: "The run that was resumed." } })) },
  errors: ["signal_not_found"],
} as const;

export function registerSignalsRoutes(app: FastifyInstance, { access, audit, signals }: SignalsRoutesParts): void {
  app.post<{ Body: SignalBody }>(
    "/signals",
    { config: { about: "environment", repair: true, signingKey: true, keepsBodyText: true }, schema: SEND },
    async (request) => {
      const environment = environmentOf(access, request);
      const { signal } = request.body;
      const runId = await signals.send(environment, signal, memberText(request.body, "data") ?? "null");
      if (runId === null)
        throw new RestRefusal("signal_not_found", `No run waits for this signal in the environment "${environment.name}".`);
      const { kind } = principalOf(request);
      if (kind === "signing-key") return { data: { run_id: runId } };
      await audit.note(request, { action: "signal.sent", target: { kind: "run", id: runId, name: runId }, environment: environment.name });
      // A dev server cannot always recognise a published SDK: not every version identifies itself here.
      return { data: kind === "dev" ? { runId, run_id: runId } : { runId } };
    },
  );
}
