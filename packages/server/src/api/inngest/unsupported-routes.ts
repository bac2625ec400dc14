/** What published SDKs can ask for and the service does not have: the response says what to do instead. */

import type { FastifyInstance } from "fastify";
import { RestRefusal } from "../rest-errors.ts";
import { FOR_PEER } from "./peer-requests.ts";

const UNSUPPORTED: readonly { paths: readonly string[]; message: string }[] = [
  {
    paths: ["/v2/sandboxes", "/v2/sandboxes/*", "/v2/snapshots", "/v2/snapshots/*"],
    message: "Sandboxes are a service of Inngest Cloud. Run the work in a step (step.run), or call your own machines from one.",
  },
  {
    paths: [
      "/v1/checkpoint",
      "/v1/checkpoint/:id/steps",
      "/v1/checkpoint/:id/output",
      "/v1/http/runs",
      "/v1/http/runs/:id/steps",
      "/v1/http/runs/:id/output",
      "/v1/http/runs/:id/response",
    ],
    message: "Durable endpoints are not supported. Send an event from the endpoint, and do the work in a function that it starts.",
  },
  {
    paths: ["/v1/runs/:id/metadata"],
    message: "Metadata of runs and steps is not stored. Return it from a step: step results are shown with the run.",
  },
];

export function registerUnsupported(app: FastifyInstance): void {
  for (const { paths, message } of UNSUPPORTED) {
    for (const url of paths) {
      app.route({
        method: ["GET", "POST", "DELETE"],
        url,
        constraints: FOR_PEER,
        handler: async () => {
          throw new RestRefusal("sdk_feature_unsupported", message);
        },
      });
    }
  }
}
