/** The source of an event, as a short label. */

import type { EventSource } from "../api/types.ts";
import { Icon, type IconName } from "../ui/icon.tsx";

const KINDS: Record<EventSource["kind"], { icon: IconName; title: string }> = {
  key: { icon: "key", title: "Event API, key" },
  webhook: { icon: "webhook", title: "Webhook" },
  function: { icon: "function", title: "Sent by function" },
  internal: { icon: "settings", title: "Service" },
};

export function SourceLabel({ source }: { source: EventSource }) {
  const { icon, title } = KINDS[source.kind] ?? KINDS.internal;
  return (
    <span className="row cut" style={{ gap: 6 }} title={`${title}: ${source.name}`}>
      <Icon name={icon} size={14} className="quiet" />
      <span className="cut">{source.name || title}</span>
    </span>
  );
}
