/** `GET /metrics`: for API keys with the role metrics, or any role that may read, and public on a separate address if one is set. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { includesEnvironment } from "./access/grants.ts";
import { type AccessRules, environmentsAllowed, registerAccess } from "./access/rest-access.ts";
import { registerNoStore } from "./access/security-headers.ts";

export interface MetricsSource {
  text(): Promise<{ contentType: string; body: string }>;
}

/** Who is restricted to environments gets the series of these only: series without an environment cover the whole installation. */
export function registerMetricsRoute(app: FastifyInstance, { metrics, access }: { metrics: MetricsSource; access: AccessRules }): void {
  app.register(async (scope) => {
    registerNoStore(scope);
    registerAccess(scope, access);
    scope.get("/metrics", { config: { about: "visible", metrics: true, ingest: true } }, async (request, reply) => {
      const allowed = environmentsAllowed(request);
      const { contentType, body } = await metrics.text();
      if (allowed === null) return reply.type(contentType).send(body);
      const names = access.directory.environments().filter((environment) => includesEnvironment(allowed, environment));
      return reply.type(contentType).send(seriesOf(body, new Set(names.map(({ name }) => name))));
    });
  });
}

/** Names of environments need no escapes in a label. */
function seriesOf(text: string, environments: ReadonlySet<string>): string {
  const isShown = (line: string) =>
    line === "" || line.startsWith("#") || environments.has(/[{,]environment="([^"]*)"/.exec(line)?.[1] ?? "");
  return text.split("\n").filter(isShown).join("\n");
}

export interface MetricsListener {
  url: string;
  stop(): Promise<void>;
}

/** Serves only metrics, to any client that can reach the address. Rejects if it cannot listen on the address. */
export async function listenForMetrics({ host, port }: { host: string; port: number }, metrics: MetricsSource): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const isWanted = request.method === "GET" && request.url?.split("?", 1)[0] === "/metrics";
    if (!isWanted) return void response.writeHead(404, { "content-type": "text/plain" }).end("Only GET /metrics is here.\n");
    metrics
      .text()
      .then(
        ({ contentType, body }) => response.writeHead(200, { "content-type": contentType }).end(body),
        () => response.writeHead(500).end(),
      )
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { address, family, port: given } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://${family === "IPv6" ? `[${address}]` : address}:${given}/metrics`, stop };
}
