/** The same requests get the same responses, whichever engine stores what they change: two services, random requests. Seeded. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp } from "./support/app.ts";
import { attackInRounds, attackPlan, attackTimeoutMs, type Random } from "./support/attacks/attack-plan.ts";
import { type StoreKind, storeOfTest } from "./support/current-store.ts";
import { whyNoPostgres } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { KINDS, Known, type TwinAction } from "./support/twins/twin-action.ts";
import { OPENING } from "./support/twins/twin-opening.ts";
import { twinAction } from "./support/twins/twin-requests.ts";
import { TwinServices } from "./support/twins/twin-services.ts";

const ROUNDS = 1;
const REQUESTS = 250;
const PAGES_MAX = 4;
const STARTS_RUNS = /^\/e\/|^\/v1\/(?:jobs|runs|functions)\b/;
/** All of a round is less than the five minutes by which the clock of an app may be behind. */
const STEPS_MS = [0, 1, 1, 50, 900];

test("the same requests get the same responses on both engines", {
  skip: whyNoPostgres() ?? false,
  timeout: attackTimeoutMs(),
}, async (t) => {
  const plan = attackPlan(ROUNDS);
  await attackInRounds(plan, (random, round) => t.test(`seed ${plan.seed + round}`, (t) => askTwins(t, random)));
});

async function askTwins(t: TestContext, random: Random): Promise<void> {
  let now = Date.now();
  const start = (store: StoreKind) => storeOfTest.run(store, () => startTestService(t, { now: () => now }));
  const twins = new TwinServices(await start("sqlite"), await start("postgres"));
  for (const service of twins.services) await startShop(t, service);
  const known = new Known();
  const ask = async (action: TwinAction) => {
    const answers = await twins.askPages(action, PAGES_MAX);
    action.learn?.(answers, known);
    if (action.method === "POST" && STARTS_RUNS.test(action.path)) await twins.settle(action.headers ?? {});
  };
  for (const next of OPENING) await ask(next(known));
  assert.deepEqual([...known.kinds()].sort(), [...KINDS].sort(), "there is one of each kind");
  for (let asked = 0; asked < REQUESTS; asked++) {
    now += random.pick(STEPS_MS);
    await ask(twinAction(random, now, known));
  }
}

/** None of these sends events: those of several runs that go on at once would come in any order. */
async function startShop(t: TestContext, service: TestService): Promise<void> {
  await startApp(t, service, (client) => [
    client.createFunction({ id: "plain" }, { event: "shop/order" }, async ({ event }) => event.data),
    client.createFunction({ id: "steps", retries: 0 }, { event: "shop/*", if: "event.data.n != 1" }, async ({ event, step }) => {
      const first = await step.run("first", () => event.data);
      return step.run("second", () => first);
    }),
    client.createFunction({ id: "fails", retries: 0 }, { event: "a" }, async ({ event }) => {
      throw new Error(`no: ${JSON.stringify(event.data).slice(0, 100)}`);
    }),
  ]);
}
