/** The difference between the payloads of two events: this one, and another of its name or any other by its ID. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatJson } from "../api/json-text.ts";
import { eventPage, eventQuery } from "../api/queries.ts";
import type { EventItem } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { LazyDiff } from "../editor/lazy-editor.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { plainTime } from "../ui/time.tsx";

interface CompareDialogProps {
  env: string;
  event: EventItem;
  onClose: () => void;
}

const ID_UNITS = 26;

export function CompareDialog({ env, event, onClose }: CompareDialogProps) {
  const { data } = useQuery({
    queryKey: ["events", env, "of-name", event.name],
    queryFn: () => eventPage(env, { name: event.name }),
  });
  const others = data?.items.filter(({ id }) => id !== event.id) ?? [];
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState("");
  const id = typed.trim().length === ID_UNITS ? typed.trim().toUpperCase() : chosen || (others[0]?.id ?? "");
  return (
    <Dialog title="Compare payloads" wide onClose={onClose}>
      <div className="stack">
        <div className="row wrap">
          <select className="input" aria-label="Other event" value={id} onChange={({ target }) => setChosen(target.value)}>
            {others.every((other) => other.id !== id) && <option value={id}>{id || "No other event of this name"}</option>}
            {others.map((other) => (
              <option key={other.id} value={other.id}>
                {plainTime(other.receivedAt)} · {other.id}
              </option>
            ))}
          </select>
          <input
            className="input mono grow"
            aria-label="ID of the other event"
            placeholder="or any Event ID"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </div>
        {id === "" ? (
          <Notice icon="search">No other event has this name. Enter the ID of any event.</Notice>
        ) : (
          <Difference env={env} id={id} event={event} />
        )}
      </div>
    </Dialog>
  );
}

function Difference({ env, id, event }: { env: string; id: string; event: EventItem }) {
  const { data: other, error, refetch } = useQuery(eventQuery(env, id));
  if (isUnavailable(error, other))
    return <ErrorState error={error} title="The other event could not be loaded" onRetry={() => void refetch()} />;
  if (!other) return <SkeletonRows rows={4} />;
  const [before, after] = [formatJson(other.data), formatJson(event.data)];
  if (before === after) return <Notice icon="checkCircle">Both events have the same data.</Notice>;
  return (
    <section aria-label="Difference">
      <p className="quiet small">Removed lines are from the other event, added lines from this one.</p>
      <LazyDiff before={before} after={after} label="Difference of the two payloads" />
    </section>
  );
}
