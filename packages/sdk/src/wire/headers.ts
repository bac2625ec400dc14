/** Headers between the SDK and the service, in lower case, as every runtime provides them. */

export const HEADER = {
  sdk: "x-service-sdk",
  environment: "x-service-env",
  environmentExists: "x-service-env-exists",
  signature: "x-service-signature",
  run: "x-service-run",
  runId: "x-service-run-id",
  /** The number of characters at the end of a response that are not part of it: log lines, as JSON in ASCII. */
  logs: "x-service-logs",
  noRetry: "x-service-no-retry",
  retryAfter: "retry-after",
  requestVersion: "x-service-req-version",
  serverKind: "x-service-server-kind",
  expectedServerKind: "x-service-expected-server-kind",
  syncKind: "x-service-sync-kind",
  eventIdSeed: "x-inngest-event-id-seed",
} as const;

/**
 * The request version of a response determines when the service calls again while parallel steps are in progress: 1, after each; 2, once
 * the last of them has ended. Only the first is right for every way of combining promises: a race or a chain continues before the last
 * step. Steps that end together share one call.
 */
export const REQUEST_VERSION = 1;
