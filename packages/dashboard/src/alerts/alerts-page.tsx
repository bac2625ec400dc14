/** Alerts: the rules of the environment with their state; operators create, change and delete them. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type AlertRule, alertRulesQuery, deleteAlertRule } from "../api/alerts.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";
import { ruleText } from "./alert-words.ts";
import { RuleDialog } from "./rule-dialog.tsx";
import { RuleState } from "./rule-state.tsx";

export function AlertsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { data: rules, error, refetch } = useQuery(alertRulesQuery(env));
  const [isCreating, setCreating] = useState(false);
  const mayRepair = useMayRepair();
  return (
    <div className="page">
      <div className="page-head">
        <h1>Alerts</h1>
        <div className="actions">
          <ExportList env={env} path="/alert-rules" query={{}} name={`alert-rules-${env}`} />
          <Link to="/env/$env/events" params={{ env }} search={{ name: "inlet/alert.*", internal: true }} className="button">
            <Icon name="inbox" /> Show events
          </Link>
          {mayRepair && (
            <button type="button" className="button primary" onClick={() => setCreating(true)}>
              <Icon name="plus" /> New rule
            </button>
          )}
        </div>
        <p>
          An event is emitted when an alert is raised or resolved. Subscribe a function to <code>inlet/alert.raised</code> and{" "}
          <code>inlet/alert.resolved</code> to notify people.
        </p>
      </div>
      {isUnavailable(error, rules) ? (
        <ErrorState error={error} title="The alert rules could not be loaded" onRetry={() => void refetch()} />
      ) : rules === undefined ? (
        <SkeletonRows rows={4} />
      ) : rules.length === 0 ? (
        <NoRules mayRepair={mayRepair} />
      ) : (
        <RuleTable env={env} rules={rules} mayRepair={mayRepair} />
      )}
      {isCreating && <RuleDialog env={env} rule={null} onClose={() => setCreating(false)} />}
    </div>
  );
}

function NoRules({ mayRepair }: { mayRepair: boolean }) {
  return (
    <div className="card">
      <EmptyState icon="alert" title="No alert rules yet">
        <p>A rule watches failures, the queue, refused webhook requests, unmatched events, or whether something has stopped.</p>
        {!mayRepair && <p>Your role does not allow you to create rules.</p>}
      </EmptyState>
    </div>
  );
}

function RuleTable({ env, rules, mayRepair }: { env: string; rules: readonly AlertRule[]; mayRepair: boolean }) {
  const [editing, setEditing] = useState<AlertRule | null>(null);
  const [deleting, setDeleting] = useState<AlertRule | null>(null);
  return (
    <>
      <Table columns={["Rule", "State", "Last raised", "Quiet hours", ...(mayRepair ? [ACTIONS] : [])]} isStacked>
        {rules.map((rule) => (
          <tr key={rule.id}>
            <td>
              <span className="strong">{rule.name}</span>
              <div className="quiet small">{ruleText(rule)}</div>
            </td>
            <td data-label="State">
              <RuleState rule={rule} />
            </td>
            <td data-label="Last raised" className="second">
              {rule.lastRaisedAt === null ? "Never" : <Time at={rule.lastRaisedAt} />}
            </td>
            <td data-label="Quiet hours" className="second">
              {rule.quietHours === null ? "None" : `${rule.quietHours.from} to ${rule.quietHours.to} ${rule.quietHours.timeZone}`}
            </td>
            {mayRepair && (
              <td className="right">
                <button type="button" className="button small" onClick={() => setEditing(rule)}>
                  Edit<span className="visually-hidden"> {rule.name}</span>
                </button>{" "}
                <button type="button" className="button small danger" onClick={() => setDeleting(rule)}>
                  Delete<span className="visually-hidden"> {rule.name}</span>
                </button>
              </td>
            )}
          </tr>
        ))}
      </Table>
      {editing && <RuleDialog env={env} rule={editing} onClose={() => setEditing(null)} />}
      {deleting && <DeleteDialog env={env} rule={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

function DeleteDialog({ env, rule, onClose }: { env: string; rule: AlertRule; onClose: () => void }) {
  const queries = useQueryClient();
  async function remove() {
    await deleteAlertRule(env, rule.id);
    await reload(queries, ["alerts", env]);
    toast("ok", `${rule.name} deleted.`);
    onClose();
  }
  return (
    <FormDialog title={`Delete ${rule.name}?`} submit="Delete" danger onClose={onClose} onSubmit={remove}>
      <p className="second">{ruleText(rule)}. It is not measured any more, and an alert that is raised is resolved.</p>
    </FormDialog>
  );
}
