/** The guides whose commands call the REST API with curl, or the command line: their prerequisites, and how to follow them. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { readPage } from "../install-text.ts";
import { bash, type Home } from "./check.ts";
import { untilListening } from "./check-installs.ts";

const API_KEY = "ak_release_check";
/** Exit codes of curl: a response of 400 and above, and a time limit. */
const [REFUSED, TOO_LONG] = [22, 28];

// biome-ignore lint/suspicious/noExplicitAny: guides look into answers of every shape
type Rest = (method: string, path: string, body?: unknown, environment?: string) => Promise<any>;

export interface CurlGuide {
  page: string;
  mode: "dev" | "start";
  /** The variables its commands use, made as a reader would have made them. */
  prepare?(rest: Rest): Promise<Record<string, string>>;
}

export const CURL_GUIDES: readonly CurlGuide[] = [
  { page: "README.md", mode: "dev" },
  {
    page: "docs/how-to/environments-and-keys.md",
    mode: "start",
    async prepare(rest) {
      await rest("POST", "/environments", { name: "feature/cart", kind: "branch" });
      return { BRANCH_KEY: (await rest("POST", "/keys", { kind: "event", name: "mine" }, "branch")).key };
    },
  },
  {
    page: "docs/how-to/keys-and-rotation.md",
    mode: "start",
    prepare: async (rest) => ({ OLD_KEY_ID: (await rest("GET", "/keys?kind=event"))[0].id }),
  },
  {
    page: "docs/explanation/security.md",
    mode: "start",
    async prepare(rest) {
      const init = { method: "POST", body: JSON.stringify({ apiKey: API_KEY }), headers: { "content-type": "application/json" } };
      assert.equal((await fetch("http://localhost:8288/v1/session", init)).ok, true, "sign-in");
      return { SESSION_ID: (await rest("GET", "/sessions"))[0].id };
    },
  },
  { page: "docs/how-to/webhooks.md", mode: "start" },
  { page: "docs/how-to/operation.md", mode: "start" },
  {
    page: "docs/how-to/alerts.md",
    mode: "start",
    prepare: async () => SERVICE,
  },
  { page: "docs/how-to/event-types.md", mode: "dev" },
  { page: "docs/how-to/quotas-and-usage.md", mode: "start", prepare: async (rest) => withStaging(rest) },
  { page: "docs/how-to/agents.md", mode: "start", prepare: async (rest) => withStaging(rest) },
  {
    page: "docs/how-to/reconciliation.md",
    mode: "start",
    async prepare(rest) {
      const { id } = await rest("POST", "/webhooks", { name: "Stripe", transform: "(evt) => ({ name: 'stripe/event', data: evt })" });
      return { ...SERVICE, WEBHOOK: id };
    },
  },
  {
    page: "docs/how-to/drill-webhooks.md",
    mode: "start",
    async prepare(rest) {
      await rest("POST", "/environments", { name: "feature/cart", kind: "branch" });
      const providers: { id: string; transform: string; verify: object }[] = await rest("GET", "/transforms/providers?limit=100");
      const { transform, verify } = providers.find(({ id }) => id === "stripe") ?? assert.fail("Stripe is in the catalogue");
      await rest("POST", "/webhooks", { name: "Stripe", transform, verify: { ...verify, secrets: ["whsec_release_check"] } }, "branch");
      return SERVICE;
    },
  },
];

const SERVICE = { INLET_BASE_URL: "http://localhost:8288", INLET_API_KEY: API_KEY };

async function withStaging(rest: Rest): Promise<Record<string, string>> {
  await rest("POST", "/environments", { name: "staging", kind: "custom" });
  return SERVICE;
}

export async function followCurlGuide({ page, mode, prepare }: CurlGuide, { folder, env, inlet }: Home): Promise<void> {
  const cwd = mkdtempSync(join(folder, "guide-"));
  const service = spawn(inlet, [mode, "--discover", "off"], { cwd, env: { ...env, INLET_API_KEY: API_KEY } });
  try {
    await untilListening(service);
    const variables: Record<string, string> = { API_KEY, ...(await prepare?.(call)) };
    for (const { script, codes } of commandBlocks(page, "INLET_API_KEY" in variables)) {
      const answer = await bash(script, cwd, { ...env, ...variables }, codes);
      // Where a guide says to set URL to the one of a response.
      variables.URL = /"url":"([^"]+)"/.exec(answer)?.[1] ?? "";
    }
  } finally {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
  }
}

/** Commands that need what this check does not have: an account at a provider, another program. */
const ELSEWHERE = /^(?:inlet webhooks reconcile|claude) /m;

/** Blocks that call curl and, where its variables are set, the command line, with the exit codes that the page leads one to expect. */
function commandBlocks(page: string, hasVariables: boolean): { script: string; codes: readonly number[] }[] {
  const called = hasVariables ? /^(?:curl|inlet) /m : /^curl /m;
  const blocks = [...readPage(page).matchAll(/^```(sh|console|json)\n([\s\S]*?)^```$/gm)].map(([, language, body = ""]) => ({
    language,
    body: language === "console" ? body.replace(/^\$ /gm, "") : body,
  }));
  const scripts = blocks.flatMap(({ language, body }, i) => {
    if (language === "json" || !called.test(body) || ELSEWHERE.test(body)) return [];
    const shown = blocks[i + 1]?.language === "json" ? (blocks[i + 1]?.body ?? "") : "";
    if (/curl -N/.test(body)) return [{ script: body, codes: [TOO_LONG] }];
    return [{ script: body, codes: /"status":4\d\d/.test(shown) ? [REFUSED] : [0] }];
  });
  assert.ok(scripts.length > 0, `${page} has no commands`);
  return scripts;
}

async function call(method: string, path: string, body?: unknown, environment = "production") {
  const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json", "x-service-env": environment };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(`http://localhost:8288/v1${path}`, init);
  const answer = (await response.json()) as { data: unknown };
  assert.ok(response.ok, JSON.stringify(answer));
  return answer.data;
}
