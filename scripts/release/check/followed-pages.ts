/** The pages that the release check follows: for each, what its reader has before the first command, and what the commands lead to. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { commandBlocks } from "../../docs/command-blocks.ts";
import { readPage } from "../install-text.ts";
import { bash } from "./check.ts";
import { DATABASE_PAGES } from "./database-pages.ts";
import { API_KEY, type FollowedPage, type Following, folderIn, SERVICE_URL, untilTrue } from "./follow-page.ts";
import { exampleFolder, startCheckout, startReadersApp, writeReadersApp } from "./readers-apps.ts";
import { startProcess } from "./start-process.ts";

const EXAMPLES = ["alerts-to-slack", "approvals-to-slack", "chat-stream", "express-webhook-signature", "next-fetch", "node-shop"];

export const FOLLOWED_PAGES: readonly FollowedPage[] = [
  {
    page: "README.md",
    service: "none",
    folder: ({ checkout }) => checkout,
    async open({ home, variables, replaced }) {
      delete variables.INLET_API_KEY;
      variables.INLET_DATA_DIR = folderIn(home, "tour");
      replaced[".inlet/dev"] = join(folderIn(home, "tour"), "dev");
    },
    expected: { "npm start": { output: /API key \(admin\) +ak_/ } },
  },
  {
    page: "docs/explanation/security.md",
    service: "none",
    async open(following) {
      const { startProvider } = await import("../../../packages/server/test/support/oidc.ts");
      const issuer = await startProvider(contextOf(following), "https://inlet.example.com/oidc/callback", {});
      following.replaced["https://id.example.com"] = issuer;
      following.variables.INLET_OIDC_CLIENT_SECRET = "a-secret-of-inlet";
    },
    before: {
      async "curl localhost:8288/v1/sessions"({ rest, variables }) {
        const init = { method: "POST", body: JSON.stringify({ apiKey: API_KEY }), headers: { "content-type": "application/json" } };
        assert.equal((await fetch(`${SERVICE_URL}/v1/session`, init)).ok, true, "sign-in");
        variables.SESSION_ID = (await rest("GET", "/sessions"))[0].id;
      },
    },
  },
  { page: "docs/how-to/agents.md", open: standInForClaude, prepare: makeStaging },
  { page: "docs/how-to/alerts.md" },
  { page: "docs/how-to/drill-webhooks.md", prepare: makeStripeWebhook },
  {
    page: "docs/how-to/environments-and-keys.md",
    async prepare({ rest, variables }) {
      await rest("POST", "/environments", { name: "feature/cart", kind: "branch" });
      variables.BRANCH_KEY = (await rest("POST", "/keys", { kind: "event", name: "mine" }, "branch")).key;
    },
  },
  {
    page: "docs/how-to/event-types.md",
    service: "dev",
    async open({ cwd }) {
      writeReadersApp(cwd, "");
      mkdirSync(join(cwd, "src"));
      const client = 'new Inlet({ id: "shop", events: { "shop/order.paid": z.object({ orderId: z.string() }) } })';
      writeFileSync(
        join(cwd, "src/inlet.ts"),
        `import { Inlet } from "@inlet/sdk";\nimport { z } from "zod/v4";\nexport const inlet = ${client};\n`,
      );
    },
    expected: { "inlet types ": { output: /is up to date\.[\s\S]*Declared 1 event types: shop\/order\.paid/ } },
  },
  {
    page: "docs/how-to/everything-as-files.md",
    async prepare({ rest }) {
      for (const name of ["payments", "payments-eu"]) await rest("POST", "/environments", { name, kind: "custom" });
    },
    expected: { "inlet plan --env": { output: /no changes/i } },
  },
  {
    page: "docs/how-to/forwarding.md",
    async open({ replaced }) {
      replaced["https://inlet.example.com"] = SERVICE_URL;
    },
    async check({ type, variables }) {
      assert.deepEqual([variables.INLET_BASE_URL, variables.INLET_API_KEY], [SERVICE_URL, API_KEY]);
      await type("inlet events list");
    },
  },
  { page: "docs/how-to/install.md", service: "none" },
  {
    page: "docs/how-to/keys-and-rotation.md",
    async prepare({ rest, variables }) {
      variables.OLD_KEY_ID = (await rest("GET", "/keys?kind=event"))[0].id;
    },
  },
  {
    page: "docs/how-to/operation.md",
    async open(following) {
      standInForSystem(following);
      for (const name of ["inlet", "inlet-restored"]) mkdirSync(join(following.cwd, "var/lib", name), { recursive: true });
    },
    async prepare(following) {
      const { key } = await following.rest("POST", "/keys", { kind: "signing", name: "check", environment: "production" });
      following.variables.INLET_SIGNING_KEY = key;
      await startReadersApp(following, 3001, { INLET_SIGNING_KEY: key, INLET_BASE_URL: SERVICE_URL });
    },
  },
  { page: "docs/how-to/quotas-and-usage.md", prepare: makeStaging },
  {
    page: "docs/how-to/reconciliation.md",
    async prepare({ rest, variables }) {
      const webhook = { name: "Stripe", transform: "(evt) => ({ name: 'stripe/event', data: evt, id: evt.id })" };
      variables.WEBHOOK = (await rest("POST", "/webhooks", webhook)).id;
    },
    before: { "inlet webhooks reconcile": standInForStripe },
    expected: { "inlet webhooks reconcile": { output: /\b1\b/ } },
  },
  { page: "docs/how-to/replay-after-a-bug.md", prepare: makeStripeWebhook },
  {
    page: "docs/how-to/self-hosting.md",
    async open(following) {
      standInForSystem(following);
      following.variables.INLET = following.home.checkout;
      mkdirSync(join(following.cwd, "etc/systemd/system"), { recursive: true });
      following.variables.INLET_DATA_DIR = join(following.cwd, "var/lib/inlet");
    },
    async check({ cwd }) {
      assert.match(readFileSync(join(cwd, "etc/systemd/system/inlet.service"), "utf8"), /https:\/\/events\.your-company\.com/);
      assert.ok(existsSync(join(cwd, "var/lib/inlet-before-upgrade.backup")));
    },
  },
  { page: "docs/how-to/webhooks.md" },
  {
    page: "docs/how-to/windows.md",
    service: "none",
    async open({ cwd, type }) {
      writeReadersApp(cwd, APP_OF_A_READER);
      writeFileSync(join(cwd, "events.ndjson"), '{"name":"shop/order.created","data":{}}\n');
      await type("inlet dev");
    },
  },
  {
    page: "docs/reference/sdk.md",
    service: "none",
    folder: (home) => folderIn(home, "shop"),
    async open({ home, cwd }) {
      for (const { script } of commandBlocks("docs/reference/sdk.md").filter(({ install }) => install !== null))
        await bash(script, cwd, home.env);
      writeFileSync(join(cwd, "app.ts"), /^```ts\n([\s\S]*?)^```$/m.exec(readPage("docs/reference/sdk.md"))?.[1] ?? "");
    },
    expected: { "curl ": { output: /"status":200/ } },
    check: ({ rest }) =>
      untilTrue(
        async () => (await rest("GET", "/runs?status=completed")).length === 1,
        () => "the run did not end",
      ),
  },
  {
    page: "docs/tutorials/from-inngest.md",
    service: "none",
    async open({ cwd, home, variables, atEnd }) {
      writeReadersApp(cwd, APP_OF_INNGEST);
      const app = await startProcess("node app.ts", cwd, { ...home.env, INNGEST_DEV: "1" });
      atEnd.push(app.end);
      await app.printed(/^ready$/m);
      Object.assign(variables, { APP_URL: "http://localhost:3000/api/inngest", SIGNING_KEY: "signkey-prod-00ff" });
    },
    expected: { "inlet doctor": { output: /greet/ } },
  },
  ...EXAMPLES.map((name) => exampleOf(name)),
  {
    ...exampleOf("webhook-drill"),
    isDiscovered: false,
    // The drill exits with 1, as the page says.
    expected: { "npm start": { codes: [1], output: /ran \d times for one event/ } },
  },
  { page: "packages/cli/README.md", service: "none" },
  {
    page: "packages/sdk/README.md",
    service: "none",
    folder: ({ checkout }) => checkout,
    async open({ home, variables }) {
      variables.npm_config_pack_destination = folderIn(home, "packed");
    },
  },
  ...DATABASE_PAGES,
];

const APP_OF_A_READER = `
import { createServer } from "node:http";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
const inlet = new Inlet({ id: "shop" });
const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, () => "shipped");
createServer(serve({ client: inlet, functions: [ship] })).listen(3000);
`;

const APP_OF_INNGEST = `
import { createServer } from "node:http";
import { Inngest } from "inngest";
import { serve } from "inngest/node";
const client = new Inngest({ id: "moved" });
const greet = client.createFunction({ id: "greet", triggers: [{ event: "moved/hello" }] }, async () => "hello");
createServer(serve({ client, functions: [greet] })).listen(3000, () => console.log("ready"));
`;

function exampleOf(name: string): FollowedPage {
  return {
    page: `examples/${name}/README.md`,
    service: "none",
    folder: (home) => exampleFolder(home, name),
    open: startCheckout,
  };
}

async function makeStaging({ rest }: Following): Promise<void> {
  await rest("POST", "/environments", { name: "staging", kind: "custom" });
}

async function makeStripeWebhook({ rest }: Following): Promise<void> {
  await rest("POST", "/environments", { name: "feature/cart", kind: "branch" });
  const providers: { id: string; transform: string; verify: object }[] = await rest("GET", "/transforms/providers?limit=100");
  const { transform, verify } = providers.find(({ id }) => id === "stripe") ?? assert.fail("Stripe is in the catalogue");
  const webhook = { name: "Stripe", transform, verify: { ...verify, secrets: ["whsec_release_check"] } };
  await rest("POST", "/webhooks", webhook, "branch");
  await rest("POST", "/webhooks", webhook);
}

/** The folders of the system are in the folder of the reader. Nothing is restarted, and nothing changes its owner. */
function standInForSystem({ cwd, home, variables, replaced }: Following): void {
  for (const folder of ["/var/lib/", "/etc/"]) replaced[` ${folder}`] = ` ${join(cwd, folder)}`;
  mkdirSync(join(cwd, "bin"));
  for (const name of ["systemctl", "chown"]) writeFileSync(join(cwd, "bin", name), "#!/bin/sh\n", { mode: 0o755 });
  variables.PATH = `${join(cwd, "bin")}:${home.env.PATH}`;
}

