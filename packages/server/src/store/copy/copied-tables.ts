/**
 * What is copied from the embedded store to PostgreSQL: every table, and the source of each column. Numbers stay the same, so
 * references between rows stay valid. `everything-is-copied.test.ts` compares this list with both schemas: a migration that adds a
 * column to either fails it until the column is listed here.
 */

import { boundedKey, isShort } from "../postgres/bounded-key.ts";
import { ANY_PATH } from "../waits/postgres/waits.ts";

export type Value = string | number | null;
export type SourceRow = Record<string, Value>;

export interface CopiedTable {
  /** The same in both. */
  name: string;
  /** Columns of the source that identify its rows; rows are read in their order. */
  key: readonly string[];
  /** For a column of the target, the column of the source. */
  columns: Readonly<Record<string, string>>;
  /** For a column of the target, an expression over the source. */
  derived?: Readonly<Record<string, string>>;
  /** For a column of the target, how its value is converted. `beganAt` is when the copy began. */
  convert?: Readonly<Record<string, (value: Value, row: SourceRow, beganAt: number) => Value>>;
  /** Columns that only the target has, which get their defaults. */
  defaults?: readonly string[];
}

/** One row, written to check whether the store is writable: each store has its own. */
export const SOURCE_LEFT_OUT: readonly string[] = ["probe"];
/** Data about nodes and migrations, and data that only several nodes need. */
export const TARGET_OWN: readonly string[] = [
  "probe",
  "schema_version",
  "nodes",
  "leaders",
  "time_partitions",
  "partition_changes",
  "quota_leases",
  "databases",
  "installation",
  "environment_moves",
  "moving_environments",
  "moved_changes",
  "moved_tables",
  // copy-store.ts copies the key that is stored next to the embedded store.
  "store_copy",
  "store_copy_tables",
  "encryption_key",
];

