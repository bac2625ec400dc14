/** The published Inngest SDK, version 4. */

import { type Client, loadUntyped, type PublishedSdk, SILENT_LOGGER } from "./published-sdk.ts";

const { Inngest, NonRetriableError, RetryAfterError } = await loadUntyped("inngest");
const { createDefer } = await loadUntyped("inngest/experimental");
const { fastifyPlugin } = await loadUntyped("inngest/fastify");
const { serve: serveNode } = await loadUntyped("inngest/node");

export const V4: PublishedSdk = {
  name: "v4",
  NonRetriableError,
  RetryAfterError,
  client(options) {
    const client = new Inngest({ ...options, sessionPropagation: true, logger: SILENT_LOGGER });
    const create = client.createFunction;
    const createFunction: Client["createFunction"] = (settings, triggers, handler) =>
      create.call(client, { ...settings, triggers }, handler);
    return Object.assign(client, { createFunction });
  },
  createDefer: (client, options, handler) => createDefer(client, options, handler),
  listener: (client, functions) => serveNode({ client, functions }),
  streaming: (client, functions) => serveNode({ client, functions, streaming: true }),
  onFastify: (app, client, functions) => void app.register(fastifyPlugin, { client, functions, options: {} }),
};
