/** The table of metrics: names, labels and help texts, as in docs/how-to/operation.md. Event names are not labels: senders choose them. */

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const RUN_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 3_600, 21_600, 86_400];
const EVENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

export function createInstruments(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter<Label>({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[]) => new Histogram({ name, help, buckets, registers });
  const perFunction = ["environment", "function"] as const;
  return {
    accepted: counter("inlet_events_accepted_total", "Events stored.", ["environment", "source"]),
    duplicate: counter("inlet_events_duplicate_total", "Events ignored as duplicates.", ["environment"]),
    refused: counter("inlet_events_refused_total", "Requests to /e/ that were refused.", ["environment", "code"]),
    webhookRequests: counter("inlet_webhook_requests_total", "Webhook requests, by outcome.", ["environment", "outcome"]),
    transformDuration: histogram("inlet_transform_duration_seconds", "Time a transform took.", SECONDS),
    commitDuration: histogram("inlet_commit_duration_seconds", "Time a transaction of the store took.", SECONDS),
    commitEvents: histogram("inlet_commit_events", "Events stored by one transaction.", EVENTS),
    queueLength: gauge("inlet_queue_length", "Calls that are due or in progress.", perFunction),
    queueAge: gauge("inlet_queue_age_seconds", "How long the oldest call that has not begun has been due.", perFunction),
    calls: counter("inlet_calls_total", "Calls to apps, by outcome.", ["environment", "function", "outcome"]),
    callRetries: counter("inlet_call_retries_total", "Calls to apps that were retries.", perFunction),
    runsStarted: counter("inlet_runs_started_total", "Runs whose first call was made and recorded.", perFunction),
    runsEnded: counter("inlet_runs_ended_total", "Runs that ended, by status.", ["environment", "function", "status"]),
    runDuration: histogram("inlet_run_duration_seconds", "Time from the creation of a run to its end.", RUN_SECONDS),
    loopDelay: histogram("inlet_event_loop_delay_seconds", "How late timers of the process are.", SECONDS),
    usageAccepted: gauge("inlet_usage_events_accepted", "Events accepted today (UTC), by all nodes.", ["environment"]),
    usageDuplicates: gauge("inlet_usage_events_duplicate", "Duplicates ignored today (UTC), by all nodes.", ["environment"]),
    usageRefused: gauge("inlet_usage_events_refused", "Events refused today (UTC), by all nodes.", ["environment"]),
    usageBytes: gauge("inlet_usage_bytes", "Bytes of bodies accepted today (UTC), by all nodes.", ["environment"]),
    usageRuns: gauge("inlet_usage_runs", "Runs created today (UTC), by all nodes.", ["environment"]),
    usageCalls: gauge("inlet_usage_calls", "Calls to apps made today (UTC), by all nodes.", ["environment"]),
    usageTransform: gauge("inlet_usage_transform_seconds", "Time transforms took today (UTC), on all nodes.", ["environment"]),
    usageQuota: gauge("inlet_usage_quota_limit", "Quotas that are set.", ["environment", "quota"]),
    storeBytes: gauge("inlet_store_bytes", "Size of the store on disk.", []),
    archiveFailing: gauge("inlet_archive_failing_seconds", "For how long old rows have waited for an archive that fails; 0: none do.", []),
    replicaUsed: gauge("inlet_replica_used", "1: the read replica answers reads for people; 0: the primary does.", ["database"]),
    replicaReachable: gauge("inlet_replica_reachable", "Whether the read replica answered when it was last asked.", ["database"]),
    replicaLag: gauge("inlet_replica_lag_seconds", "How far the read replica is behind; absent if that is not known.", ["database"]),
    replicaReads: counter("inlet_replica_reads_total", "Reads for people, by the server that answered.", ["database", "server"]),
  };
}

export type Instruments = ReturnType<typeof createInstruments>;
