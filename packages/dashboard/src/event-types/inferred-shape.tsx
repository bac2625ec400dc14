/** The inferred shape of an event type: fields, types, how often each occurs, and schema drift. */

import { Link } from "@tanstack/react-router";
import type { EventTypeDetails } from "../api/types.ts";
import { count, plural } from "../ui/numbers.ts";
import { Notice } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";

export function InferredShape({ env, type }: { env: string; type: EventTypeDetails }) {
  const { shape, drift } = type;
  return (
    <section className="card" aria-label="Shape">
      <div className="card-head">
        <h2 className="grow">
          Shape <span className="quiet">{shape ? `inferred from ${plural(shape.samples, "event")}` : "no events seen"}</span>
        </h2>
      </div>
      <div className="card-body stack">
        {drift.length > 0 && <DriftList env={env} drift={drift} />}
        {shape && <FieldTable shape={shape} />}
        {shape?.isTruncated && <p className="quiet small">There are more fields than are stored.</p>}
      </div>
    </section>
  );
}

function DriftList({ env, drift }: { env: string; drift: EventTypeDetails["drift"] }) {
  return (
    <Notice kind="warn" icon="alert">
      <strong>Schema drift</strong>
      <ul className="plain-list small">
        {drift.slice(0, 10).map(({ kind, path, type, at, eventId }) => (
          <li key={`${path} ${type} ${at}`}>
            {kind === "field" ? "New field" : "New type of"} <code>{path}</code> ({type}),{" "}
            <Link to="/env/$env/events/$id" params={{ env, id: eventId }}>
              <Time at={at} relative />
            </Link>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function FieldTable({ shape: { fields } }: { shape: NonNullable<EventTypeDetails["shape"]> }) {
  return (
    <div className="table-wrap">
      <table className="table">
        <thead>
          <tr>
            <th>Field</th>
            <th>Types</th>
            <th className="right">Occurs in</th>
            <th>First seen</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ path, types, frequency, count: times, firstSeenAt, lastSeenAt }) => (
            <tr key={path}>
              <td>
                <code>{path}</code>
              </td>
              <td className="small">
                {types.map(({ type, count: seen }) => (types.length > 1 ? `${type} (${count(seen)})` : type)).join(", ")}
              </td>
              <td className="right num" title={count(times)}>
                {Math.round(frequency * 1_000) / 10} %
              </td>
              <td>
                <Time at={firstSeenAt} relative />
              </td>
              <td>
                <Time at={lastSeenAt} relative />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
