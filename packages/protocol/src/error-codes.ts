/**
 * Every error the service answers with: its status, whether the same request may succeed later, and what it means.
 * docs/errors.md is written from this table, and a test holds the two together.
 */

export interface ErrorKind {
  status: number;
  retry: "terminal" | "retryable";
  meaning: string;
}

export const ERRORS = {
  event_key_invalid: terminal(401, "The event key in the path is unknown or was revoked."),
  body_invalid: terminal(400, "The body is not UTF-8, not JSON, or neither an object nor an array."),
  events_missing: terminal(400, "The body is empty, or an empty array."),
  event_invalid: terminal(400, "At least one event breaks a rule; `details` names each fault. Nothing was stored."),
  events_too_many: terminal(400, "The request carries more events than one request may."),
  body_too_large: terminal(413, "The body is larger than the environment's limit. It was not read to its end."),
  environment_missing: terminal(400, "A branch key needs the header x-service-env to say which branch environment is meant."),
  environment_not_found: terminal(404, "No environment of that name exists, or it is archived."),
  environment_forbidden: terminal(403, "The key belongs to another environment than the one named."),
  event_name_denied: terminal(403, "The lists of the key or webhook do not let this event name through."),
  ip_denied: terminal(403, "The lists of the key or webhook do not let this address through."),
  webhook_not_found: terminal(404, "The webhook is disabled or deleted, its URL was changed, or there is none with that id."),
  transform_failed: terminal(400, "The webhook's transform threw an error; the message says which, and where."),
  transform_invalid_event: terminal(400, "The webhook's transform did not return a valid event."),
  transform_timeout: terminal(400, "The webhook's transform ran longer than it may."),
  transform_memory: terminal(400, "The webhook's transform needed more memory than it may."),
  method_not_allowed: terminal(405, "The path exists, but not with this method; the header Allow names those that do."),
  content_type_unsupported: terminal(415, "The content type is not one this path reads."),
  overloaded: retryable(503, "The service holds as many requests as it can; send again after Retry-After seconds."),
  store_unavailable: retryable(503, "The store cannot be written right now; nothing was stored. Send again after Retry-After seconds."),

  api_key_missing: terminal(401, "The REST API needs the header Authorization: Bearer <API key>."),
  api_key_invalid: terminal(401, "The API key is unknown or was revoked."),
  session_missing: terminal(401, "Nobody is signed in, or the session has ended."),
  session_not_found: terminal(404, "No session with that id is open."),
  login_token_invalid: terminal(401, "The login link was used before, or is older than 15 minutes."),
  too_many_attempts: retryable(429, "Too many attempts from this address have failed; wait as long as Retry-After says."),
  origin_forbidden: terminal(
    403,
    "The call comes from a page of another site (for a dev server, --allow-origin lets one in), or calls a dev server by another name than localhost.",
  ),
  role_forbidden: terminal(403, "The role of this API key does not allow the call."),
  request_invalid: terminal(400, "A parameter, header or field of the request breaks a rule; `details` names each fault."),
  route_not_found: terminal(404, "There is nothing at this path."),
  event_not_found: terminal(404, "No event with that id exists in this environment."),
  key_not_found: terminal(404, "No such key exists, or it was revoked."),
  key_last: terminal(409, "This is the last key that can do its work; create another one first."),
  webhook_request_not_found: terminal(404, "No request with that id is recorded for this webhook."),
  webhook_request_incomplete: terminal(409, "The body of this request was too large to keep, so it cannot be run again."),
  webhook_version_not_found: terminal(404, "The webhook has no such version."),
  event_type_not_found: terminal(404, "No event of that name was accepted in this environment."),
  run_not_found: terminal(404, "No run with that id exists in this environment."),
  run_ended: terminal(409, "The run has ended already."),
  run_not_repeatable: terminal(409, "The run's function or event is gone, so it cannot be run again."),
  run_state_gone: terminal(410, "The run has ended, and its state is of no more use to an SDK."),
  app_not_found: terminal(404, "No app with that id exists in this environment."),
  app_unreachable: terminal(502, "The app could not be reached, or did not register itself when asked to; the message says why."),
  registration_invalid: terminal(400, "An app's registration breaks a rule; `details` names each fault. Nothing of it was kept."),
  signing_key_invalid: terminal(401, "The app's signing key is missing, unknown or revoked."),
  server_kind_wrong: terminal(400, "The app is set up for the other kind of server: a dev server, or one that signs its calls."),
  checkpoint_invalid: terminal(400, "What an SDK handed in while its call went on is not a list of step results."),
  call_superseded: terminal(409, "The call these results come from was given up, and the function is called anew: they are not kept."),
  environment_exists: terminal(409, "An environment of that name exists already."),
  environment_permanent: terminal(409, "The default environment cannot be archived."),
  idempotency_key_reused: terminal(422, "The Idempotency-Key was sent before with another call."),
  idempotency_key_busy: retryable(409, "The first call with this Idempotency-Key is still under way."),
  idempotency_key_used: terminal(
    409,
    "The call was made before; its answer showed a secret and is not kept. `details` has the id created.",
  ),
  internal_error: retryable(500, "The service failed in a way it should not have; its log says more."),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** One thing wrong with a request: `index` is the event's place in the array, `field` the part at fault. */
export interface Fault {
  index?: number;
  field: string;
  message: string;
  /** Where in a text such as a transform, counted from 1. */
  line?: number;
  column?: number;
}

/** How a stage says no: a value it returns, not an exception. */
export class Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: readonly Fault[] | undefined;

  constructor(code: ErrorCode, message: string, details?: readonly Fault[]) {
    this.code = code;
    this.message = message;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The body of every error answer. */
export function errorBody({ message, code, status, details }: Refusal): string {
  return JSON.stringify({ error: message, code, status, details });
}

function terminal(status: number, meaning: string): ErrorKind {
  return { status, retry: "terminal", meaning };
}

function retryable(status: number, meaning: string): ErrorKind {
  return { status, retry: "retryable", meaning };
}
