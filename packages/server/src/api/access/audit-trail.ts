/**
 * Notes in the audit log what was changed through REST, and by whom.
 *
 * An entry is written right after the change it tells of, and before the answer: not in the same transaction, since changes are
 * many kinds of work and the log is one. Were the service to die in between, a change would stand without its entry. When the
 * entry cannot be written, the change has happened all the same and is answered so; the entry goes to the service's log.
 */

import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { AuditStore, NewAuditEntry } from "../../store/contract/index.ts";
import { principalOf } from "./principal.ts";

export interface AuditNote {
  /** `<noun>.<what happened to it>`, such as `webhook.updated`. */
  action: string;
  target: { kind: string; id: string; name: string };
  /** Where it happened; absent: the installation. */
  environment?: string | null;
  /** What else is worth knowing. Never a secret: everyone with the role read sees it. */
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
  async note(request: FastifyRequest, { action, target, environment = null, details = {} }: AuditNote): Promise<void> {
    const { kind, id, name } = principalOf(request);
    const entry: NewAuditEntry = {
      at: this.#now(),
      actor: { kind, id, name },
      action,
      target: { kind: target.kind, id: target.id, name: target.name },
      environment,
      details: JSON.stringify(details),
    };
    await this.#store
      .auditAppend(entry)
      .catch((error) => this.#log.error({ err: error, entry }, "a change could not be noted in the audit log"));
  }
}
