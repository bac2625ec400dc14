/** What a key allows, as the fields of a form. */

import { useState } from "react";
import { useIsUnrestricted } from "../api/session.ts";
import type { Key } from "../api/types.ts";
import { type Option, SelectField, TextField } from "../ui/fields.tsx";
import { AcceptListFields, draftOf, listOf } from "./accept-list-field.tsx";

export interface KeyDraft {
  name: string;
  role: string;
  /** Names, separated by commas. Empty: all. */
  environments: string;
  eventNames: ReturnType<typeof draftOf>;
  ips: ReturnType<typeof draftOf>;
}

export type ChangeKeyDraft = (changes: Partial<KeyDraft>) => void;

/** A new key of somebody who is restricted is for the environment that they look at. */
export function useKeyDraft(env: string, key?: Key): [KeyDraft, ChangeKeyDraft] {
  const isUnrestricted = useIsUnrestricted();
  const [draft, setDraft] = useState<KeyDraft>({
    name: key?.name ?? "",
    role: key?.role ?? "admin",
    environments: key ? (key.environments?.join(", ") ?? "") : isUnrestricted ? "" : env,
    eventNames: draftOf(key?.eventNames ?? null),
    ips: draftOf(key?.ips ?? null),
  });
  return [draft, (changes) => setDraft({ ...draft, ...changes })];
}

/** As REST takes it. */
export function keyBody(kind: Key["kind"], { name, role, environments, eventNames, ips }: KeyDraft) {
  return {
    name: name.trim(),
    ...(kind === "event" && { eventNames: listOf(eventNames), ips: listOf(ips) }),
    ...(kind === "api" && { role, environments: namesIn(environments) }),
  };
}

/** Null if the text is empty: all environments. */
function namesIn(text: string): string[] | null {
  const names = text.split(",").map((name) => name.trim());
  return names.some(Boolean) ? names.filter(Boolean) : null;
}

const ROLES: readonly Option[] = [
  ["owner", "full access, manages owners"],
  ["admin", "full access"],
  ["operator", "reads everything, repairs runs and requests"],
  ["ingest-admin", "manages webhooks and event schemas, reads events and usage"],
  ["viewer", "read-only"],
  ["metrics", "reads /metrics only"],
].map(([role = "", rights]) => ({ value: role, text: `${role}: ${rights}` }));

export function KeyFields({ env, kind, draft, change }: { env: string; kind: Key["kind"]; draft: KeyDraft; change: ChangeKeyDraft }) {
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={128}
        value={draft.name}
        placeholder="Who uses this key"
        onChange={(name) => change({ name })}
      />
      {kind === "api" && <ApiKeyFields env={env} draft={draft} change={change} />}
      {kind === "event" && (
        <AcceptListFields
          eventNames={draft.eventNames}
          onEventNames={(eventNames) => change({ eventNames })}
          namesHint="One per line; a name may end in *"
          namesPlaceholder="shop/*"
          ips={draft.ips}
          onIps={(ips) => change({ ips })}
        />
      )}
    </>
  );
}

function ApiKeyFields({ env, draft, change }: { env: string; draft: KeyDraft; change: ChangeKeyDraft }) {
  const isUnrestricted = useIsUnrestricted();
  return (
    <>
      <TextField
        label="Environments"
        value={draft.environments}
        placeholder={isUnrestricted ? "All" : env}
        hint='Comma-separated names, to restrict the key to these environments. "branch" stands for all branch environments, "payments-*" for all whose name begins with "payments-".'
        onChange={(environments) => change({ environments })}
      />
      <SelectField label="Role" options={ROLES} value={draft.role} onChange={(role) => change({ role })} />
    </>
  );
}
