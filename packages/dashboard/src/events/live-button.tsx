/** Shows whether the list is live, and pauses it. */

import type { LiveState } from "../api/live.ts";
import { Icon } from "../ui/icon.tsx";

interface LiveButtonProps {
  state: LiveState;
  paused: boolean;
  onPause: (paused: boolean) => void;
}

export function LiveButton({ state, paused, onPause }: LiveButtonProps) {
  const text = paused ? "Paused" : { live: "Live", connecting: "Connecting", offline: "Not live" }[state];
  return (
    <button
      type="button"
      className={`button live ${paused ? "paused" : state}`}
      aria-pressed={paused}
      title={paused ? "Show new events" : "Pause new events"}
      onClick={() => onPause(!paused)}
    >
      <span className="live-dot" />
      {text}
      <Icon name={paused ? "play" : "pause"} size={14} />
    </button>
  );
}
