/** When a webhook or an event type is usually active, and its longest silence: what an alert rule for silence goes by. */

import { useQuery } from "@tanstack/react-query";
import type { RhythmQuery } from "../api/rhythm.ts";
import { messageOf } from "../ui/states.tsx";
import { duration, Time } from "../ui/time.tsx";
import { DAYS, WeekMap } from "../ui/week-map.tsx";

export function UsualRhythm({ query }: { query: RhythmQuery }) {
  const { data, error } = useQuery(query);
  if (error) return <p className="quiet small">The usual rhythm could not be loaded: {messageOf(error)}</p>;
  if (!data) return null;
  const { week, longestGapSeconds, since, knownFrom } = data;
  return (
    <section className="card rhythm" aria-label="Usual rhythm">
      <h2>Usual rhythm</h2>
      {week === null ? (
        <p className="quiet">
          Known after two weeks of activity, on <Time at={knownFrom} /> at the earliest.
        </p>
      ) : (
        <>
          <div className="scroll-x">
            <WeekMap values={week} label={`Activity by hour of the week, in UTC. Busiest: ${busiest(week)}`} />
          </div>
          <p className="quiet small">
            Hours in UTC. Longest time without activity
            {since && (
              <>
                {" "}
                since <Time at={since} />
              </>
            )}
            : {duration((longestGapSeconds ?? 0) * 1_000)}.
          </p>
        </>
      )}
    </section>
  );
}

function busiest(week: readonly number[]): string {
  const hour = week.indexOf(Math.max(...week));
  return `${DAYS[Math.floor(hour / 24)]} ${String(hour % 24).padStart(2, "0")}:00`;
}
