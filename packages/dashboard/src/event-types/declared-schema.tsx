/** The declared schema of an event type: an editor, the mode for events that do not match, and their number. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { eventTypeQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayAdminister, useMayChangeIngestion } from "../api/session.ts";
import type { EventTypeDetails, SchemaMode } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { count } from "../ui/numbers.ts";
import { Notice } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";
import { schemaOfShape } from "./schema-of-shape.ts";

const MODES: readonly { mode: SchemaMode; label: string }[] = [
  { mode: "observe", label: "Observe: count events that do not match" },
  { mode: "warn", label: "Warn: mark them too" },
  { mode: "refuse", label: "Refuse them" },
];

export function DeclaredSchema({ env, type }: { env: string; type: EventTypeDetails }) {
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();
  // Refusing events loses data: only admins set that mode, and change a schema that refuses.
  const mayRefuse = useMayAdminister();
  const mayChangeSchema = mayChange && (mayRefuse || type.mode !== "refuse");
  const saved = type.schema === null ? "" : JSON.stringify(type.schema, null, 2);
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? saved;
  const fault = text.trim() === "" ? null : jsonFault(text);

  async function put(body: object, done: string): Promise<boolean> {
    const path = `/event-types/${encodeURIComponent(type.name)}`;
    const written = await withToast(call<object>(path, { method: "PUT", env, body }), () => done);
    if (!written) return false;
    await reload(queries, eventTypeQuery(env, type.name).queryKey);
    return true;
  }

  async function save() {
    const isSaved = await put({ schema: text.trim() === "" ? null : JSON.parse(text) }, "The schema was saved.");
    // What was typed meanwhile is not saved.
    if (isSaved) setDraft((current) => (current === text ? null : current));
  }

  return (
    <section className="card" aria-label="Schema">
      <div className="card-head">
        <h2 className="grow">
          Schema <span className="quiet">{type.schema === null ? "not declared" : `version ${type.version}`}</span>
        </h2>
        {mayChangeSchema && type.schema === null && type.shape && (
          <button type="button" className="button small bare" onClick={() => setDraft(schemaOfShape(type.shape))}>
            Start from the shape
          </button>
        )}
        {draft !== null && draft !== saved && (
          <button type="button" className="button small bare" onClick={() => setDraft(null)}>
            Discard
          </button>
        )}
        {mayChangeSchema && (
          <button type="button" className="button small primary" disabled={text === saved || fault !== null} onClick={() => void save()}>
            <Icon name="check" size={14} /> Save
          </button>
        )}
      </div>
      <div className="card-body stack tight">
        <div className="row wrap">
          <select
            className="input"
            aria-label="Mode"
            value={type.mode}
            disabled={!mayChange}
            onChange={({ target }) => void put({ mode: target.value }, "The mode was changed.")}
          >
            {MODES.map(({ mode, label }) => (
              <option key={mode} value={mode} disabled={mode === "refuse" && !mayRefuse}>
                {label}
              </option>
            ))}
          </select>
          <span className="grow" />
          <Faults type={type} />
        </div>
        <textarea
          className="input mono"
          rows={12}
          aria-label="JSON Schema of data"
          placeholder='{ "type": "object", "required": ["orderId"], "properties": { "orderId": { "type": "string" } } }'
          value={text}
          spellCheck={false}
          readOnly={!mayChangeSchema}
          onChange={({ target }) => setDraft(target.value)}
        />
        {fault !== null && <p className="quiet small">{fault}</p>}
      </div>
    </section>
  );
}

function Faults({ type: { faults, lastFaultAt } }: { type: EventTypeDetails }) {
  if (faults === 0) return <span className="quiet small">All events matched</span>;
  return (
    <Notice kind="warn">
      {count(faults)} {faults === 1 ? "event" : "events"} did not match
      {lastFaultAt !== null && (
        <>
          , last <Time at={lastFaultAt} relative />
        </>
      )}
    </Notice>
  );
}

function jsonFault(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? null : "A schema is a JSON object.";
  } catch (error) {
    return (error as Error).message;
  }
}
