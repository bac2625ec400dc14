/** The triggers of a function, as labels. */

import { Link } from "@tanstack/react-router";
import type { FunctionTrigger } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";

export function Triggers({ env, triggers }: { env: string; triggers: readonly FunctionTrigger[] }) {
  return (
    <span className="row wrap" style={{ gap: 5 }}>
      {triggers.map((trigger) =>
        trigger.event === undefined ? (
          <span key={trigger.cron} className="chip" title="Cron schedule">
            <Icon name="clock" size={12} /> {trigger.cron}
          </span>
        ) : (
          <Link
            key={`${trigger.event} ${trigger.if}`}
            to="/env/$env/events"
            params={{ env }}
            search={{ name: trigger.event }}
            className="chip"
            title={trigger.if ? `Only if ${trigger.if}` : "Show these events"}
          >
            <Icon name="bolt" size={12} /> {trigger.event}
            {trigger.if && <span className="quiet"> if …</span>}
          </Link>
        ),
      )}
    </span>
  );
}
