/** An error response as a fault: message, code, position and suggested fix. */

import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";

interface Detail {
  index?: number;
  field?: string;
  message?: string;
  line?: number;
  column?: number;
}

interface ErrorResponse {
  error?: string;
  code?: string;
  /** The path of the page that explains the code. */
  docs?: string;
  details?: Detail[];
}

const ADVICE: Readonly<Record<string, string>> = {
  api_key_missing: "Set the API key with --api-key or INLET_API_KEY. The first start of the service prints one.",
  api_key_invalid: "Set the API key with --api-key or INLET_API_KEY.",
  role_forbidden:
    'Use a key whose role allows this: operator for repairs, ingest-admin for webhooks, admin for everything else; create one with "inlet keys create <name> --kind api --role <role>".',
  event_key_invalid: 'The event key is taken from --key or SERVICE_EVENT_KEY (or INLET_EVENT_KEY); "inlet keys create <name>" makes one.',
  environment_not_found: '"inlet env list" shows the environments there are.',
  environment_missing: "Set the branch environment with --env or INLET_ENV.",
};

export function refusal(base: string, status: number, response: unknown): CommandFault {
  const { error, code, docs, details = [] } = (response ?? {}) as ErrorResponse;
  if (!error || !code) return foreignResponse(base, status);
  // The message already contains a single fault, but not its position.
  const faults = details.length > 1 || details[0]?.line !== undefined ? details.map(written) : [];
  const advice = ADVICE[code];
  const link = docs?.startsWith("/docs/") ? [`See ${base}${docs}`] : [];
  return new CommandFault([`${error} (${code})`, ...faults, ...(advice ? [advice] : []), ...link], code, exitOf(status));
}

/** Not of the service. A proxy in front of it reports these while the service restarts; with a code, they are about an app or a database. */
function foreignResponse(base: string, status: number): CommandFault {
  if (status !== 502 && status !== 504)
    return new CommandFault(`${base} returned status ${status}. Check that it is an Inlet service.`, null, exitOf(status));
  const reason =
    status === 502
      ? "a proxy in front of the service cannot reach it. Check that the service runs."
      : "a proxy in front of the service got no response in time. Retry later, or raise its time limit.";
  return new CommandFault(`${base} returned status ${status}: ${reason}`, null, EXIT.unreachable);
}

function exitOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.denied;
  return status === 503 || status === 429 ? EXIT.unreachable : EXIT.failed;
}

function written({ field, message, line, column }: Detail): string {
  return `${[field, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
}
