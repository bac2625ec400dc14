/**
 * Plays many seeds, or one again, and cuts a failing one down.
 *
 *   npm run simulate -- --seeds 200 [--from 1] [--events 200] [--functions 20]
 *   npm run simulate -- --seed 17 [--shrink] [--kind "part of a fault's text"]
 *   npm run simulate -- --store postgres --seeds 5 [--nodes 2] (in real time)
 */

import "./virtual-time.ts";
import { parseArgs } from "node:util";
import type { Scenario } from "./scenario.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    events: { type: "string", default: "200" },
    functions: { type: "string", default: "16" },
    kind: { type: "string" },
    store: { type: "string", default: "sqlite" },
    nodes: { type: "string", default: "2" },
    shrink: { type: "boolean", default: false },
  },
});
const { generateScenario } = await import("./generate.ts");
const { simulate } = await import("./simulate.ts");
const { kindOf, shrink } = await import("./shrink.ts");
const size = { starts: Number(values.events), functions: Number(values.functions) };
const seeds =
  values.seed !== undefined ? [Number(values.seed)] : Array.from({ length: Number(values.seeds) }, (_, i) => Number(values.from) + i);

const play = values.store === "postgres" ? await onPostgres(Number(values.nodes)) : { simulate, end: async () => undefined };
const begun = performance.now();
let runs = 0;
let calls = 0;
let failing = 0;
for (const seed of seeds) {
  const outcome = await play.simulate(generateScenario(seed, size));
  runs += outcome.runs;
  calls += outcome.calls;
  if (outcome.faults.length === 0) continue;
  failing++;
  console.log(`seed ${seed}: ${outcome.faults.length} faults in ${outcome.runs} runs`);
  for (const fault of outcome.faults.slice(0, values.seed === undefined ? 4 : 40)) console.log(`  ${fault}`);
  process.exitCode = 1;
  if (!values.shrink) continue;
  const kindsOf = async (scenario: Scenario) => new Set((await simulate(scenario)).faults.map(kindOf));
  for (const kind of new Set(outcome.faults.map(kindOf))) {
    if (values.kind !== undefined && !kind.includes(values.kind)) continue;
    const smallest = await shrink(generateScenario(seed, size), kind, { kindsOf, triesMax: 400 });
    console.log(`  smallest scenario with "${kind}":\n${JSON.stringify(smallest)}`);
    for (const fault of (await simulate(smallest)).faults.slice(0, 5)) console.log(`    ${fault}`);
  }
}
const seconds = (performance.now() - begun) / 1_000;
console.log(
  `${seeds.length} seeds, ${failing} failing, ${runs} runs, ${calls} calls, ${seconds.toFixed(1)} s (${Math.round(runs / seconds)} runs/s)`,
);
await play.end();

/** A server of its own, and a database for each seed. */
async function onPostgres(nodes: number) {
  const { inDatabase, startPostgres } = await import("../support/postgres-server.ts");
  const { createDatabaseStores } = await import("./databases.ts");
  const { inRealTime } = await import("./real-time.ts");
  const { simulateInRealTime } = await import("./simulate.ts");
  const server = await startPostgres({ fsync: false });
  return {
    end: () => server.remove(),
    async simulate(scenario: Scenario) {
      const name = `simulation_${scenario.seed}`;
      await inDatabase(server.url, (client) => client.query(`CREATE DATABASE ${name}`));
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return simulateInRealTime(inRealTime(scenario, nodes), createDatabaseStores(url.href));
    },
  };
}
