/**
 * Records in the audit log what apps do with a signing key: which app registered, which run received results, with which key, from which
 * address. Repetitions add nothing: there is one entry for each app or run, key and address. A registration that
 * changed something is always recorded.
 */

import type { FastifyRequest } from "fastify";
import type { AuditNote, AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";

/** Entries dropped from memory are recorded once more. */
const NOTED_MAX = 10_000;

export class SdkAudit {
  readonly #audit: AuditTrail;
  readonly #noted = new Set<string>();

  constructor(audit: AuditTrail) {
    this.#audit = audit;
  }

  async note(request: FastifyRequest, note: AuditNote, { always }: { always: boolean }): Promise<void> {
    const what = [note.action, note.target.id, principalOf(request).id, request.ip].join(" ");
    if (this.#noted.has(what) && !always) return;
    this.#noted.add(what);
    const [oldest = ""] = this.#noted;
    if (this.#noted.size > NOTED_MAX) this.#noted.delete(oldest);
    await this.#audit.note(request, { ...note, details: { ...note.details, ip: request.ip } });
  }
}
