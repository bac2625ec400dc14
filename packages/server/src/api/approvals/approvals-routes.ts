/**
 * REST: questions to people. Requested for a signal, with API keys and by apps with their signing key; decided with API keys and in the
 * dashboard. A page of its own, for whoever has the link, is in approval-page-routes.ts.
 */

import { isEventId, parseDuration, YEAR_MS } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  APPROVAL_DATA_UNITS_MAX,
  APPROVAL_STATUSES,
  type ApprovalDecision,
  type ApprovalStatus,
  type ApprovalStore,
  approvalData,
  COMMENT_UNITS_MAX,
  DECISIONS,
  type Environment,
  PROMPT_UNITS_MAX,
  SIGNAL_UNITS_MAX,
  type StoreViews,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { memberText } from "../body-text.ts";
import { wrongCursor } from "../cursors.ts";
import { parseTime } from "../instant.ts";
import { ownAddress } from "../own-address.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INTEGER, JSON_VALUE, pageOf, shape } from "../route-facts.ts";
import { APPROVAL, type ApprovalViewParts, approvalView } from "./approval-view.ts";
import type { ApprovalsPart } from "./approvals-part.ts";

export interface ApprovalsRoutesParts extends ApprovalViewParts {
  access: AccessRules;
  audit: AuditTrail;
  store: ApprovalStore;
  views: StoreViews;
  approvals: ApprovalsPart;
  now(): number;
}

interface RequestBody {
  signal: string;
  prompt: string;
  timeout: string;
  confirmReject?: boolean;
}

interface DecideBody {
  decision: ApprovalDecision;
  comment?: string | null;
}

const LIST = {
  summary: "List approvals",
  description: "Newest first.",
  querystring: closed({
    ...PAGE_PARAMETERS,
    status: { type: "string", enum: APPROVAL_STATUSES, description: "Approvals with this status." },
  }),
  response: { 200: pageOf(APPROVAL) },
};
/** More are counted as this many. */
const OPEN_COUNT_MAX = 1_000;
const COUNT = {
  summary: "Count the open approvals",
  description: `The count ends at ${OPEN_COUNT_MAX}.`,
  querystring: closed({}),
  response: { 200: dataOf(shape({ open: INTEGER })) },
};
const ONE = { querystring: closed({}), response: { 200: dataOf(APPROVAL) }, errors: ["approval_not_found"] } as const;
const DATA_LIMIT = `at most ${APPROVAL_DATA_UNITS_MAX.toLocaleString("en")} characters as compact JSON`;
const REQUEST = {
  summary: "Request an approval",
  description:
    "For a run that waits with `step.waitForSignal`: the step returns `{signal, data: {decision, by, comment, data}}`. If the decision is made before the run waits, it is kept for the run. The approval ends with its timeout, or with the run that waits for it.",
  querystring: closed({}),
  body: closed(
    {
      signal: { type: "string", minLength: 1, maxLength: SIGNAL_UNITS_MAX, description: "The signal that the run waits for." },
      prompt: { type: "string", minLength: 1, maxLength: PROMPT_UNITS_MAX, description: "The question." },
      data: { ...JSON_VALUE, description: `Any JSON value, which is shown with the question: ${DATA_LIMIT}.` },
      timeout: {
        type: "string",
        minLength: 1,
        description: "How long the approval stays open: a duration such as `3d`, or a time in ISO 8601.",
      },
      confirmReject: { type: "boolean", description: "Whether the page asks for confirmation before it rejects." },
    },
    ["signal", "prompt", "timeout"],
  ),
  response: { 201: dataOf(APPROVAL) },
  errors: ["approval_exists"],
} as const;
const DECIDE = {
  ...ONE,
  summary: "Decide an approval",
  description: "An approval is decided once. The waiting step returns the decision.",
  body: closed(
    {
      decision: { type: "string", enum: DECISIONS },
      comment: { type: ["string", "null"], maxLength: COMMENT_UNITS_MAX },
      data: { ...JSON_VALUE, description: `Any JSON value, which the step returns: ${DATA_LIMIT}.` },
    },
    ["decision"],
  ),
  errors: ["approval_not_found", "approval_ended"],
} as const;

/** What a decision that comes too late is told. */
const ENDED: Readonly<Record<ApprovalStatus, string>> = {
  open: "The approval is no longer open.",
  approved: "The approval was already decided: approved.",
  rejected: "The approval was already decided: rejected.",
  expired: "The approval has expired: nobody decided in time.",
  cancelled: "The approval was cancelled: the run that asked has ended.",
};

export function registerApprovalsRoutes(app: FastifyInstance, parts: ApprovalsRoutesParts): void {
  registerReads(app, parts);
  registerRequest(app, parts);
  registerDecide(app, parts);
}

