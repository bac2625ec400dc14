/** The headers of the wire protocol, in the two sets that SDKs use: our own and that of the published Inngest SDKs. */

import type { HeaderSet } from "../../store/contract/index.ts";

export interface HeaderNames {
  sdk: string;
  signature: string;
  serverKind: string;
  noRetry: string;
  requestVersion: string;
  stepId: string;
  runId: string;
  framework: string;
  expectedServerKind: string;
  syncKind: string;
  /** Only our own SDK sends it. */
  logs: string;
}

export const HEADER_NAMES: Readonly<Record<HeaderSet, HeaderNames>> = {
  service: namesWith("x-service-", "x-service-run-id"),
  inngest: namesWith("x-inngest-", "x-run-id"),
};

function namesWith(prefix: string, runId: string): HeaderNames {
  return {
    sdk: `${prefix}sdk`,
    signature: `${prefix}signature`,
    serverKind: `${prefix}server-kind`,
    noRetry: `${prefix}no-retry`,
    requestVersion: `${prefix}req-version`,
    stepId: `${prefix}step-id`,
    runId,
    framework: `${prefix}framework`,
    expectedServerKind: `${prefix}expected-server-kind`,
    syncKind: `${prefix}sync-kind`,
    logs: `${prefix}logs`,
  };
}
