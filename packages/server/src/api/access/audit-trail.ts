/**
 * Records in the audit log what was changed through REST, and who changed it.
 *
 * An entry is written right after its change and before the response, but not in the same transaction, because changes are
 * many kinds of writes. If the service dies in between, the change has no entry. If the entry cannot be written, the change has
 * still happened, and the response says so; the entry is written to the service's log instead.
 */

import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { AuditStore, NewAuditEntry } from "../../store/contract/index.ts";
import { principalOf } from "./principal.ts";

export interface AuditNote {
  /** `<noun>.<what happened to it>`, such as `webhook.updated`. */
  action: string;
  target: { kind: string; id: string; name: string };
  /** The environment; absent: the installation. */
  environment?: string | null;
  /** Further details. Never a secret: every key with the role read can see it. */
  details?: Readonly<Record<string, unknown>>;
}

export class AuditTrail {
  readonly #store: AuditStore;
  readonly #log: Logger;
  readonly #now: () => number;

  constructor(store: AuditStore, log: Logger, now: () => number) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
  }

  /** Never throws. */
  async note(request: FastifyRequest, note: AuditNote): Promise<void> {
    const { kind, id, name } = principalOf(request);
    await this.noteAs({ kind, id, name }, note);
  }

  /** For a change that no principal makes, such as a decision by a link. Never throws. */
  async noteAs(actor: NewAuditEntry["actor"], { action, target, environment = null, details = {} }: AuditNote): Promise<void> {
    const entry: NewAuditEntry = {
      at: this.#now(),
      actor,
      action,
      target: { kind: target.kind, id: target.id, name: target.name },
      environment,
      details: JSON.stringify(details),
    };
    await this.#store
      .auditAppend(entry)
      .catch((error) => this.#log.error({ err: error, entry }, "a change could not be recorded in the audit log"));
  }
}