/** Does what Claude Code does with the command that it was given: starts it, and says hello. */
const CLAUDE = `#!/bin/sh
[ "$1 $2 $4" = "mcp add --" ] || exit 1
shift 4
hello='{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"check","version":"1"}}'
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":'"$hello"'}' | "$@" | grep '"serverInfo"'
`;

async function standInForClaude({ home, cwd, variables }: Following): Promise<void> {
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/claude"), CLAUDE, { mode: 0o755 });
  variables.PATH = `${join(cwd, "bin")}:${home.env.PATH}`;
}

/** Stripe's API, on loopback, with one event that never came. */
async function standInForStripe({ rest, variables, atEnd }: Following): Promise<void> {
  const event = { id: "evt_9", type: "invoice.paid", created: Math.floor(Date.now() / 1_000) };
  const server = createServer((_request, response) => void response.end(JSON.stringify({ data: [event], has_more: false })));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd.push(() => server.close().closeAllConnections());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await rest("PUT", `/webhooks/${variables.WEBHOOK}`, { reconcile: { preset: "stripe", secrets: ["sk_live_check"], baseUrl } });
}

/** For what tests share: it is cleaned up when the page has been followed. */
function contextOf({ atEnd }: Following): TestContext {
  return { after: (cleanUp: () => unknown) => void atEnd.push(cleanUp) } as unknown as TestContext;
}
