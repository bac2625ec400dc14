/** Hours of the day during which an alert is not raised, in UTC or the time zone of the browser or the rule. */

import type { AlertRuleFields } from "../api/alerts.ts";

type QuietHours = AlertRuleFields["quietHours"];

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const NIGHT = { from: "22:00", to: "06:00", timeZone: OWN_ZONE };

export function QuietHoursField({ value, onChange }: { value: QuietHours; onChange: (value: QuietHours) => void }) {
  return (
    <div className="field">
      <label className="row">
        <input type="checkbox" checked={value !== null} onChange={({ target }) => onChange(target.checked ? NIGHT : null)} />
        Quiet hours
      </label>
      {value !== null && (
        <div className="row">
          <input
            className="input"
            type="time"
            required
            aria-label="Quiet from"
            value={value.from}
            onChange={({ target }) => onChange({ ...value, from: target.value })}
          />
          to
          <input
            className="input"
            type="time"
            required
            aria-label="Quiet until"
            value={value.to}
            onChange={({ target }) => onChange({ ...value, to: target.value })}
          />
        </div>
      )}
      {value !== null && (
        <select
          className="input"
          aria-label="Time zone of the quiet hours"
          value={value.timeZone}
          onChange={({ target }) => onChange({ ...value, timeZone: target.value })}
        >
          {[...new Set([value.timeZone, OWN_ZONE, "UTC"])].map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </select>
      )}
      <small>During quiet hours no alert is raised. Alerts that are raised already are still resolved.</small>
    </div>
  );
}
