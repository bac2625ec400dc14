/** The functions that subscribe to an event type, or a warning that there are none. */

import { Link } from "@tanstack/react-router";
import type { EventType } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";

export function Subscribers({ env, functions }: { env: string; functions: EventType["functions"] }) {
  if (functions.length === 0) {
    return (
      <span className="badge warn">
        <Icon name="alert" size={13} /> None
      </span>
    );
  }
  return (
    <span className="row wrap" style={{ gap: 5 }}>
      {functions.map(({ id, name }) => (
        <Link key={id} to="/env/$env/functions/$id" params={{ env, id }} className="chip">
          <Icon name="function" size={12} /> {name}
        </Link>
      ))}
    </span>
  );
}
