/**
 * The commands of `inlet webhooks`. Those about a folder exit with 2 if the two sides differ, so invalid flags exit with 1;
 * those about the server use the usual exit codes.
 */

import { EXIT } from "../command-line/command-result.ts";
import { type CommandRow, command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import {
  APPLY_FLAGS,
  BACKTEST_FLAGS,
  DRILL_FLAGS,
  NEW_FLAGS,
  PLAN_FLAGS,
  PULL_FLAGS,
  RECONCILE_FLAGS,
  REPLAY_FLAGS,
  REQUESTS_FLAGS,
  TEST_FLAGS,
} from "./webhooks-flags.ts";

const one = { operands: "<webhook id or name>", namesMin: 1, namesMax: 1 } as const;
const ID = "wh_01JCQ7V8Z0ABCDEFGHJKMNPQRS";

export const WEBHOOKS_ROWS: readonly CommandRow[] = [
  command({
    words: ["webhooks", "new"],
    operands: "[name]",
    sentence: "Creates a webhook in the folder from a provider's starter transform and fixtures.",
    more: "Sends nothing to the server. The name defaults to the provider's. Without a provider, a generic transform is used.\nWith --provider, requests are verified: the secret's value is read from the named environment variable by apply.\nAn existing folder is never overwritten.",
    namesMax: 1,
    examples: [
      ["inlet webhooks new --provider stripe", "writes webhooks/stripe/, verified with STRIPE_SECRET"],
      ["inlet webhooks new --from stripe", "writes webhooks/stripe/, the transform only"],
      ['inlet webhooks new "Shop EU" --from shopify --env staging', "writes webhooks/shop-eu/, for staging"],
      ["inlet webhooks new --list", "lists the providers"],
    ],
    exits: [
      [0, "written"],
      [1, "failed; nothing was written"],
    ],
    usageExit: EXIT.failed,
    flags: NEW_FLAGS,
    run: async (call) => (await import("./commands/new.ts")).newWebhook(call),
  }),
  command({
    words: ["webhooks", "test"],
    operands: "[name …]",
    sentence: "Runs the fixtures of the folder offline, in the service's sandbox.",
    more: "Each fixture is a request and its expected event. Also reports transforms that do not parse. Pass folder names to select webhooks.",
    namesMax: Number.POSITIVE_INFINITY,
    examples: [
      ["inlet webhooks test", "runs all fixtures"],
      ["inlet webhooks test stripe", "only those of webhooks/stripe/"],
    ],
    exits: [
      [0, "all fixtures passed"],
      [1, "a fixture failed, or another error"],
    ],
    usageExit: EXIT.failed,
    flags: TEST_FLAGS,
    run: async (call) => (await import("./commands/test.ts")).testWebhooks(call),
  }),
  command({
    words: ["webhooks", "pull"],
    sentence: "Writes the server's webhooks into the folder.",
    more: "Adds webhooks that are missing in the folder. Shows files that differ and overwrites them only with --force.\nFixtures, and entries that the server does not have, are never changed.",
    examples: [
      ["inlet webhooks pull", "the default environment and those of the folder's entries"],
      ["inlet webhooks pull --env staging --force", "also staging; overwrites local changes"],
    ],
    exits: [
      [0, "the folder matches the server"],
      [1, "an error occurred"],
      [2, "local files differ and were not overwritten"],
    ],
    usageExit: EXIT.failed,
    flags: PULL_FLAGS,
    run: async (call) => (await import("./commands/pull.ts")).pullWebhooks(call),
  }),
  command({
    words: ["webhooks", "plan"],
    sentence: "Shows what apply would change, without changing anything.",
    more: "Shows each webhook to create or change, field by field, and with --prune those to delete.",
    examples: [
      ["inlet webhooks plan", "against http://localhost:8288"],
      ["INLET_API_KEY=… inlet webhooks plan --url https://inlet.example.com", "in CI; see the exit code"],
    ],
    exits: [
      [0, "no changes"],
      [1, "an error occurred"],
      [2, "changes pending"],
    ],
    usageExit: EXIT.failed,
    flags: PLAN_FLAGS,
    run: async (call) => (await import("./commands/plan.ts")).planWebhooks(call),
  }),
  command({
    words: ["webhooks", "apply"],
    sentence: "Applies the folder to the server.",
    more: "Runs the fixtures first and sends nothing if one fails. Prints the URL of each new webhook and records its id\nin webhook.json. Secrets named in webhook.json are read from the environment.",
    examples: [
      ["inlet webhooks apply", "against http://localhost:8288"],
      ["INLET_API_KEY=… inlet webhooks apply --prune --url https://inlet.example.com", "in CI, where the folder is authoritative"],
    ],
    exits: [
      [0, "the server matches the folder"],
      [1, "an error occurred; changes applied before it are printed"],
    ],
    usageExit: EXIT.failed,
    flags: APPLY_FLAGS,
    run: async (call) => (await import("./commands/apply.ts")).applyWebhooks(call),
  }),
  command({
    words: ["webhooks", "list"],
    sentence: "Lists the server's webhooks with their URLs.",
    examples: [["inlet webhooks list --env staging", "webhooks of one environment"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./commands/requests.ts")).listWebhooks(call),
  }),
  command({
    words: ["webhooks", "requests"],
    ...one,
    sentence: "Lists the requests that a webhook received, including refused ones, newest first.",
    examples: [[`inlet webhooks requests ${ID} --outcome transform_failed --from 1d`, "requests whose transform failed in the last day"]],
    flags: REQUESTS_FLAGS,
    run: async (call) => (await import("./commands/requests.ts")).listRequests(call),
  }),
  command({
    words: ["webhooks", "backtest"],
    ...one,
    sentence: "Runs a draft of the transform on recorded requests, and shows what it changes.",
    more: "The draft and the current transform run on the newest requests, after the webhook's handshake and verification. Stores nothing.",
    examples: [["inlet webhooks backtest Stripe --file webhooks/stripe/transform.js --limit 100", "before the draft is applied"]],
    exits: [
      [0, "no request that works now would fail"],
      [1, "a request that works now would fail, or another error"],
    ],
    flags: BACKTEST_FLAGS,
    run: async (call) => (await import("./commands/backtest.ts")).backtestWebhook(call),
  }),
  command({
    words: ["webhooks", "drill"],
    ...one,
    sentence:
      "Sends duplicates, retries and forged requests to a webhook of all branches, and reports what each of them caused in a branch environment.",
    more: "Sends the provider's samples, signed with the webhook's own secret: once, twice, in another order, as retries, forged and malformed.\nThe report compares what was expected with what happened, and names functions that ran more than once for one event.",
    examples: [
      ["inlet webhooks drill Stripe --env feature/cart", "all kinds of requests"],
      ["inlet webhooks drill Stripe --env feature/cart --kinds duplicates,retries --json", "in CI; see the exit code"],
    ],
    exits: [
      [0, "everything happened as expected"],
      [1, "a difference was found, or another error"],
    ],
    usageExit: EXIT.failed,
    flags: DRILL_FLAGS,
    run: async (call) => (await import("./commands/drill.ts")).drillWebhook(call),
  }),
  command({
    words: ["webhooks", "replay"],
    ...one,
    sentence: "Sends recorded requests of a webhook through its current transform again, as a job.",
    more: "Counts the requests first and asks for confirmation; --yes skips it. Each request is replayed once, even after a crash.",
    examples: [[`inlet webhooks replay ${ID} --outcome transform_failed --from 2h`, "after the transform was fixed"]],
    flags: REPLAY_FLAGS,
    run: async (call) => (await import("./commands/requests.ts")).replayRequests(call),
  }),
  command({
    words: ["webhooks", "reconcile"],
    ...one,
    sentence: "Compares what the provider lists with what the webhook received, and adds what is missing.",
    more: "The webhook's reconcile setting says how the provider is asked. Requests that are already stored are skipped.",
    examples: [
      ["inlet webhooks reconcile Stripe --since 72h --dry-run", "counts what is missing"],
      ["inlet webhooks reconcile Stripe --since 2026-01-31T12:00:00Z", "adds it, with progress"],
    ],
    exits: [
      [0, "everything that the provider lists is stored"],
      [1, "an item failed, the pass ended early, or another error"],
    ],
    flags: RECONCILE_FLAGS,
    run: async (call) => (await import("./commands/reconcile.ts")).reconcileWebhook(call),
  }),
];
