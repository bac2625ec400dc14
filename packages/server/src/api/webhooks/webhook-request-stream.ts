/** REST: the requests of a webhook as they arrive, including refused ones, as server-sent events in commit order. */

import type { FastifyInstance } from "fastify";
import type { Environment, StoreViews, Webhook, WebhookRequestStore } from "../../store/contract/index.ts";
import type { AccessRules } from "../access/rest-access.ts";
import { shownTo } from "../approvals/mask-links.ts";
import { readInstant } from "../instant.ts";
import { closed } from "../rest-schemas.ts";
import { type MessageSource, readCursor, STREAM_READ_BYTES, type StoreStreamParts, sendStream } from "../streams/store-stream.ts";
import { findWebhook } from "./find-webhook.ts";
import { requestView } from "./request-view.ts";

const READ_REQUESTS_MAX = 20;

export type WebhookRequestStreamParts = StoreStreamParts & {
  access: AccessRules;
  store: WebhookRequestStore;
  views: StoreViews;
  directory: Parameters<typeof findWebhook>[0] & { environment(id: Environment["id"]): Environment | undefined };
};

const STREAM_PARAMETERS = closed({
  after: { type: "string", description: "Resume after this request, like the header Last-Event-ID." },
  from: {
    type: "string",
    description: "Start at this time of receipt (inclusive): ISO 8601 or milliseconds. A cursor takes precedence.",
  },
});

const STREAM_SCHEMA = {
  summary: "Follow the requests of a webhook live",
  description: "Server-sent events named `request`, refused requests too; the `id` of the last one resumes the stream.",
  querystring: STREAM_PARAMETERS,
  response: {
    200: { description: "A continuous stream.", content: { "text/event-stream": { schema: { type: "string" } } } },
  },
  errors: ["overloaded", "webhook_not_found"],
} as const;

export function registerWebhookRequestStream(app: FastifyInstance, parts: WebhookRequestStreamParts): void {
  app.get<{ Params: { id: string }; Querystring: { after?: string; from?: string } }>(
    "/webhooks/:id/requests/stream",
    { config: { about: "item", ingest: true }, schema: STREAM_SCHEMA },
    async (request, reply) => {
      const webhook = findWebhook(parts.directory, request, request.params.id);
      const { after, from } = request.query;
      const cursor = readCursor(after ?? request.headers["last-event-id"]);
      const receivedFrom = from === undefined ? null : readInstant("from", from);
      const shown = shownTo(parts.access, request);
      return sendStream(parts, reply, () => requestSource(parts, webhook, { cursor, receivedFrom, shown }));
    },
  );
}

interface Wanted {
  cursor: number | null;
  receivedFrom: number | null;
  /** What the reader may see of a text. */
  shown(text: string): string;
}

async function requestSource(
  { store, views, directory }: WebhookRequestStreamParts,
  { environmentId, id: webhookId }: Webhook,
  { cursor, receivedFrom, shown }: Wanted,
): Promise<MessageSource> {
  const since = () =>
    receivedFrom === null
      ? store.webhookRequestSequence({ environmentId })
      : store.webhookRequestSequenceBefore({ environmentId, webhookId, receivedFrom });
  return {
    // As in the stream of events: a cursor may be of another store.
    from: cursor === null ? await since() : Math.min(cursor, await store.webhookRequestSequence({ environmentId })),
    async read(after, isLive) {
      const { requests, reached } = await (isLive ? store : views).webhookRequestFollow({
        environmentId,
        webhookId,
        after,
        limit: READ_REQUESTS_MAX,
        bytesMax: STREAM_READ_BYTES,
      });
      const chosen = requests.filter(({ receivedAt }) => receivedFrom === null || receivedAt >= receivedFrom);
      const messages = chosen.map((record) => ({
        cursor: record.sequence,
        event: "request",
        json: shown(JSON.stringify(requestView(record, directory.environment(record.deliveredTo)?.name ?? ""))),
      }));
      return { messages, reached };
    },
  };
}
