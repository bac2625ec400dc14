/** Tells apart what PostgreSQL and its connections throw: it cannot be used for the moment, two transactions met, or our own fault. */

import { StoreUnavailable } from "../contract/index.ts";

/** Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html that are nobody's fault here. */
const UNAVAILABLE: readonly [prefix: string, meaning: string][] = [
  ["08", "the connection to PostgreSQL broke"],
  ["53100", "the disk of PostgreSQL is full"],
  ["53", "PostgreSQL has no resources left"],
  ["57P", "PostgreSQL is stopping or starting"],
  ["58", "PostgreSQL met an error of its system"],
  ["25006", "PostgreSQL is read-only"],
  ["55P03", "a lock could not be had in time"],
  ["57014", "a statement took too long"],
  ["XX", "PostgreSQL met an internal error"],
];

/** What a person can be told, or null when the fault lies with the statement. */
export function serverFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = codeOf(error);
  if (code === null) return isConnectionFault(error) ? `PostgreSQL cannot be reached (${error.message})` : null;
  const known = UNAVAILABLE.find(([prefix]) => code.startsWith(prefix));
  return known ? `${known[1]} (${error.message})` : null;
}

/** What was decided on no longer holds, or a deadlock had to be resolved: nothing was written. */
export function isCollision(error: unknown): boolean {
  return isDeadlock(error) || (error instanceof Error && codeOf(error) === "40001");
}

/** The same again will do. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "40P01";
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "23505";
}

/** Somebody else had the lock for longer than we wanted to wait. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "55P03";
}

/** The connection broke: whether PostgreSQL had committed by then is not known. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return code === null ? isConnectionFault(error) && !isRefused(error) : code.startsWith("08") || code.startsWith("57P");
}

/** StoreUnavailable when the server is at fault, else the error itself. */
export function translate(error: unknown): unknown {
  const fault = serverFault(error);
  return fault ? new StoreUnavailable(fault, error) : error;
}

function codeOf(error: Error): string | null {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Errors of sockets carry a code such as ECONNREFUSED, those of the client only a sentence. */
function isConnectionFault(error: Error): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^E[A-Z_]+$/.test(code)) return true;
  return /connection|timeout exceeded|read timeout|timed out|not queryable|was closed|ended/i.test(error.message);
}

/** Nothing was sent. */
function isRefused(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"].includes(String(code)) || /when trying to connect/.test(error.message);
}
