/** The state of a rule's alert: colour, icon and label, with the time and the value. */

import type { AlertRule } from "../api/alerts.ts";
import { Icon } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";
import { valueText } from "./alert-words.ts";

export function RuleState({ rule }: { rule: AlertRule }) {
  if (rule.raisedAt !== null) {
    return (
      <>
        <span className="badge bad">
          <Icon name="alert" size={13} /> Raised
        </span>{" "}
        <span className="quiet small">
          {rule.value !== null && `at ${valueText(rule, rule.value)}, `}since <Time at={rule.raisedAt} />
        </span>
      </>
    );
  }
  if (!rule.enabled) {
    return (
      <span className="badge">
        <Icon name="pause" size={13} /> Disabled
      </span>
    );
  }
  return (
    <span className="badge ok">
      <Icon name="checkCircle" size={13} /> Not raised
    </span>
  );
}