function registerReads(app: FastifyInstance, parts: ApprovalsRoutesParts): void {
  const { access, store, views, now } = parts;
  app.get<{ Querystring: { limit: number; cursor?: string; status?: ApprovalStatus } }>(
    "/approvals",
    { config: { about: "environment" }, schema: LIST },
    async (request, reply) => {
      const { limit, cursor, status } = request.query;
      if (cursor !== undefined && !isEventId(cursor)) throw wrongCursor();
      const environment = environmentOf(access, request);
      const filter = { ...(status !== undefined && { status }), ...(cursor !== undefined && { after: cursor }) };
      const { approvals, next } = await views.approvalList({ environmentId: environment.id, now: now(), limit, ...filter });
      const items = approvals.map((approval) => approvalView(parts, request, environment, approval));
      return sendJson(reply, `{"data":[${items.join(",")}],"page":{"next":${JSON.stringify(next)}}}`);
    },
  );
  app.get("/approvals/count", { config: { about: "environment" }, schema: COUNT }, async (request) => {
    const { id: environmentId } = environmentOf(access, request);
    return { data: { open: await views.approvalCountOpen({ environmentId, now: now(), limit: OPEN_COUNT_MAX }) } };
  });
  app.get<{ Params: { id: string } }>(
    "/approvals/:id",
    { config: { about: "environment" }, schema: { ...ONE, summary: "Get an approval" } },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      const id = idOf(request, environment);
      const approval = await store.approvalGet({ environmentId: environment.id, id });
      if (!approval) throw notFound(id, environment);
      return sendJson(reply, `{"data":${approvalView(parts, request, environment, approval)}}`);
    },
  );
}

function registerRequest(app: FastifyInstance, parts: ApprovalsRoutesParts): void {
  const { access, audit, approvals, now } = parts;
  app.post<{ Body: RequestBody }>(
    "/approvals",
    { config: { about: "environment", repair: true, signingKey: true, idempotent: "replayed", keepsBodyText: true }, schema: REQUEST },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      if (environment.kind === "shared" || environment.archivedAt !== null)
        throw new RestRefusal("environment_not_found", `The environment "${environment.name}" runs no functions.`);
      const { signal, prompt, timeout, confirmReject = false } = request.body;
      if (prompt.trim() === "") throw invalid("prompt", "must contain a question");
      const expiresAt = readTimeout(timeout, now());
      const data = readData(request.body);
      const asked = { signal, prompt, data, expiresAt, confirmsReject: confirmReject, baseUrl: ownAddress(parts, request) };
      const approval = await approvals.request(environment.id, asked);
      if (!approval)
        throw new RestRefusal("approval_exists", "An approval of this signal is open, or its decision has not reached a run yet.");
      const target = { kind: "approval", id: approval.id, name: approval.id };
      await audit.note(request, { action: "approval.requested", target, environment: environment.name });
      reply.code(201);
      return sendJson(reply, `{"data":${approvalView(parts, request, environment, approval)}}`);
    },
  );
}

function registerDecide(app: FastifyInstance, parts: ApprovalsRoutesParts): void {
  const { access, audit, approvals } = parts;
  app.post<{ Params: { id: string }; Body: DecideBody }>(
    "/approvals/:id",
    { config: { about: "environment", repair: true, byId: true, keepsBodyText: true }, schema: DECIDE },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      const id = idOf(request, environment);
      const { decision, comment = null } = request.body;
      const by = principalOf(request).name;
      const made = { decision, by, comment: comment === "" ? null : comment, data: readData(request.body) };
      const { outcome, approval } = await approvals.decide(environment.id, id, made);
      if (outcome === "unknown" || !approval) throw notFound(id, environment);
      if (outcome === "ended") throw new RestRefusal("approval_ended", ENDED[approvals.statusOf(approval)]);
      const target = { kind: "approval", id, name: id };
      await audit.note(request, { action: "approval.decided", target, environment: environment.name, details: { decision } });
      return sendJson(reply, `{"data":${approvalView(parts, request, environment, approval)}}`);
    },
  );
}

function sendJson(reply: FastifyReply, text: string): string {
  reply.type("application/json");
  return text;
}

function idOf(request: FastifyRequest<{ Params: { id: string } }>, environment: Environment): string {
  const id = request.params.id.toUpperCase();
  if (!isEventId(id)) throw notFound(request.params.id, environment);
  return id;
}

function notFound(id: string, { name }: Environment): RestRefusal {
  return new RestRefusal("approval_not_found", `There is no approval ${id} in the environment "${name}".`);
}

function readTimeout(text: string, now: number): number {
  const duration = parseDuration(text);
  const at = duration === null ? parseTime(text) : now + duration;
  if (Number.isNaN(at)) throw invalid("timeout", "must be a duration such as 3d, or a time in ISO 8601");
  if (at <= now) throw invalid("timeout", "must be in the future");
  if (at > now + YEAR_MS) throw invalid("timeout", "must be within 366 days");
  return at;
}

/** JSON text. */
function readData(body: RequestBody | DecideBody): string {
  const data = approvalData(memberText(body, "data") ?? "null");
  if (data.length > APPROVAL_DATA_UNITS_MAX)
    throw invalid("data", `must have at most ${APPROVAL_DATA_UNITS_MAX} characters as compact JSON, this has ${data.length}`);
  return data;
}
