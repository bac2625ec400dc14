/** One event type: its volume over a week, the functions that subscribe to it or wait for it, and its newest events. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { UsualRhythm } from "../alerts/usual-rhythm.tsx";
import { eventTypeQuery } from "../api/queries.ts";
import { eventRhythmQuery } from "../api/rhythm.ts";
import type { EventTypeDetails } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { PageTitle } from "../shell/page-title.tsx";
import { ChartCard } from "../ui/chart-card.tsx";
import { Crumbs } from "../ui/crumbs.tsx";
import { Icon } from "../ui/icon.tsx";
import { count, plural } from "../ui/numbers.ts";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { DeclaredSchema } from "./declared-schema.tsx";
import { InferredShape } from "./inferred-shape.tsx";
import { Subscribers } from "./subscribers.tsx";
import { TypeSamples, TypeWaiters } from "./type-samples.tsx";

export function EventTypePage() {
  const { env, name } = useParams({ from: "/env/$env/event-types/$name" });
  const { data, error, refetch } = useQuery({ ...eventTypeQuery(env, name), refetchInterval: 10_000 });
  return (
    <div className="page">
      <PageTitle text={name} />
      <Crumbs env={env} to="/env/$env/event-types" list="Event types">
        {name}
      </Crumbs>
      <div className="page-head">
        <h1>{name}</h1>
        <div className="actions">
          <Link to="/env/$env/events" params={{ env }} search={{ name }} className="button">
            <Icon name="list" /> Show events
          </Link>
        </div>
      </div>
      {isUnavailable(error, data) ? (
        <ErrorState error={error} title="This event type could not be loaded" onRetry={() => void refetch()} />
      ) : data ? (
        <TypeDetails env={env} type={data} />
      ) : (
        <SkeletonRows rows={5} height={60} />
      )}
    </div>
  );
}

function TypeDetails({ env, type }: { env: string; type: EventTypeDetails }) {
  const navigate = useNavigate();
  const { name, volume } = type;
  const times = useMemo(() => volume.map(({ at }) => Date.parse(at)), [volume]);
  const series = useMemo(() => [{ label: "Events per hour", colour: "--accent", values: volume.map((hour) => hour.count) }], [volume]);
  const week = volume.reduce((sum, hour) => sum + hour.count, 0);
  const choose = (from: number, to: number) => void navigate({ to: "/env/$env/events", params: { env }, search: { name, from, to } });
  return (
    <>
      <dl className="fact-strip">
        <Fact label="Last 24 hours">{count(type.count24h)}</Fact>
        <Fact label="Last 7 days">{count(week)}</Fact>
        <Fact label="Total">{count(type.count)}</Fact>
        <Fact label="First seen">{type.firstSeenAt === null ? "never" : <Time at={type.firstSeenAt} />}</Fact>
        <Fact label="Last seen">{type.lastSeenAt === null ? "never" : <Time at={type.lastSeenAt} relative />}</Fact>
        <Fact label="Subscribers">
          <Subscribers env={env} functions={type.functions} />
        </Fact>
        <Fact label="Waiting for it">
          <TypeWaiters env={env} name={name} />
        </Fact>
      </dl>
      <ChartCard title="Last 7 days" series={series} times={times} bars onRange={choose} label={plural(week, "event")} />
      <UsualRhythm query={eventRhythmQuery(env, name)} />
      <TypeSamples env={env} name={name} />
      <DeclaredSchema key={`${env} ${name}`} env={env} type={type} />
      <InferredShape env={env} type={type} />
    </>
  );
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
