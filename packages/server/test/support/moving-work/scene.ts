/** An environment with work of every kind under way, which is to be moved from one added database to another: what the cases share. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Inlet } from "@inlet/sdk";
import { startApp } from "../app.ts";
import { freshDatabase, inDatabase, migratedDatabase } from "../postgres.ts";
import { isEnded, runDetails, runsOfFunction, type ShownRun, until } from "../runs.ts";
import { type Answer, startTestService, type TestService } from "../service.ts";
import { functionsOf } from "./functions.ts";

export const ENVIRONMENT = "moving";
/** Rows `t` of a function. */
const OWN = `functions AS f JOIN environments AS e USING (environment_id)
  WHERE f.function_id = $1 AND e.name = $2 AND t.environment_id = f.environment_id AND t.function_no = f.function_no`;
const ownOf = (id: string) => [`shop-${id}`, ENVIRONMENT];
const HEADERS = { "x-service-env": ENVIRONMENT };

export interface Scene {
  t: TestContext;
  service: TestService;
  client: Inlet;
  /** How often each step and function body ran, by name. */
  ran: Map<string, number>;
  /** Lets the call in progress end. */
  release(): void;
  /** A request in the environment, which is repeated while it is held. */
  rest(method: string, path: string, options?: { body?: object; status?: number; headers?: Record<string, string> }): Promise<Answer>;
  /** The id of the event. */
  send(name: string, data?: object, more?: object): Promise<string>;
  /** The runs of a function, once there are so many and all are as expected. */
  runs(id: string, count: number, isWanted?: (run: ShownRun) => boolean): Promise<ShownRun[]>;
  /** Every event that was sent has started a function, or been added to what it gathers, or been skipped. */
  settled(id: string): Promise<void>;
  /** The time of the one entry of a function has come, wherever the environment is. */
  makeDue(id: string): Promise<void>;
}

/** What a case does before the move, and what it then expects after it. */
export type Case = (scene: Scene) => Promise<() => Promise<void>>;

export async function makeScene(t: TestContext): Promise<Scene> {
  const urls = { first: await freshDatabase(t), second: await freshDatabase(t) };
  const service = await startTestService(t, {
    hasDefaultConnections: true,
    databaseUrl: await migratedDatabase(t),
    flags: ["--poll-interval", "500ms"],
  });
  for (const [name, url] of Object.entries(urls))
    assert.equal((await service.rest("POST", "/databases", { body: { name, url } })).status, 201);
  const made = (await service.rest("POST", "/environments", { body: { name: ENVIRONMENT, database: "first" } })).body.data;
  const { key } = made.keys.find(({ kind }: { kind: string }) => kind === "event");
  const ran = new Map<string, number>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const note = (name: string) => void ran.set(name, (ran.get(name) ?? 0) + 1);
  const options = { id: "shop", environment: ENVIRONMENT };
  const { client } = await startApp(t, service, (inlet) => functionsOf(inlet, note, released), options);

  /** Refused at the switch, it is made again, as clients do. */
  const patient = (call: () => Promise<Answer>, status: number) =>
    until("a response", async () => {
      const answer = await call();
      if (answer.status === 503) return undefined;
      assert.equal(answer.status, status, answer.text);
      return answer;
    });
  const rest: Scene["rest"] = (method, path, { body, status = 200, headers = {} } = {}) =>
    patient(() => service.rest(method, path, { ...(body && { body }), headers: { ...HEADERS, ...headers } }), status);
  const inPlace = async (work: Parameters<typeof inDatabase<void>>[1]): Promise<void> => {
    const { database } = (await service.rest("GET", `/environments/${ENVIRONMENT}`)).body.data as { database: keyof typeof urls };
    await inDatabase(urls[database], work);
  };
  return {
    t,
    service,
    client,
    ran,
    release,
    rest,
    async send(name, data = {}, more = {}) {
      const sent = await patient(() => service.send({ name, data, ...more }, { key }), 200);
      return sent.body.ids[0];
    },
    runs: (id, count, isWanted = isEnded) =>
      until(`${count} runs of ${id}`, async () => {
        const found = await runsOfFunction(service, `shop-${id}`, HEADERS);
        if (found.length < count || !found.every(isWanted)) return undefined;
        assert.equal(found.length, count, `${id}: ${JSON.stringify(found)}`);
        return Promise.all(found.map((run) => runDetails(service, run.id, HEADERS)));
      }),
    settled: (id) =>
      inPlace(async (pg) => {
        const text = `SELECT FROM queue AS t, ${OWN} AND t.kind = 'start' AND t.due_at <= extract(epoch FROM now()) * 1000`;
        await until(`starts of ${id}`, async () => (await pg.query(text, ownOf(id))).rowCount === 0 || undefined);
      }),
    makeDue: (id) =>
      inPlace(async (pg) => {
        // A debounce has its time in its mark, too.
        const marks = `UPDATE marks AS t SET value = regexp_replace(value, '"dueAt":[0-9]+', '"dueAt":1') FROM ${OWN}`;
        await pg.query(marks, ownOf(id));
        const { rowCount } = await pg.query(`UPDATE queue AS t SET due_at = 1, rank = 1 FROM ${OWN}`, ownOf(id));
        assert.equal(rowCount, 1, `entries of ${id}`);
      }),
  };
}

/** Ends when the environment is in the other database. */
export async function moveAway({ service, rest }: Scene): Promise<void> {
  const started = await service.rest("POST", `/environments/${ENVIRONMENT}/move`, { body: { database: "second" } });
  assert.equal(started.status, 202, started.text);
  const job = await until("the move", async () => {
    const { data } = (await rest("GET", `/jobs/${started.body.data.id}`)).body;
    return data.endedAt === null ? undefined : data;
  });
  assert.equal(job.status, "completed", JSON.stringify(job));
  const moves = (await rest("GET", "/jobs?limit=100")).body.data.filter(({ kind }: { kind: string }) => kind === "environments.move");
  assert.deepEqual(
    moves.map(({ id }: { id: string }) => id),
    [job.id],
  );
  assert.equal((await service.rest("GET", `/environments/${ENVIRONMENT}`)).body.data.database, "second");
}
