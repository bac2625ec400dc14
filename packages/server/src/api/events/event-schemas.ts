/** The shape of an event in REST. */

import { SOURCE_KINDS } from "../../store/contract/index.ts";
import { BOOLEAN, INSTANT, INTEGER, listOf, shape, TEXT } from "../route-facts.ts";

export const EVENT = {
  ...shape(
    {
      id: { type: "string", description: "The ULID assigned by the service." },
      name: TEXT,
      data: { type: "object", additionalProperties: true, description: "As it was sent." },
      ts: { type: "integer", description: "Milliseconds: the sender's time, or the time of receipt if the sender set none." },
      receivedAt: INSTANT,
      environment: TEXT,
      source: shape(
        {
          kind: { type: "string", enum: SOURCE_KINDS },
          id: TEXT,
          name: TEXT,
          mirrored: { ...BOOLEAN, description: "True for a copy that the webhook of another environment mirrored here." },
          run: { ...TEXT, description: "The id of the run that sent it, or whose step or end caused it." },
        },
        { optional: ["mirrored", "run"] },
      ),
      duplicates: { ...INTEGER, description: "How many later events were ignored as duplicates of this one." },
      reconciled: { type: "boolean", description: "True: it did not arrive in a request. Reconciliation found it in the provider's list." },
      dedupId: { type: "string", description: "The sender's id, used for deduplication." },
      schema: {
        ...shape({ valid: BOOLEAN, errors: listOf({ type: "object", additionalProperties: true }) }),
        description: "How it breaks the schema declared for its name; absent if it does not, or is not checked.",
      },
    },
    { optional: ["reconciled", "dedupId", "schema"], title: "Event" },
  ),
  description: "All other fields that the sender set, such as `v` and `user`, are included.",
  additionalProperties: true,
};