/** In an order that satisfies foreign keys. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  {
    name: "environments",
    key: ["environment_id"],
    columns: same(`
      environment_id name kind created_at archived_at body_bytes_max event_retention_ms run_retention_ms
      request_retention_ms events_per_second_max events_per_day_max bytes_per_day_max calls_at_once_max stored_bytes_max
      database_no`),
  },
  {
    name: "keys",
    key: ["rowid"],
    columns: {
      key_no: "rowid",
      ...same("key_id kind name environment_id hash prefix secret role environments event_names ips"),
      ...same("created_at revoked_at"),
    },
  },
  { name: "store_secrets", key: ["name"], columns: same("name secret") },
  { name: "event_names", key: ["name_id"], columns: same("name_id name") },
  { name: "event_sources", key: ["source_no"], columns: same("source_no source_kind source_id") },
  {
    name: "events",
    key: ["sequence"],
    columns: same(`
      sequence environment_id event_id name_id ts received_at dedup_id source_no duplicates matched trace source_run_id
      extras schema_errors data`),
  },
  {
    name: "dedup_keys",
    key: ["environment_id", "dedup_id"],
    columns: { ...same("environment_id event_id first_seen_at"), dedup_key: "dedup_id" },
    convert: { dedup_key: (text) => boundedKey(text as string) },
  },
  {
    name: "webhooks",
    key: ["rowid"],
    columns: {
      webhook_no: "rowid",
      ...same("webhook_id environment_id name version event_names ips enabled"),
      ...same("verify handshake answer mirror reconcile secrets"),
      ...same("created_at updated_at deleted_at"),
    },
  },
  {
    name: "webhook_tokens",
    key: ["token"],
    columns: same("token webhook_id created_at retired_at"),
    derived: ofWebhook("webhook_tokens"),
  },
  {
    name: "webhook_versions",
    key: ["webhook_id", "version"],
    columns: same("webhook_id version transform created_at author"),
    derived: ofWebhook("webhook_versions"),
  },
  {
    name: "webhook_requests",
    key: ["sequence"],
    columns: same(`
      sequence environment_id webhook_id request_id received_at ip method headers query content_type body
      body_base64 status outcome error event_id delivered_to transform_version duration_ms logs verified_at
      reconciled body_key`),
  },
  {
    name: "apps",
    key: ["app_no"],
    columns: same(`
      app_no app_id environment_id name url sdk headers framework checksum created_at synced_at error removed_at
      signing_key_id`),
  },
  {
    name: "functions",
    key: ["function_no"],
    columns: same(`
      function_no environment_id app_no function_id name config created_at updated_at archived_at paused_at limits`),
  },
  {
    name: "runs",
    key: ["run_no"],
    columns: same(`
      run_no environment_id run_id function_no event_no event_nos status lane created_at started_at ended_at
      request_version is_parallel state_bytes cron original_run_id job_id invoker_run_no invoker_step_id order_key
      cancel_event_id output error`),
  },
  {
    name: "limit_slots",
    key: ["limit_id", "run_no", "entry_no"],
    columns: same("limit_id run_no entry_no"),
    derived: ofRun("limit_slots"),
  },
  {
    name: "ordered_runs",
    key: ["position"],
    columns: same("position environment_id function_no key run_no state held_at"),
  },
  { name: "batched_events", key: ["event_no", "run_no"], columns: same("event_no run_no"), derived: ofRun("batched_events") },
  {
    name: "steps",
    key: ["run_no", "step_id"],
    columns: same(`
      run_no step_id kind name status position done_position started_at ended_at attempts until detail event_id
      value`),
    derived: ofRun("steps"),
  },
  {
    name: "failed_attempts",
    key: ["rowid"],
    columns: { attempt_no: "rowid", ...same("run_no ended_at step_id attempt started_at http_status error") },
    derived: ofRun("failed_attempts"),
  },
  {
    name: "calls",
    key: ["call_no"],
    columns: same(`
      call_no run_no step_id attempt started_at ended_at http_status is_error path steps_given answer answer_length logs`),
    derived: ofRun("calls"),
  },
  {
    name: "queue",
    key: ["entry_no"],
    columns: same(`
      entry_no environment_id lane home_lane rank home_rank due_at kind run_no function_no step_id attempt claims
      calling_probes concluding_probes lease_id leased_by again subject event_no ended_run_no outcome`),
    // Entries that the embedded store's one node held when it ended are due again, as after any stop.
    convert: {
      lease_id: () => null,
      leased_by: () => null,
      rank: (value, row, beganAt) => (row.kind === "call" ? value : unheld(value, row, beganAt)),
      due_at: unheld,
    },
  },
  {
    name: "waits",
    key: ["wait_no"],
    columns: same(`
      wait_no environment_id event_name match_path match_key kind run_no step_id expression since expires_at look_at
      look_no`),
    convert: {
      match_path: pathOf,
      match_key: (text, row) => (pathOf(row.match_path ?? "") === ANY_PATH ? "" : boundedKey(text as string)),
    },
  },
  {
    name: "approvals",
    key: ["approval_id"],
    columns: same(`
      approval_id environment_id wait_name signal status is_pending prompt data confirms_reject run_no run_id
      function_no step_id created_at expires_at ended_at decided_by comment decision_data request_event_id
      decision_event_id`),
  },
  {
    name: "resumptions",
    key: ["environment_id", "event_name", "event_no"],
    columns: same("environment_id event_name event_no after_wait_no"),
  },
  {
    name: "marks",
    key: ["function_no", "kind", "key"],
    columns: same("function_no kind key value expires_at"),
    derived: { environment_id: "(SELECT f.environment_id FROM functions AS f WHERE f.function_no = marks.function_no)" },
    convert: { key: (text) => boundedKey(text as string) },
  },
  {
    name: "cancellations",
    key: ["environment_id", "cancellation_id"],
    columns: same(`
      environment_id cancellation_id function_id started_after started_before expression created_at ended_at`),
  },
  {
    name: "sessions",
    key: ["rowid"],
    columns: same("session_id hash key_id created_at last_seen_at expires_at ip user_agent person"),
  },
  {
    name: "audit_log",
    key: ["sequence"],
    columns: same(`
      sequence at actor_kind actor_id actor_name action target_kind target_id target_name environment details`),
  },
  {
    name: "idempotency_keys",
    key: ["owner", "key"],
    columns: same("owner key fingerprint started_at status body"),
    defaults: ["claim_id"],
    convert: { key: (text) => boundedKey(text as string) },
  },
  {
    name: "idempotency_key_times",
    key: ["owner", "key", "id_time"],
    columns: same("owner key id_time"),
    convert: { key: (text) => boundedKey(text as string) },
  },
  {
    name: "event_types",
    key: ["environment_id", "name_id"],
    columns: same("environment_id name_id first_seen_at last_seen_at count"),
  },
  {
    name: "event_type_settings",
    key: ["environment_id", "name"],
    columns: same("environment_id name retention_ms"),
  },
  {
    name: "event_schemas",
    key: ["environment_id", "name"],
    columns: same("environment_id name schema mode description version updated_at faults last_fault_at"),
  },
  {
    name: "event_schema_versions",
    key: ["environment_id", "name", "version"],
    columns: same("environment_id name version schema created_at"),
  },
  { name: "event_shapes", key: ["environment_id", "name"], columns: same("environment_id name shape") },
  { name: "event_shapes_read", key: ["only_row"], columns: same("only_row sequence") },
  {
    name: "event_type_hours",
    key: ["environment_id", "name_id", "hour"],
    columns: same("environment_id name_id hour count"),
  },
  {
    name: "jobs",
    key: ["job_id"],
    columns: same(`
      job_id environment_id kind filter function_id status total done failed rate list_cursor errors report tally
      series scheduled created_at started_at ended_at leased_by leased_until`),
    // The node that processed it is gone.
    convert: { leased_by: () => null, leased_until: () => 0 },
  },
  {
    name: "realtime_messages",
    key: ["environment_id", "number"],
    columns: same("environment_id number channel topic text bytes run_id published_at"),
  },
  { name: "realtime_numbers", key: ["environment_id"], columns: same("environment_id last_number") },
  {
    name: "failure_states",
    key: ["environment_id", "failure_key"],
    columns: same("environment_id failure_key decision decided_at decided_by"),
  },
  {
    name: "saved_filters",
    key: ["environment_id", "list", "name"],
    columns: same("environment_id list name search saved_by saved_at"),
  },
  {
    name: "alert_rules",
    key: ["environment_id", "rule_id"],
    columns: same(`
      environment_id rule_id name kind function_id webhook_id event_name threshold window_ms quiet_hours enabled
      created_at updated_at raised_at last_raised_at value changes`),
  },
  {
    name: "pending_mirrors",
    key: ["environment_id", "event_id"],
    columns: same("environment_id event_id webhook_id targets"),
  },
  {
    name: "reconciliations",
    key: ["environment_id", "webhook_id", "job_id"],
    columns: same(`
      environment_id webhook_id job_id at started_at since_at until_at scheduled listed seen recovered failed error`),
  },
  { name: "job_items", key: ["job_id", "position"], columns: same("job_id position environment_id items") },
  { name: "event_types_counted", key: ["only_row"], columns: same("only_row sequence") },
  traffic("traffic_minutes"),
  traffic("traffic_hours"),
  {
    name: "usage_hours",
    key: ["environment_id", "kind", "at", "subject"],
    columns: same("environment_id kind at subject accepted duplicates refused bytes runs calls transform_ms"),
    defaults: ["writer"],
  },
  {
    name: "activity_hours",
    key: ["environment_id", "kind", "at", "subject"],
    columns: same("environment_id kind at subject parts last_at"),
  },
];

function traffic(name: string): CopiedTable {
  const sums = same("accepted duplicates refused runs_started runs_completed runs_failed");
  return { name, key: ["environment_id", "at"], columns: { ...same("environment_id at"), ...sums }, defaults: ["writer"] };
}

/** A path that is too long for an index matches every event. */
function pathOf(path: Value): string {
  return isShort(path as string) ? (path as string) : ANY_PATH;
}

/** 0, which is no environment, for rows of a run that no longer exists: they are unreachable and expire like other old data. */
function ofRun(table: string): Record<string, string> {
  return { environment_id: `coalesce((SELECT r.environment_id FROM runs AS r WHERE r.run_no = ${table}.run_no), 0)` };
}

function ofWebhook(table: string): Record<string, string> {
  return { environment_id: `(SELECT w.environment_id FROM webhooks AS w WHERE w.webhook_id = ${table}.webhook_id)` };
}

/** Columns of the same name in both, separated by spaces. */
function same(names: string): Record<string, string> {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, name]),
  );
}

function unheld(value: Value, { leased_by: holder }: SourceRow, beganAt: number): Value {
  return holder === null ? value : beganAt;
}
