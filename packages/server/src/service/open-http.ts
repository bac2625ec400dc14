/** The HTTP server with the routes that accept events. */

import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { EventLife } from "../flows/event-life.ts";
import { BodyBudget } from "../receive/bodies/body-budget.ts";
import { createClientIp, createProxyCheck } from "../receive/connections/client-ip.ts";
import { createDevGuard } from "../receive/connections/dev-guard.ts";
import { RefusalPacer } from "../receive/quotas/refusal-pacer.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { Store } from "../store/contract/index.ts";
import { createHttpServer } from "./http-server.ts";
import { isLoopback } from "./loopback.ts";

export interface HttpParts {
  config: Config;
  directory: Directory;
  receive: EventLife;
  store: Pick<Store, "storeDatabases">;
  isDraining: () => boolean;
  log: Logger;
  now: () => number;
}

export function openHttp({ config, directory, receive, store, isDraining, log, now }: HttpParts): FastifyInstance {
  const { mode, host, publicUrl, allowOrigin: allowedOrigins } = config;
  const guard = mode === "dev" ? createDevGuard({ host, loopbackOnly: isLoopback(host), publicUrl, allowedOrigins }) : null;
  const connections = {
    firstByteMs: config.firstByteTimeout,
    stallMs: config.stallTimeout,
    connectionsMax: config.addressConnections,
    isProxy: createProxyCheck(config.trustProxy),
    log,
  };
  const edge = {
    receive,
    log,
    isDraining,
    guard,
    hasHandshake: (keyText: string) => directory.webhookWithToken(keyText)?.webhook.handshake != null,
    budget: new BodyBudget(config.queueLimit, () => store.storeDatabases().length > 1),
    pacer: new RefusalPacer(now),
    clientIp: createClientIp(config.trustProxy),
    connections,
  };
  return createHttpServer(edge, config.trustProxy, log);
}
