/** Allow and deny lists of event names and IP addresses. */

import type { AcceptList } from "../api/types.ts";
import { plural } from "../ui/numbers.ts";

export interface ListDraft {
  mode: "" | AcceptList["mode"];
  text: string;
}

export function draftOf(list: AcceptList | null | undefined): ListDraft {
  return { mode: list?.mode ?? "", text: list?.list.join("\n") ?? "" };
}

export function listOf({ mode, text }: ListDraft): AcceptList | null {
  const list = text.split(/[\n,]/).map((line) => line.trim());
  return mode === "" ? null : { mode, list: list.filter(Boolean) };
}

interface AcceptListFieldsProps {
  eventNames: ListDraft;
  onEventNames: (draft: ListDraft) => void;
  namesHint: string;
  namesPlaceholder: string;
  ips: ListDraft;
  onIps: (draft: ListDraft) => void;
}

/** The two lists of a key or webhook. */
export function AcceptListFields({ eventNames, onEventNames, namesHint, namesPlaceholder, ips, onIps }: AcceptListFieldsProps) {
  return (
    <>
      <AcceptListField label="Event names" hint={namesHint} placeholder={namesPlaceholder} draft={eventNames} onChange={onEventNames} />
      <AcceptListField
        label="IP addresses"
        hint="One per line; an address or a range such as 10.0.0.0/8"
        placeholder="203.0.113.0/24"
        draft={ips}
        onChange={onIps}
      />
    </>
  );
}

interface AcceptListFieldProps {
  label: string;
  hint: string;
  placeholder: string;
  draft: ListDraft;
  onChange: (draft: ListDraft) => void;
}

function AcceptListField({ label, hint, placeholder, draft, onChange }: AcceptListFieldProps) {
  return (
    <div className="field">
      <span>{label}</span>
      <select
        className="input"
        aria-label={label}
        value={draft.mode}
        onChange={({ target }) => onChange({ ...draft, mode: target.value as ListDraft["mode"] })}
      >
        <option value="">Allow all</option>
        <option value="allow">Allow only these</option>
        <option value="deny">Deny these</option>
      </select>
      {draft.mode !== "" && (
        <>
          <textarea
            className="input"
            rows={3}
            aria-label={`${label}, one per line`}
            placeholder={placeholder}
            value={draft.text}
            onChange={({ target }) => onChange({ ...draft, text: target.value })}
          />
          <small>{hint}</small>
        </>
      )}
    </div>
  );
}

export function AcceptListText({ eventNames, ips }: { eventNames: AcceptList | null; ips: AcceptList | null }) {
  if (!eventNames && !ips) return <>all</>;
  const text = (list: AcceptList | null, what: string) =>
    list ? [`${list.mode === "allow" ? "only" : "all but"} ${plural(list.list.length, what)}`] : [];
  const title = [...(eventNames?.list ?? []), ...(ips?.list ?? [])].join("\n");
  return <span title={title}>{[...text(eventNames, "name"), ...text(ips, "IP range")].join(", ")}</span>;
}
