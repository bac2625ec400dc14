/**
 * Classifies errors of PostgreSQL and its connections: PostgreSQL is temporarily unusable, two transactions conflicted, or our code is
 * wrong. Only codes are used, SQLSTATE and Node's; the few errors that `pg` throws without a code are listed by their exact
 * text. Any other error is a bug and is rethrown.
 */

import { EnvironmentMoved, StoreUnavailable } from "../contract/index.ts";

/** Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html that are not caused by our statements. */
const UNAVAILABLE: readonly [prefix: string, meaning: string][] = [
  ["08", "the connection to PostgreSQL broke"],
  ["53100", "the disk of PostgreSQL is full"],
  ["53", "PostgreSQL has no resources left"],
  ["57P", "PostgreSQL is stopping or starting"],
  ["58", "PostgreSQL reported a system error"],
  ["25006", "PostgreSQL is read-only"],
  ["25P03", "a transaction stood still too long"],
  ["25P04", "a transaction took too long"],
  ["55P03", "timed out waiting for a lock"],
  ["57014", "a statement took too long"],
  ["XX", "PostgreSQL reported an internal error"],
];

/** Raised by note_moving_row: the environment may not be written in this database. Says nothing about the server. */
const ENVIRONMENT_FENCED = "IN001";

/** Node's codes for a connection that was not established: nothing was sent. */
const NOT_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENOENT", "EACCES"]);
/** Node's codes for a connection that broke. */
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT", "ECONNABORTED", "ENETDOWN", "ENETRESET", "ENOTCONN", "ERR_STREAM_DESTROYED"]);

/** Errors of pg and pg-pool without a code; failures.test.ts provokes each. */
const NOT_CONNECTED_TEXTS = new Set([
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Connection terminated due to connection timeout",
]);
const BROKEN_TEXTS = new Set([
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "Query read timeout",
]);

type Fault = "not connected" | "broken";

/** A message for people, or null if the statement caused the error. */
export function serverFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof NoResponse || error instanceof ConnectionRefused) return error.message;
  if (connectionFault(error) !== null) return `PostgreSQL cannot be reached (${error.message})`;
  const state = sqlStateOf(error);
  const known = state === null ? undefined : UNAVAILABLE.find(([prefix]) => state.startsWith(prefix));
  return known ? `${known[1]} (${error.message})` : null;
}

/** A deadlock, or a concurrent change of data that the statement read: nothing was written, and a retry can succeed. */
export function isCollision(error: unknown): boolean {
  return ["40P01", "40001"].includes(sqlStateOf(error) ?? "");
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === "23505";
}

/** Another transaction held the lock longer than the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === "55P03";
}

/** The connection broke: the last statement may have taken effect. PostgreSQL also ends that of a node that stood still. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  return state === null ? connectionFault(error) === "broken" : ["08", "57P", "25P03"].some((prefix) => state.startsWith(prefix));
}

/** PostgreSQL did not end the work in time: another attempt would wait as long again. */
export function isTimeout(error: unknown): boolean {
  return error instanceof NoResponse || ["25P04", "55P03", "57014"].includes(sqlStateOf(error) ?? "");
}

/** The node closed the connection, because PostgreSQL did not even report that a limit was reached. */
export class NoResponse extends Error {}

/** The server, or what is between, refuses connections for a reason that says nothing of our statements: a wrong password, no such database. */
export class ConnectionRefused extends Error {}

/** Of a connection that could not be established: nothing was sent. */
export function refusedConnection(error: unknown): unknown {
  if (!(error instanceof Error) || serverFault(error) !== null) return error;
  return new ConnectionRefused(`PostgreSQL cannot be reached (${error.message})`, { cause: error });
}

/** A server that has no room for one more connection is there. */
export function isOutOfConnections(error: unknown): boolean {
  return sqlStateOf(error) === "53300";
}

/** StoreUnavailable if the server, or the move of an environment, caused the error, otherwise the error itself. */
export function translate(error: unknown): unknown {
  if (sqlStateOf(error) === ENVIRONMENT_FENCED) return new EnvironmentMoved((error as Error).message, error);
  const fault = serverFault(error);
  return fault ? new StoreUnavailable(fault, error) : error;
}

function sqlStateOf(error: unknown): string | null {
  const code = codeOf(error);
  return code !== null && /^[0-9A-Z]{5}$/.test(code) && !BROKEN.has(code) ? code : null;
}

function connectionFault(error: Error): Fault | null {
  const code = codeOf(error);
  if (code !== null) return NOT_CONNECTED.has(code) ? "not connected" : BROKEN.has(code) ? "broken" : null;
  // Each of several addresses of one host failed: one error for all of them.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isNotConnected) ? "not connected" : null;
  if (NOT_CONNECTED_TEXTS.has(error.message)) return "not connected";
  return BROKEN_TEXTS.has(error.message) ? "broken" : null;
}

function isNotConnected(error: unknown): boolean {
  return error instanceof Error && connectionFault(error) !== null;
}

function codeOf(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" ? code : null;
}
