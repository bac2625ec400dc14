/**
 * Inngest's REST API, for requests with a signing key (peer-requests.ts): the same paths under `/v1` as ours with the shapes that its
 * clients expect, and version 2 for apps and functions. Credentials are checked before a body is read, wrong ones are
 * counted per address, and changes are recorded in the audit log, as everywhere.
 */

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { requestEnvironment } from "../access/request-environment.ts";
import { acceptSdks, type SdkRoutesParts } from "../sdk/sdk-routes.ts";
import { type PeerAppsParts, registerPeerApps } from "./apps-routes.ts";
import { type PeerCancellationsParts, registerPeerCancellations } from "./cancellations-routes.ts";
import { type PeerEventsParts, registerPeerEvents } from "./events-routes.ts";
import { registerPeerConstraint } from "./peer-requests.ts";
import { registerPeerErrors } from "./responses.ts";
import { type PeerRunsParts, registerPeerRuns } from "./runs-routes.ts";
import { registerUnsupported } from "./unsupported-routes.ts";

export interface PeerApiParts
  extends Omit<PeerEventsParts & PeerRunsParts & PeerCancellationsParts & PeerAppsParts, "environmentOf">,
    Pick<SdkRoutesParts, "isDev" | "directory" | "defaultEnvironment" | "attempts"> {
  isApiKey(text: string): boolean;
  log: Logger;
}

export function registerPeerApi(app: FastifyInstance, parts: PeerApiParts): void {
  registerPeerConstraint(app, { ...parts, signingKeyOf: (bearer) => parts.directory.signingKeyOf(bearer) });
  app.register(async (routes) => {
    acceptSdks(routes, parts);
    registerPeerErrors(routes, parts.log);
    const all = { ...parts, environmentOf: (request: FastifyRequest) => requestEnvironment(parts, request) };
    registerPeerEvents(routes, all);
    registerPeerRuns(routes, all);
    registerPeerCancellations(routes, all);
    registerPeerApps(routes, all);
    registerUnsupported(routes);
  });
}
