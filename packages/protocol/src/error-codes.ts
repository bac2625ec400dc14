/**
 * The catalogue of errors: status, whether a retry can succeed, and what each means, for the documentation. The message of a response
 * is written where the request is refused.
 *
 * docs/reference/errors.md and the pages in docs/errors/ are generated from this table, and a test compares them.
 */

export interface ErrorKind {
  status: number;
  retry: "terminal" | "retryable";
  meaning: string;
}

export const ERRORS = {
  event_key_invalid: terminal(401, "The event key in the path is unknown or revoked."),
  body_invalid: terminal(400, "The body is not UTF-8, not JSON, or neither an object nor an array."),
  events_missing: terminal(400, "The body is empty or an empty array."),
  event_schema: terminal(
    400,
    "At least one event does not match the schema declared for its name. `details` lists all faults. Nothing was stored.",
  ),
  event_invalid: terminal(400, "At least one event is invalid. `details` lists all faults. Nothing was stored."),
  events_too_many: terminal(400, "The request contains too many events."),
  body_too_large: terminal(413, "The body is larger than the limit, and was not processed."),
  environment_missing: terminal(400, "A branch key requires the header x-service-env with the name of the branch environment."),
  environment_not_found: terminal(404, "The environment does not exist or is archived."),
  environment_forbidden: terminal(403, "The key belongs to another environment."),
  event_name_denied: terminal(403, "The lists of the key or webhook do not allow this event name."),
  ip_denied: terminal(403, "The lists of the key or webhook do not allow this IP address."),
  webhook_not_found: terminal(404, "The webhook does not exist, is disabled or deleted, or its URL was rotated."),
  transform_failed: terminal(400, "The webhook's transform threw an error. The message contains the error and its position."),
  transform_invalid_event: terminal(400, "The webhook's transform did not return a valid event."),
  transform_timeout: terminal(400, "The webhook's transform exceeded its CPU time limit."),
  transform_memory: terminal(400, "The webhook's transform exceeded its memory limit."),
  signature_invalid: terminal(
    401,
    "The webhook verifies its requests, and this one's signature or credentials are wrong, missing or too old.",
  ),
  secret_missing: terminal(
    401,
    "The webhook verifies its requests and has no secret yet. The request is recorded and can be replayed once the secret is set.",
  ),
  handshake_failed: terminal(400, "The webhook's handshake threw an error, ran too long, or returned no valid response."),
  method_not_allowed: terminal(405, "The path does not support this method. The header Allow lists the supported ones."),
  content_type_unsupported: terminal(415, "The path does not support this content type."),
  overloaded: retryable(503, "The service is at capacity. Retry after Retry-After seconds."),
  quota_exceeded: retryable(
    429,
    "The request exceeds a quota of the environment. `details` lists the quotas. Nothing was stored. Retry after Retry-After seconds.",
  ),
  disk_full: retryable(503, "The store has reached its disk budget. Nothing was stored. Retry after Retry-After seconds."),
  store_unavailable: retryable(503, "The store is not writable. Nothing was stored. Retry after Retry-After seconds."),

  api_key_missing: terminal(401, "The REST API requires the header Authorization: Bearer <API key>."),
  api_key_invalid: terminal(401, "The API key is unknown or revoked."),
  session_missing: terminal(401, "There is no session, or it has ended."),
  session_not_found: terminal(404, "No session with that id is open."),
  login_token_invalid: terminal(401, "The login link has already been used or is older than 15 minutes."),
  too_many_attempts: retryable(429, "Too many failed attempts from this IP address. Retry after Retry-After seconds."),
  origin_forbidden: terminal(
    403,
    "The request comes from another origin (allow it on a dev server with --allow-origin), or reaches a dev server by a host name that is neither local nor that of --public-url.",
  ),
  role_forbidden: terminal(403, "The role of the API key does not allow this request."),
  request_invalid: terminal(400, "A parameter, header or field of the request is invalid. `details` lists all faults."),
  route_not_found: terminal(404, "There is no such path, or not with this method."),
  event_not_found: terminal(404, "No event with that id exists in this environment."),
  key_not_found: terminal(404, "The key does not exist or is revoked."),
  key_last: terminal(
    409,
    "The last API key with the role admin or owner for all environments cannot be revoked. Create another one first.",
  ),
  webhook_request_not_found: terminal(404, "No recorded request with that id exists for this webhook."),
  webhook_request_incomplete: terminal(409, "The body of the request was too large to store, so it cannot be replayed."),
  webhook_version_not_found: terminal(404, "The webhook has no such version."),
  event_schema_not_found: terminal(404, "The event type has no schema with that version."),
  event_type_not_found: terminal(404, "No event with that name exists in this environment."),
  run_not_found: terminal(404, "No run with that id exists in this environment."),
  run_ended: terminal(409, "The run has already ended."),
  run_not_repeatable: terminal(409, "The run cannot be rerun, because its function or event no longer exists."),
  hold_not_found: terminal(404, "No key on hold with that id exists in this environment."),
  run_holds_nothing: terminal(409, "The run does not block other runs of its ordering key."),
  run_state_gone: terminal(410, "The run has ended. Its state is no longer available to the SDK."),
  step_not_found: terminal(404, "The run has no step with that id."),
  step_not_sleeping: terminal(409, "The step is not sleeping."),
  saved_filter_not_found: terminal(404, "No filter of that name is saved for this list in this environment."),
  alert_rule_not_found: terminal(404, "No alert rule with that id exists in this environment."),
  rhythm_unknown: terminal(400, "There is too little activity yet to know the usual rhythm."),
  job_not_found: terminal(404, "No job with that id exists in this environment."),
  job_ended: terminal(409, "The job has already ended."),
  function_not_found: terminal(404, "No function with that id is registered in this environment."),
  signal_not_found: terminal(404, "No run waits for this signal in this environment."),
  approval_not_found: terminal(404, "No approval with that id exists in this environment, or its link is wrong."),
  approval_ended: terminal(409, "The approval is no longer open: it was decided or has expired, or its run has ended."),
  approval_exists: terminal(409, "The signal has an approval that is open, or whose decision has not reached a run yet."),
  cancellation_not_found: terminal(404, "No bulk cancellation with that id exists in this environment."),
  function_not_started: terminal(
    422,
    "The invocation was accepted, but a rule of the function, such as a debounce or a rate limit, starts no run now.",
  ),
  invocation_repeated: terminal(409, "The idempotency key of the invocation was used before. The message contains the run it started."),
  app_not_found: terminal(404, "No app with that id exists in this environment."),
  app_unreachable: terminal(502, "The app could not be reached, or did not register its functions. The message contains the reason."),
  registration_invalid: terminal(400, "The app's registration is invalid. `details` lists all faults. Nothing was registered."),
  signing_key_invalid: terminal(401, "The app's signing key is missing, unknown or revoked."),
  realtime_token_invalid: terminal(401, "The realtime token is missing, was not issued here, has expired, or its signing key was revoked."),
  server_kind_wrong: terminal(400, "The app is configured for the other mode: for a dev server, or for a server that signs its calls."),
  connect_unsupported: terminal(501, "Workers that connect to the service are not supported. Serve the functions over HTTP."),
  sdk_feature_unsupported: terminal(501, "The SDK's feature is not supported. The message says what to do instead."),
  checkpoint_invalid: terminal(400, "The checkpoint is not a list of step results."),
  call_superseded: terminal(409, "The call that sent these results has been superseded by a new one. They were discarded."),
  environment_exists: terminal(409, "An environment with that name already exists."),
  environment_permanent: terminal(409, "The default environment cannot be archived."),
  database_invalid: terminal(400, "The URL is not the URL of a PostgreSQL database. Nothing was added."),
  database_unreachable: terminal(
    502,
    "The database cannot be reached, or cannot be used. The message contains the reason. Nothing was added.",
  ),
  database_taken: terminal(409, "The database is in use: by another installation, or already by this one. Nothing was added."),
  database_exists: terminal(409, "A database with that name already exists."),
  database_not_found: terminal(404, "No database with that name exists."),
  environment_moving: retryable(409, "The environment is being moved to another database."),
  databases_too_many: terminal(409, "The installation already has the maximum number of databases."),
  databases_unsupported: terminal(501, "Several databases need PostgreSQL as the store. This service uses an embedded store."),
  idempotency_key_reused: terminal(422, "The Idempotency-Key was already used with a different request."),
  idempotency_key_busy: retryable(409, "The first request with this Idempotency-Key is still in progress."),
  idempotency_key_used: terminal(
    409,
    "The request was already made. Its response contained a secret and is not stored. `details` contains the id of the created object.",
  ),
  internal_error: retryable(500, "Unexpected error. See the log of the service."),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** One fault of a request: `index` is the event's position in the array, `field` the invalid field. */
export interface Fault {
  index?: number;
  field: string;
  message: string;
  /** The position in the event's `data`, as a JSON Pointer: for events that do not match their schema. */
  path?: string;
  /** The position in a text such as a transform, counted from 1. */
  line?: number;
  column?: number;
  /** The position in an expression, counted from 1. */
  position?: number;
}

/** A quota that has no room for a request; `used` is without it. */
export interface QuotaFault {
  quota: string;
  limit: number;
  used: number;
  /** An instant in ISO 8601. */
  resetsAt: string;
}

export type RefusalDetails = readonly (Fault | QuotaFault)[];

/** A refused request, returned as a value instead of an exception. */
export class Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: RefusalDetails | undefined;
  /** Seconds after which a retry may succeed, if known. */
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, details?: RefusalDetails, retryAfterS?: number) {
    this.code = code;
    this.message = message;
    this.details = details;
    this.retryAfterS = retryAfterS;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The JSON text of every error response. */
export function errorBody({ message, code, status, details }: Refusal): string {
  return JSON.stringify({ error: message, code, status, docs: errorPage(code), details });
}

/** The path of the page that explains a code: the service serves its own documentation. */
export function errorPage(code: ErrorCode): string {
  return `/docs/errors/${code}`;
}

function terminal(status: number, meaning: string): ErrorKind {
  return { status, retry: "terminal", meaning };
}

function retryable(status: number, meaning: string): ErrorKind {
  return { status, retry: "retryable", meaning };
}
