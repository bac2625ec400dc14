/**
 * What a user relies on is tested on the embedded store and on PostgreSQL: tests of all packages take `test` from support/both-stores.ts. A file
 * whose tests run on the embedded store only, or on no store, is listed here with the reason, so that this is a decision and not an oversight.
 */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const PACKAGES = `${import.meta.dirname}/../..`;

const ON_ONE_ENGINE: Readonly<Record<string, readonly string[]>> = {
  "no service runs": [
    "cli/colours-are-for-terminals",
    "cli/completion-knows-every-command",
    "cli/doctor-examines-apps",
    "cli/fixtures-run-without-a-server",
    "cli/guides-name-what-exists",
    "providers/providers",
    "sdk/guide-examples",
    "sdk/typed-events",
    "sdk/wire-agrees-with-the-service",
    "server/architecture-names-what-exists",
    "server/pages-of-providers-end-in-time",
    "server/requests-leave-nothing-to-the-next",
    "server/simulation/every-write-is-played",
  ],
  "the test plays the service, to see each request of the SDK: the SDK with a service is tested on both": [
    "sdk/edge-runtimes",
    "sdk/errors-and-retries",
    "sdk/middleware",
    "sdk/parallel-steps",
    "sdk/random-programs-keep-their-path",
    "sdk/sending-events",
    "sdk/serve-with-every-framework",
    "sdk/steps-run-once-and-in-order",
  ],
  "what the command prints, and how it ends: what it asks the service for is tested on both": [
    "cli/ctrl-c-ends-with-a-plain-line",
    "cli/exit-codes-tell-what-to-do",
    "cli/refusals-say-what-to-do",
    "cli/requests-that-take-minutes-are-waited-for",
  ],
  "how a published SDK describes its functions: a build of our SDK is checked on both": ["cli/a-build-of-sdk-v3-is-checked"],
  "guides, recipes and the package are run as written, which is on the embedded store": [
    "cli/guide-tells-the-truth",
    "cli/guides-run-as-written",
    "cli/recipes-run-as-written",
  ],
  "nginx passes on the same requests, whatever the service stores them in": ["cli/nginx-passes-everything-on"],
  "the files of the embedded store": [
    "cli/dev-server-is-clean",
    "server/a-full-disk-loses-nothing",
    "server/a-full-disk-repeats-no-step",
    "server/bad-folders-are-refused",
    "server/the-store-is-private",
  ],
  "the files of the archive: which events they have is tested on both": ["server/a-damaged-archive-does-no-harm", "server/archive-targets"],
  "how providers are asked: what is recovered is tested on both": ["server/presets-recover-what-was-never-delivered"],
  "what is decided before the store is asked": [
    "server/apps-cannot-lead-elsewhere",
    "server/credentials-come-before-bodies",
    "server/decoded-bodies-are-counted",
    "server/documentation-is-served",
    "server/http-is-read-as-node-reads-it",
    "server/other-sites-cannot-use-a-dev-server",
    "server/refused-bodies-get-their-answer",
    "server/schemas-are-cheap-for-every-event",
  ],
  "the same is done on PostgreSQL by simulation/shared-store.test.ts": ["server/simulation/simulation"],
  "every page is opened on PostgreSQL by accessibility.test.ts": ["dashboard/upgrade-of-every-page"],
  "what a browser loads, draws, and does without a connection: pages are opened on both by the other tests of the dashboard": [
    "dashboard/alert-layout",
    "dashboard/cases/first-load",
    "dashboard/cases/weight",
    "dashboard/outage",
  ],
  "it makes pictures for the documentation": ["dashboard/screenshots/take"],
};

const DECLARES_TESTS = /import (?:test\b|\{[^}]*\b(?:test|it|suite)\b[^}]*\}).* from "(?:node:test|[^"]*\/both-stores\.ts)"/;
const ON_BOTH = /import \{[^}]*\btest\w*[^}]*\} from "[^"]*\/both-stores\.ts"/;
/** Tests that choose the engine themselves. */
const KNOWS_POSTGRES = /from "[^"]*\/postgres[\w-]*\.ts"|store: "postgres"/;

test("every file with tests runs them on PostgreSQL, too, or says why not", () => {
  const embedded = globSync("*/test/**/*.ts", { cwd: PACKAGES })
    .filter((file) => {
      const text = readFileSync(`${PACKAGES}/${file}`, "utf8");
      return DECLARES_TESTS.test(text) && !ON_BOTH.test(text) && !KNOWS_POSTGRES.test(text);
    })
    .map((file) => file.replace(/(?:\.test)?\.ts$/, "").replace("/test/", "/"))
    .sort();
  const listed = Object.values(ON_ONE_ENGINE).flat().sort();
  assert.deepEqual(embedded, listed, "import `test` from support/both-stores.ts, or name the reason here");
});
