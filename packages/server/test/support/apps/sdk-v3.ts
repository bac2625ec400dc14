/** The published Inngest SDK, version 3. */

import { type Client, loadUntyped, type PublishedSdk, SILENT_LOGGER } from "./published-sdk.ts";

const { Inngest, NonRetriableError, RetryAfterError } = await loadUntyped("inngest-v3");
const { fastifyPlugin } = await loadUntyped("inngest-v3/fastify");
const { serve: serveNode } = await loadUntyped("inngest-v3/node");

export const V3: PublishedSdk = {
  name: "v3",
  NonRetriableError,
  RetryAfterError,
  client({ signingKey: _signingKey, signingKeyFallback: _fallback, checkpointing: _checkpointing, ...options }) {
    const client = new Inngest({ ...options, logger: SILENT_LOGGER });
    const create = client.createFunction;
    const createFunction: Client["createFunction"] = (settings, triggers, handler) => create.call(client, settings, triggers, handler);
    return Object.assign(client, { createFunction });
  },
  listener: (client, functions, signingKey, signingKeyFallback) => serveNode({ client, functions, signingKey, signingKeyFallback }),
  streaming: (client, functions, signingKey) => serveNode({ client, functions, signingKey, streaming: "force" }),
  onFastify: (app, client, functions, signingKey) => void app.register(fastifyPlugin, { client, functions, options: { signingKey } }),
};
