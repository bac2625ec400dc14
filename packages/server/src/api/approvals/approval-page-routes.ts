/**
 * `/approve/<id>/<token>`: the page on which whoever has the link decides. The token is the whole credential: 128 bits, made from a secret
 * of the store, compared in constant time. GET shows and changes nothing, so a link preview decides nothing. Only a POST from the page
 * itself, or from a client that is no browser, decides.
 */

import { timingSafeEqual } from "node:crypto";
import { type FunctionNo, isEventId } from "@inlet/protocol";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import {
  type Approval,
  type ApprovalDecision,
  type ApprovalStore,
  COMMENT_UNITS_MAX,
  DECISIONS,
  type Environment,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { originOf } from "../access/same-origin.ts";
import { RestRefusal, refusalFor } from "../rest-errors.ts";
import { confirmPage, decidedPage, endedPage, errorPage, PAGE_HEADERS, questionPage } from "./approval-page.ts";
import { APPROVAL_PATH } from "./approval-url.ts";
import type { ApprovalsPart } from "./approvals-part.ts";

export interface ApprovalPageParts {
  store: Pick<ApprovalStore, "approvalFind">;
  approvals: ApprovalsPart;
  runs: { functionName(no: FunctionNo): { id: string; name: string; app: string } };
  directory: { environment(id: Environment["id"]): Environment | undefined };
  access: { publicUrl: string | null };
  audit: AuditTrail;
  log: Logger;
}

type ByLink = { Params: { id: string; token: string } };

const FORM = "application/x-www-form-urlencoded";
const FORM_BYTES_MAX = 64 * 1024;
/** `by` of a decision made here. */
const BY_LINK = "link";

export function registerApprovalPage(app: FastifyInstance, parts: ApprovalPageParts): void {
  app.register(async (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(FORM, { parseAs: "string", bodyLimit: FORM_BYTES_MAX }, (_request, body, done) => done(null, body));
    pages.setErrorHandler<FastifyError>((error, _request, reply) => {
      const { code, message, status } = refusalFor(error);
      if (code === "internal_error") parts.log.error({ err: error }, "the page of an approval failed unexpectedly");
      return send(reply, errorPage("This did not work", message, code), status);
    });
    pages.get<ByLink>(`${APPROVAL_PATH}/:id/:token`, (request, reply) => show(parts, request, reply));
    pages.post<ByLink>(`${APPROVAL_PATH}/:id/:token`, (request, reply) => decide(parts, request, reply));
  });
}

async function show(parts: ApprovalPageParts, request: FastifyRequest<ByLink>, reply: FastifyReply) {
  const approval = await find(parts, request);
  const status = parts.approvals.statusOf(approval);
  if (status !== "open") return send(reply, endedPage(status, approval.by, null));
  const environment = parts.directory.environment(approval.environmentId)?.name ?? "";
  const asked = approval.run && parts.runs.functionName(approval.run.functionNo);
  const asker = asked && { app: asked.app, function: asked.name, environment };
  return send(reply, questionPage(approval, asker, environment));
}

async function decide(parts: ApprovalPageParts, request: FastifyRequest<ByLink>, reply: FastifyReply) {
  const { approvals, audit, directory } = parts;
  if (isFromElsewhere(request, parts.access.publicUrl))
    throw new RestRefusal("origin_forbidden", "A decision is made on this page, and on no other.");
  const approval = await find(parts, request);
  const { decision, comment, isConfirmed } = readForm(request.body);
  const { id, environmentId, confirmsReject } = approval;
  const isOpen = approvals.statusOf(approval) === "open";
  if (isOpen && decision === "rejected" && confirmsReject && !isConfirmed) return send(reply, confirmPage(approval, comment ?? ""));
  const made = { decision, by: BY_LINK, comment, data: "null" };
  const decided = await approvals.decide(environmentId, id, made);
  const after = decided.approval ?? approval;
  if (decided.outcome !== "decided") return send(reply, endedPage(approvals.statusOf(after), after.by, "approval_ended"), 409);
  await audit.noteAs(
    { kind: "link", id, name: BY_LINK },
    {
      action: "approval.decided",
      target: { kind: "approval", id, name: id },
      environment: directory.environment(environmentId)?.name ?? null,
      details: { decision },
    },
  );
  return send(reply, decidedPage(decision));
}

/** A wrong token and an unknown id are the same to whoever guesses. */
async function find({ store, approvals }: ApprovalPageParts, { params }: FastifyRequest<ByLink>): Promise<Approval> {
  const { id, token } = params;
  const isRight = isEventId(id) && isSame(approvals.token(id), token);
  const approval = isRight ? await store.approvalFind({ id }) : null;
  if (!approval) throw new RestRefusal("approval_not_found", "There is no such approval. The link may be incomplete.");
  return approval;
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Browsers that tell nobody an address send `Origin: null`; those that do not say more are believed, since the token is the credential. */
function isFromElsewhere(request: FastifyRequest, publicUrl: string | null): boolean {
  const { headers } = request;
  if (headers["sec-fetch-site"] === undefined && headers.origin === "null") return false;
  return originOf(request, publicUrl) === "cross";
}

function readForm(body: unknown): { decision: ApprovalDecision; comment: string | null; isConfirmed: boolean } {
  const form = new URLSearchParams(typeof body === "string" ? body : "");
  const [given, ...others] = form.getAll("decision");
  const decision = DECISIONS.find((known) => known === given);
  if (!decision || others.length > 0) throw new RestRefusal("request_invalid", `decision must be one of ${DECISIONS.join(", ")}.`);
  const comment = (form.get("comment") ?? "").replaceAll("\r\n", "\n").trim();
  if (comment.length > COMMENT_UNITS_MAX)
    throw new RestRefusal("request_invalid", `comment must have at most ${COMMENT_UNITS_MAX} characters.`);
  return { decision, comment: comment === "" ? null : comment, isConfirmed: form.get("confirm") === "yes" };
}

function send(reply: FastifyReply, html: string, status = 200): FastifyReply {
  return reply.headers(PAGE_HEADERS).code(status).type("text/html; charset=utf-8").send(html);
}
