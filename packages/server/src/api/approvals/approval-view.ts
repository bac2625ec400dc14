/** Approvals as REST shows them. `data` is included as it was written, so the view is JSON text. */

import type { FunctionNo } from "@inlet/protocol";
import type { FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import { APPROVAL_STATUSES, type Approval, DECISIONS, type Environment } from "../../store/contract/index.ts";
import { callerRole, principalOf } from "../access/principal.ts";
import { seesSecrets } from "../access/roles.ts";
import { type OwnAddressRules, ownAddress } from "../own-address.ts";
import { BOOLEAN, INSTANT, INSTANT_OR_NULL, JSON_VALUE, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { approvalUrl, maskedApprovalUrl } from "./approval-url.ts";
import type { ApprovalsPart } from "./approvals-part.ts";

export interface ApprovalViewParts extends OwnAddressRules {
  approvals: Pick<ApprovalsPart, "token" | "statusOf">;
  runs: { functionName(no: FunctionNo): { id: string; name: string; app: string } };
}

export const APPROVAL = shape(
  {
    id: TEXT,
    status: { type: "string", enum: APPROVAL_STATUSES },
    environment: TEXT,
    prompt: TEXT,
    data: { ...JSON_VALUE, description: "What was asked about." },
    url: { ...TEXT, description: "The page that asks. Its last part is a secret, and is hidden from those who may not see webhook URLs." },
    confirmReject: { ...BOOLEAN, description: "Whether the page asks for confirmation before it rejects." },
    signal: { ...TEXT_OR_NULL, description: "The signal that it answers. Null: a step of `step.waitForApproval`." },
    runId: { ...TEXT_OR_NULL, description: "The run that waits for it. Null: none does yet." },
    stepId: TEXT_OR_NULL,
    function: { anyOf: [shape({ id: TEXT, name: TEXT }), { type: "null" }], description: "The function of that run." },
    app: TEXT_OR_NULL,
    createdAt: INSTANT,
    expiresAt: INSTANT,
    endedAt: INSTANT_OR_NULL,
    decision: { anyOf: [{ type: "string", enum: DECISIONS }, { type: "null" }] },
    by: { ...TEXT_OR_NULL, description: "Who decided: the name of the key or person, or `link` for the page." },
    comment: TEXT_OR_NULL,
    decisionData: { ...JSON_VALUE, description: "The `data` that came with the decision." },
  },
  { title: "Approval" },
);

/** The link, without its token unless the caller may see webhook URLs. Apps may: they receive it with the event. */
export function shownUrl(parts: ApprovalViewParts, request: FastifyRequest, environment: Environment, id: string): string {
  const baseUrl = ownAddress(parts, request);
  const isApp = principalOf(request).kind === "signing-key";
  const isSeen = isApp || seesSecrets(callerRole(request, environment));
  return isSeen ? approvalUrl(baseUrl, id, parts.approvals.token(id)) : maskedApprovalUrl(baseUrl, id);
}

/** JSON text. */
export function approvalView(parts: ApprovalViewParts, request: FastifyRequest, environment: Environment, approval: Approval): string {
  const { id, run, expiresAt } = approval;
  const status = parts.approvals.statusOf(approval);
  const asked = run && parts.runs.functionName(run.functionNo);
  const isDecided = status === "approved" || status === "rejected";
  const first = JSON.stringify({ id, status, environment: environment.name, prompt: approval.prompt });
  const rest = JSON.stringify({
    url: shownUrl(parts, request, environment, id),
    confirmReject: approval.confirmsReject,
    signal: approval.signal,
    runId: run?.id ?? null,
    stepId: approval.stepId,
    function: asked && { id: asked.id, name: asked.name },
    app: asked?.app ?? null,
    createdAt: iso(approval.createdAt),
    expiresAt: iso(expiresAt),
    endedAt: iso(approval.endedAt ?? (status === "expired" ? expiresAt : null)),
    decision: isDecided ? status : null,
    by: approval.by,
    comment: approval.comment,
  });
  return `${first.slice(0, -1)},"data":${approval.data},${rest.slice(1, -1)},"decisionData":${approval.decisionData ?? "null"}}`;
}
