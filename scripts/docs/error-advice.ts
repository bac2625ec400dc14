/** What to do about each error: the second half of its page in docs/errors/. A new code needs a line here before it compiles. */

import type { ErrorCode } from "@inlet/protocol";

export const ERROR_ADVICE: Readonly<Record<ErrorCode, string>> = {
  event_key_invalid:
    "Check the key in the path of the URL: `/e/<key>`. `inlet keys list` shows the first characters of every key that works. Create a new key with `inlet keys create <name>` if this one was revoked. The SDK reads the key from `INLET_EVENT_KEY` or `SERVICE_EVENT_KEY`.",
  body_invalid:
    "Send JSON in UTF-8: one object, or an array of objects. The message says where parsing failed. In a shell, put the body in single quotes, so that the double quotes of JSON survive.",
  events_missing: "Put at least one event in the body. If your code collects events first, send nothing when there are none.",
  event_schema:
    "Each entry of `details` has the `path` of a value that does not match. Correct the sender, or change the schema of the event type. To accept such events for now, set the mode of the event type to `warn`.",
  event_invalid:
    "Each entry of `details` names the event by its `index`, the `field` and the rule it breaks. An event needs a `name` and an object as `data`. Correct these events and send the whole request again: nothing of it was stored.",
  events_too_many:
    "Split the request: one request takes at most 5,000 events. `inlet send` splits by itself; with the SDK, send several arrays.",
  body_too_large:
    "The message contains the limit and the size. Send fewer events in one request, store large values elsewhere and send a link, or raise the limit: `--body-limit` for the installation, `bodyLimitBytes` for one environment.",
  environment_missing:
    "Add the header `x-service-env: <name>` with the name of a branch environment. The SDK and the CLI set it from `INLET_ENV`. If you did not want a branch environment, use a key of your environment instead.",
  environment_not_found:
    "`inlet env list` shows the environments. Create a branch environment with `inlet env create <name>`, or restore an archived one with `inlet env unarchive <name>`. Names are case-sensitive.",
  environment_forbidden:
    "Leave out the header `x-service-env`, or use a key that belongs to that environment. If an API key is restricted to several environments, name one of them in the header. For branch environments you need a key of `branch`: create one with `inlet keys create <name> --env branch`.",
  event_name_denied:
    "The event key or webhook has a list of event names. Add the name to the list in the dashboard or with `PUT /v1/webhooks/<id>`, or send this event with another key.",
  ip_denied:
    "The event key or webhook has a list of IP addresses. Add the sender's address or network. If the service is behind a proxy and sees the proxy's address, set `--trust-proxy`.",
  webhook_not_found:
    "Copy the URL of the webhook again: it may have been rotated. If the webhook is disabled, enable it. `inlet webhooks list` shows the webhooks of an environment.",
  transform_failed:
    "The message contains the error and its line. The request is recorded: open it in the dashboard, correct the transform, test it against the recorded request, save it, and replay the request.",
  transform_invalid_event:
    "The transform must return one event: an object with a `name` and an object as `data`. The message says what it returned. Return nothing else, and no array. Then replay the recorded request.",
  transform_timeout:
    "The transform used more CPU time than `--transform-timeout` allows. Look for loops over large bodies and for slow regular expressions. Do the expensive part in a function that the event starts.",
  transform_memory:
    "The transform used more memory than `--transform-memory` allows. Keep only the fields that you need, instead of copying the whole body several times.",
  signature_invalid:
    "Compare the secret of the webhook with the one that the provider shows; they often differ after a rotation. Some schemes also refuse requests that are older than five minutes: check the clock. The request is recorded, and can be replayed once the secret is right.",
  secret_missing:
    "Set the secret that the provider shows for this URL: in the dashboard, or with `inlet webhooks apply`. Earlier requests are recorded, and can be replayed.",
  handshake_failed:
    "The message contains the reason. Compare the handshake of the webhook with what the provider sends, and start the handshake again at the provider.",
  method_not_allowed: "Use a method that the response header `Allow` lists. Events are sent with `POST`.",
  content_type_unsupported:
    "Send JSON with `Content-Type: application/json`. Events may also be sent without a content type. Forms, files and compressed bodies are accepted by webhooks only.",
  overloaded:
    "Send the same request again after the seconds in `Retry-After`; nothing was stored. If it happens often, look at the metrics of the service: the machine, its disk or its database is at its limit. While the service stops, `/ready` responds with this code.",
  quota_exceeded:
    "Nothing was stored. `details` lists each quota that the request exceeds: its limit, what was used before this request, and when it resets. Send the same request again after the seconds in `Retry-After`. If a sender ignores this and sends many requests in a second, the responses are delayed. Days begin at midnight UTC. A request that is larger than the quota itself never fits: send it in parts. The operator of the installation can raise the quota in the dashboard (Environments), with `inlet env quotas` or with `PUT /v1/environments/:name`.",
  disk_full:
    "Send the same request again after the seconds in `Retry-After`; nothing was stored. The oldest events and ended runs are being removed. If it happens often, raise `--disk-budget`, shorten the retention, or send less: if data arrives faster than old data can be removed, it is refused.",
  store_unavailable:
    "Send the same request again after the seconds in `Retry-After`; nothing was stored. The operator finds the reason in the log: a full disk, a data folder that cannot be written, or a database that does not respond. `inlet doctor` checks all three.",
  api_key_missing:
    "Add the header `Authorization: Bearer <API key>`. The first start of the service prints a key. The CLI reads it from `INLET_API_KEY`.",
  api_key_invalid:
    "The key is mistyped, was revoked, or belongs to another installation. Event keys (`evk_…`) and signing keys (`signkey-…`) are not API keys (`ak_…`). With an admin key, `inlet keys list` shows the keys that work.",
  session_missing: "Sign in to the dashboard again. Sessions end after a while, and when the key or person that opened them loses access.",
  session_not_found: "The session has already ended. `GET /v1/sessions` lists the open ones.",
  login_token_invalid:
    "Sign in with an API key, or restart the service in a terminal: every start there prints a new login link, which works once, within 15 minutes.",
  too_many_attempts:
    "Wait for the seconds in `Retry-After`, then use the right key. If many clients share one address because of a proxy, set `--trust-proxy`, so that each client is counted separately.",
  origin_forbidden:
    "A dev server accepts requests only from pages on its own machine. Allow the origin of the page with `--allow-origin https://…`, or open the server as `localhost`, by its IP address if it listens on a network, or at the address in `--public-url`. In production this concerns the dashboard: open it at the address in `--public-url`.",
  role_forbidden:
    "Use a key whose role allows this: operator for repairs, ingest-admin for webhooks, admin for everything else, and owner for keys of owners. An admin creates one with `inlet keys create <name> --kind api --role <role>`. The [roles](../explanation/security.md#roles-and-restrictions) are listed with their permissions.",
  request_invalid:
    "Each entry of `details` names a field and says what is wrong with it. Unknown parameters and fields are errors, so check the spelling first. The [REST reference](../reference/rest-api.md) lists what each call takes.",
  route_not_found: "Check method and path. The [REST reference](../reference/rest-api.md) lists all calls; they begin with `/v1`.",
  event_not_found:
    "Check the environment: the header `x-service-env` chooses it. Events are removed when their retention is over: after 30 days unless configured otherwise.",
  key_not_found: "`inlet keys list` shows the keys with their ids. Pass the id, not the key.",
  key_last:
    "Create another API key with the role admin or owner, not restricted to environments: `inlet keys create <name> --kind api`. Then revoke this one.",
  webhook_request_not_found:
    "Recorded requests are removed after their retention. `GET /v1/webhooks/<id>/requests` lists those that are kept.",
  webhook_request_incomplete: "Ask the provider to send the request again, after raising the body limit of the environment.",
  webhook_version_not_found: "`GET /v1/webhooks/<id>/versions` lists the versions.",
  event_schema_not_found: "`GET /v1/event-types/<name>` shows the event type and the versions of its schema.",
  event_type_not_found:
    "Check the name and the environment. An event type is listed once an event with its name was received, or a schema was declared for it.",
  run_not_found: "Check the environment: the header `x-service-env` chooses it. Ended runs are removed when their retention is over.",
  run_ended:
    "The run has completed, failed or was cancelled. There is nothing left to cancel. Rerun it with `inlet runs rerun <id>` if you need its work again.",
  run_not_repeatable: "Register the function again, or send the event again if it was removed.",
  hold_not_found: "The key was released, or belongs to another environment. `inlet runs holds` lists the keys on hold.",
  run_holds_nothing: "There is nothing to do: the later runs of the key are not blocked.",
  run_state_gone:
    "There is nothing to do: the SDK asked for the state of a run that has ended. If a run was cancelled on purpose, this is expected.",
  step_not_found: "Check the id of the step. The page of the run lists its steps.",
  step_not_sleeping:
    "There is nothing to do: the sleep is over, or the step is not a sleep. The page of the run shows the state of its steps.",
  saved_filter_not_found: "`GET /v1/saved-filters` lists the filters of the environment.",
  alert_rule_not_found: "`GET /v1/alert-rules` lists the rules of the environment.",
  rhythm_unknown: 'Give `windowSeconds` as a number of seconds until the day that the message names; then change the rule to `"usual"`.',
  job_not_found: "`inlet jobs list` shows the jobs of the environment.",
  job_ended: "The job is over. Start another one if there is more to do.",
  function_not_found:
    "`inlet functions list` shows the functions. If yours is missing, sync its app: `inlet apps sync <url>`. Check the environment too.",
  signal_not_found:
    "The run does not wait yet, has ended, or waits for another signal. Send the signal again once the run waits, and check its name and the environment.",
  approval_not_found: "`inlet approvals list` shows the approvals of the environment. Check the id, the link and the environment.",
  approval_ended:
    "An approval is decided once. `inlet approvals list` shows how it ended. If another decision is needed, let the function ask again.",
  approval_exists: "Use another signal, or decide the open approval first. To repeat a request safely, send it with an `Idempotency-Key`.",
  cancellation_not_found: "Check the id and the environment.",
  function_not_started:
    "The function has a rate limit, a debounce, a batch or a singleton rule, and that rule starts no run for this invocation now. Change the rule, or invoke the function later.",
  invocation_repeated: "The first invocation has started the run. To start another one, use another idempotency key.",
  app_not_found: "`inlet apps list` shows the apps of the environment.",
  app_unreachable:
    "The service must be able to reach the app over HTTP. Try the URL from the machine of the service with `curl`. `inlet doctor --app <url>` checks that the app answers and, with Inngest's SDKs, lists its functions.",
  registration_invalid:
    "Each entry of `details` names a function and the field that is wrong. Correct it and sync the app again. The functions that were registered before stay registered.",
  signing_key_invalid:
    "Set `INLET_SIGNING_KEY` (for Inngest's SDKs `INNGEST_SIGNING_KEY`) of the app to a signing key of this installation. The first start prints one.",
  realtime_token_invalid: "Ask for a new token: tokens are short-lived. Subscribe with it soon after.",
  server_kind_wrong:
    "For a dev server, set `INLET_DEV=1` (for Inngest's SDKs `INNGEST_DEV`) in the app. For a server started with `inlet start`, remove that variable and set a signing key.",
  connect_unsupported:
    "Serve the functions over HTTP with `serve()` instead of `connect()`, then sync the app with `inlet apps sync <url>`.",
  sdk_feature_unsupported: "The message says what to use instead.",
  checkpoint_invalid: "This request is made by an SDK. If it is an SDK of your own, send a list of step results.",
  call_superseded: "There is nothing to do: another call of the same run has taken over, and its results are used.",
  environment_exists: "Choose another name, or use the environment that exists. An archived environment keeps its name: unarchive it.",
  database_invalid:
    "A URL of a database has the form `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Characters such as `@`, `/` and `#` in a password are percent-encoded.",
  database_unreachable:
    "Every node of the service must be able to connect to the database. Try the URL from the machine of the service with `psql`, correct what the message names, and repeat the request.",
  database_taken:
    "Give the installation an empty database of its own: `CREATE DATABASE`. A database that already belongs to this installation is listed by `inlet databases list`.",
  database_exists: "Choose another name. `inlet databases list` shows the databases of the installation.",
  database_not_found: "`inlet databases list` shows the databases of the installation. The first is called `directory`.",
  environment_moving: "Wait until the job that moves it has ended, or cancel the job: `inlet jobs list --env <name>` shows it.",
  databases_too_many: "Use the databases that exist. If you need more, run another installation.",
  databases_unsupported:
    "Move the store to PostgreSQL with `inlet migrate-store`, start the service with `--database-url`, and repeat the request.",
  environment_permanent: "Archive a custom or branch environment instead. The default environment always exists.",
  idempotency_key_reused: "Use a new `Idempotency-Key` for each different request.",
  idempotency_key_busy: "Wait for the seconds in `Retry-After` and send the same request again: it returns the first response.",
  idempotency_key_used:
    "The object exists: `details` contains its id. If its secret was lost with the first response, delete the object and create another one with a new key.",
  internal_error:
    "Send the request again. If the error persists, the log of the service contains the cause. Report it together with the request.",
};
