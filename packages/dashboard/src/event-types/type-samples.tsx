/** The newest events of a type, with their data, and the functions whose runs wait for one. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../api/client.ts";
import { eventPage } from "../api/queries.ts";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { Payload } from "../ui/payload.tsx";
import { messageOf, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";

const SHOWN = 3;

export function TypeSamples({ env, name }: { env: string; name: string }) {
  const { data, error } = useQuery({
    queryKey: ["events", env, "samples", name],
    queryFn: () => eventPage(env, { name }),
    refetchInterval: 10_000,
  });
  return (
    <section className="stack" aria-label="Samples">
      <h2>Samples</h2>
      {error && <p className="quiet">Samples could not be loaded: {messageOf(error)}</p>}
      {!data && !error && <SkeletonRows rows={3} />}
      <div className="cards">
        {data?.items.slice(0, SHOWN).map((event) => (
          <Payload
            key={event.id}
            text={event.data}
            title="Data"
            label={`Data of ${event.id}`}
            tools={
              <Link to="/env/$env/events/$id" params={{ env, id: event.id }} search={{ name }} className="small">
                <Time at={event.receivedAt} />
              </Link>
            }
          />
        ))}
      </div>
    </section>
  );
}

interface Waiting {
  function: { id: string; name: string };
  waits: number;
}

export function TypeWaiters({ env, name }: { env: string; name: string }) {
  const { data = [] } = useQuery({
    queryKey: ["event-types", env, name, "waiting"],
    queryFn: () => call<Waiting[]>(`/event-types/${encodeURIComponent(name)}/waiting`, { env }),
    refetchInterval: 10_000,
    retry: false,
  });
  if (data.length === 0) return <span className="quiet">No run</span>;
  return (
    <span className="row wrap" style={{ gap: 5 }}>
      {data.map(({ function: fn, waits }) => (
        <Link key={fn.id} to="/env/$env/runs" params={{ env }} search={{ function: fn.id, status: "waiting" }} className="chip">
          <Icon name="hourglass" size={12} /> {fn.name}: {plural(waits, "run")}
        </Link>
      ))}
    </span>
  );
}
