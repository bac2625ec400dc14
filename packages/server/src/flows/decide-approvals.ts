/** Approvals from outside of runs: requested over REST for a signal, and decided over REST, in the dashboard or on their own page. */

import type { EnvironmentId, EventIdGenerator } from "@inlet/protocol";
import { approvalUrl } from "../api/approvals/approval-url.ts";
import type { ApprovalsPart } from "../api/approvals/approvals-part.ts";
import { decidedBatch, requestedEvent } from "../execute/steps/approval-events.ts";
import { internalBatch } from "../execute/steps/end-events.ts";
import { approvalStatus, type ClaimedEntry, type Lease, type NewApproval, type NewEvent, type Store } from "../store/contract/index.ts";

export interface DecideApprovalsParts {
  store: Pick<Store, "approvalRequest" | "approvalDecide" | "storeLinkToken">;
  /** Adds what an event starts. */
  plan(environmentId: EnvironmentId, event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  eventIds: EventIdGenerator;
  now(): number;
}

export function createApprovals({ store, plan, lease, take, eventIds, now }: DecideApprovalsParts): ApprovalsPart {
  const token = (id: string) => store.storeLinkToken(id);
  return {
    token,
    statusOf: (approval) => approvalStatus(approval, now()),
    async request(environmentId, { baseUrl, ...asked }) {
      const at = now();
      const id = eventIds.next(at) as string;
      const approval: NewApproval = { id, stepId: null, createdAt: at, requestEventId: eventIds.next(at), ...asked };
      const url = approvalUrl(baseUrl, id, token(id));
      const requested = await store.approvalRequest({
        environmentId,
        approval,
        now: at,
        lease: lease(),
        event: (runId) => internalBatch(environmentId, at, [plan(environmentId, requestedEvent(approval, url, runId, at), at)]),
      });
      take(requested.leased);
      return requested.approval;
    },
    async decide(environmentId, id, made) {
      const at = now();
      const eventId = eventIds.next(at);
      const decided = await store.approvalDecide({
        environmentId,
        id,
        made,
        now: at,
        lease: lease(),
        event: (approval) => decidedBatch({ plan }, approval, made, { eventId, now: at }),
      });
      take(decided.leased);
      return decided;
    },
  };
}
