/** Shows the time zone of all times, and switches between the browser's zone and UTC. */

import { setTimeZone, useTimeZone, zoneName } from "../ui/time-zone.ts";

export function TimeZoneButton() {
  const zone = useTimeZone();
  const next = zone === "utc" ? "local" : "utc";
  const text = `Times in ${zoneName()}. Change to ${next === "utc" ? "UTC" : "local time"}`;
  return (
    <button type="button" className="button bare small zone" aria-label={text} title={text} onClick={() => setTimeZone(next)}>
      {zoneName()}
    </button>
  );
}
