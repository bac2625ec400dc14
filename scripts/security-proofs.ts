/**
 * The tests that perform each attack which docs/explanation/security.md lists: `npm run attack` runs them. The names of the threats are those
 * of the page; a test compares the two.
 */

export const PROOFS: Readonly<Record<string, readonly string[]>> = {
  "a signing key that is not hexadecimal, whose hash is public knowledge": [
    "packages/server/test/only-real-signing-keys-open-the-door.test.ts",
  ],
  "an agent that reaches more than its key; frames of any content, many messages in one, responses that fill a model; ids that lead to other paths":
    ["packages/server/test/agents-use-mcp-within-their-key.test.ts"],
  "a source of reconciliation that asks internal hosts, or sends a provider's key elsewhere; keys in errors and records": [
    "packages/server/test/what-providers-list-is-received.test.ts",
    "packages/server/test/presets-recover-what-was-never-delivered.test.ts",
  ],
  "senders that fill the disk": ["packages/server/test/retention-has-rules.test.ts"],
  "payloads read in the store, by an operator or a thief": ["packages/sdk/test/encryption.test.ts"],
  "a placeholder such as `replace-me` left in the configuration": ["packages/server/test/only-real-signing-keys-open-the-door.test.ts"],
  "an attacker who registers functions or sends step results": ["packages/server/test/only-real-signing-keys-open-the-door.test.ts"],
  "a web page that calls a dev server, directly or by DNS rebinding": ["packages/server/test/other-sites-cannot-use-a-dev-server.test.ts"],
  "a stolen session, a forged sign-in, a cookie planted by another host of the domain": ["packages/server/test/sign-in-is-safe.test.ts"],
  "pages of other sites, scripts, planted cookies and guesses in a real browser; viewers who look for secrets there": [
    "packages/dashboard/test/browser-attacks.test.ts",
  ],
  "people whose role was revoked, unverified emails, a forged provider, ID tokens that are forged, expired, or meant for others": [
    "packages/server/test/people-sign-in-by-oidc.test.ts",
    "packages/server/test/forged-tokens-sign-nobody-in.test.ts",
    "packages/server/src/api/access/oidc-claims.test.ts",
  ],
  "large bodies without a key": [
    "packages/server/test/credentials-come-before-bodies.test.ts",
    "packages/server/test/overload-is-refused-at-once.test.ts",
  ],
  "small bodies that decompress to large ones": ["packages/server/test/decoded-bodies-are-counted.test.ts"],
  "many or long unknown keys": [
    "packages/server/src/receive/senders/directory.test.ts",
    "packages/server/test/decoded-bodies-are-counted.test.ts",
  ],
  "large responses that are not read, many live streams": ["packages/server/test/readers-cannot-exhaust-memory.test.ts"],
  "WebSocket frames of any content, notifications by others who may use the database, streams resumed while the database is unavailable": [
    "packages/server/test/faults-stay-in-their-connection.test.ts",
  ],
  "clients that do not read a live stream": [
    "packages/server/test/slow-readers-harm-only-themselves.test.ts",
    "packages/server/test/readers-cannot-exhaust-memory.test.ts",
  ],
  "faults that no code handles": ["packages/server/test/unhandled-faults-stop-in-order.test.ts"],
  "many connections with one realtime token, floods of WebSocket frames; wrong tokens that block the keys of an address": [
    "packages/server/test/faults-stay-in-their-connection.test.ts",
    "packages/server/test/realtime-reaches-subscribers.test.ts",
  ],
  "idle connections, very many connections": ["packages/server/test/connections-are-bounded.test.ts"],
  "REST requests with any content: U+0000, infinite numbers, lone surrogates, `__proto__`, wrong types at any depth": [
    "packages/server/test/no-request-is-answered-with-500.test.ts",
    "packages/server/test/engines-answer-alike.test.ts",
  ],
  "any request to any route, by anybody, in any environment: deep nesting, numbers without bound, 10 MB texts, wrong types": [
    "packages/server/test/hostile-requests-reach-nothing.test.ts",
  ],
  "a team that floods beyond its quota": [
    "packages/server/src/receive/quotas/refusal-pacer.test.ts",
    "packages/server/test/twelve-teams-share-an-installation.test.ts",
  ],
  "request smuggling, garbage after requests, truncated bodies": [
    "packages/server/test/http-is-read-as-node-reads-it.test.ts",
    "packages/server/test/connections-carry-anything.test.ts",
  ],
  "guessing keys": ["packages/server/test/guessing-is-slow-and-locks-nobody-out.test.ts", "packages/server/test/sign-in-is-safe.test.ts"],
  "app URLs that point to metadata services or internal hosts": [
    "packages/server/test/apps-cannot-lead-elsewhere.test.ts",
    "packages/server/src/execute/call/app-addresses.test.ts",
  ],
  "reading responses of other servers through error messages": ["packages/server/test/apps-cannot-lead-elsewhere.test.ts"],
  "secrets of `step.fetch` and `step.ai.infer` in results and records, credentials sent on by a redirect": [
    "packages/server/test/requests-of-steps-are-made-by-the-service.test.ts",
  ],
  "approvals decided by previews, other sites, frames, guessed links, or viewers who look for the token in events and runs": [
    "packages/server/test/approvals-are-decided-once.test.ts",
  ],
  "a forged `Host` in webhook URLs": ["packages/server/test/webhook-urls-lead-here.test.ts"],
  "a transform that escapes its sandbox or leaves data behind": [
    "packages/server/src/transform/sandbox/sandbox-escapes.test.ts",
    "packages/server/test/requests-leave-nothing-to-the-next.test.ts",
  ],
  "webhooks whose transforms loop to starve others": [
    "packages/server/src/transform/threads/version-speeds.test.ts",
    "packages/server/src/transform/sandbox/limits-hold.test.ts",
  ],
  "a damaged or planted file in the archive, on which its parser loops or uses up memory": [
    "packages/server/test/a-damaged-archive-does-no-harm.test.ts",
  ],
  "other users of the machine": ["packages/server/test/the-store-is-private.test.ts"],
  "escape sequences in names, payloads, errors and responses, printed by the command line": [
    "packages/cli/test/foreign-text-cannot-control-the-terminal.test.ts",
  ],
  "files or links prepared where a backup is made": ["packages/server/test/backups-are-complete.test.ts"],
  "events sent with the id of a cron's tick, an alert or an invocation, to suppress it": [
    "packages/server/src/store/sqlite/sqlite-store.test.ts",
    "packages/server/src/store/postgres/postgres-store.test.ts",
    "packages/server/test/inngest-rest-is-spoken.test.ts",
  ],
  "proxies that repeat the event key in their error pages": ["packages/sdk/test/sending-events.test.ts"],
  "a key that exceeds its role or environments; an admin of one environment who tries every route on another": [
    "packages/server/test/roles-and-limits-hold.test.ts",
    "packages/server/test/roles-hold-in-their-environments.test.ts",
  ],
  "forged webhook requests": ["packages/server/test/webhooks-verify-their-requests.test.ts"],
  "handshake responses that a browser would render as a page": ["packages/server/test/webhooks-answer-handshakes.test.ts"],
  "a schema or an event that makes checks slow or large": ["packages/server/test/schemas-are-cheap-for-every-event.test.ts"],
  "a handshake as a signature of a forged event, or to read a secret": [
    "packages/server/src/transform/handshake/handshakes-sign-no-events.test.ts",
    "packages/server/test/webhooks-answer-handshakes.test.ts",
  ],
  "a regular expression that is slow on a long text": [
    "packages/server/src/fan-out/expressions.test.ts",
    "packages/server/test/where-finds-payloads.test.ts",
  ],
  "a write that reaches another environment by its body or by an app's response; a role that discards events or signs requests": [
    "packages/server/test/writes-stay-in-their-environments.test.ts",
    "packages/server/test/every-write-names-its-environments.test.ts",
  ],
  "a stolen database file or dump": ["packages/server/test/secrets-are-encrypted-at-rest.test.ts"],
  "paths of the documentation that lead to other files, searches that put scripts into its pages": [
    "packages/server/test/documentation-is-served.test.ts",
  ],
  "a signing key used in another environment: guessed ids, named environments, forged realtime tokens": [
    "packages/server/test/signing-keys-stay-in-their-environment.test.ts",
  ],
  "a database added by somebody who may not, or added to reach internal hosts, read files or be sent a password; its password in responses, logs, errors and the audit log":
    ["packages/server/src/api/databases/database-url.test.ts", "packages/server/test/databases-are-added.test.ts"],
  "untraceable changes": ["packages/server/test/changes-are-recorded.test.ts"],
};
