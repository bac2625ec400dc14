/**
 * Stores across restarts which credentials were valid from addresses with failed attempts: as entries of the audit log, where people
 * can see them too.
 */

import type { Logger } from "pino";
import type { Proof } from "../api/access/attempt-budget.ts";
import type { AuditEntry, AuditStore, EventCursor, Key } from "../store/contract/index.ts";

export interface TrustedAddressesParts {
  store: AuditStore;
  workingKey(id: Key["id"]): Key | null;
  log: Logger;
  now(): number;
}

const ACTION = "key.proved";
const PAGE = 100;
const RESTORED_MAX = 2_000;

export async function readTrustedAddresses(store: AuditStore): Promise<Proof[]> {
  const proofs: Proof[] = [];
  let after: EventCursor | null = null;
  do {
    const page: { entries: AuditEntry[]; next: EventCursor | null } = await store.auditList({
      limit: PAGE,
      action: ACTION,
      ...(after && { after }),
    });
    proofs.push(...page.entries.map(({ target, details }) => ({ address: String(JSON.parse(details).address), credential: target.id })));
    after = page.next;
  } while (after && proofs.length < RESTORED_MAX);
  return proofs;
}

/** Login links work once: there is nothing to store about them. */
export function createAddressTrust({ store, workingKey, log, now }: TrustedAddressesParts): (proof: Proof) => void {
  return ({ address, credential }) => {
    const key = workingKey(credential as Key["id"]);
    if (!key) return;
    const { id, name, kind } = key;
    const entry = { at: now(), actor: { kind: `${kind}-key` as const, id, name }, action: ACTION, target: { kind: "key", id, name } };
    store
      .auditAppend({ ...entry, environment: null, details: JSON.stringify({ address }) })
      .catch((error) => log.warn({ err: error }, "a proof that a key is valid from an address could not be stored"));
  };
}
