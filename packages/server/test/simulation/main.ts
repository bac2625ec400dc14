/** Plays many seeds, new ones until the time is up or enough runs were simulated, or one again, and cuts a failing one down. */

import "./virtual-time.ts";
import { readFlags } from "../../../../scripts/read-flags.ts";
import type { Scenario } from "./scenario.ts";
import { unseenSeed } from "./seeds.ts";

const USAGE = `Usage: npm run simulate -- [flags]

  --seeds <n>       plays so many seeds (20), from --from on (1)
  --minutes <n>     plays for so long, from --from on, or from a seed that nobody has played
  --runs <n>        plays until so many runs were simulated, from --from on, or from a seed that nobody has played
  --seed <n>        plays one seed again
  --shrink          cuts a failing scenario down; --kind <text> only for faults with this text
  --events <n>      events of a seed (200)
  --functions <n>   functions of a seed (16)
  --narrow          without what few seeds were played with (see generate.ts)
  --store postgres  in real time, on PostgreSQL from npm:
    --nodes <n>       nodes that share a database (2)
    --databases <n>   databases that environments are placed on (1)
    --at-once <n>     seeds that are played side by side (1)
    --keep <folder>   keeps plays with faults there`;

const values = readFlags(USAGE, {
  seeds: { type: "string", default: "20" },
  from: { type: "string" },
  seed: { type: "string" },
  minutes: { type: "string" },
  runs: { type: "string" },
  events: { type: "string", default: "200" },
  functions: { type: "string", default: "16" },
  kind: { type: "string" },
  store: { type: "string", default: "sqlite" },
  nodes: { type: "string", default: "2" },
  databases: { type: "string", default: "1" },
  "at-once": { type: "string", default: "1" },
  shrink: { type: "boolean", default: false },
  narrow: { type: "boolean", default: false },
  keep: { type: "string" },
});
const PROGRESS_MS = 60_000;
const FAULTS_SHOWN = values.seed === undefined ? 4 : 40;

const { generateScenario } = await import("./generate.ts");
const { simulate } = await import("./simulate.ts");
const { kindOf, shrink } = await import("./shrink.ts");
const size = { starts: Number(values.events), functions: Number(values.functions), isNarrow: values.narrow };
const onPostgres =
  values.store === "postgres"
    ? await (await import("./on-postgres.ts")).playOnPostgres(Number(values.nodes), values.keep ?? null, Number(values.databases))
    : null;
const play = onPostgres?.simulate ?? simulate;
/** Time is virtual for the whole process: only in real time can seeds be played side by side. */
const atOnce = onPostgres ? Number(values["at-once"]) : 1;

const isOpenEnded = values.minutes !== undefined || values.runs !== undefined;
const first = Number(values.seed ?? values.from ?? (isOpenEnded ? unseenSeed() : 1));
const begun = performance.now();
const total = { seeds: 0, failing: 0, runs: 0, calls: 0, moves: 0 };
let shownAt = begun;
let isStopped = false;
// The seed under way is played to its end.
process.once("SIGINT", () => (isStopped = true));

if (isOpenEnded) console.log(`from seed ${first} on`);
await Promise.all(Array.from({ length: atOnce }, playOn));
console.log(`${figures()} (${Math.round((total.runs * 1_000) / (performance.now() - begun))} runs/s)`);
await onPostgres?.end();

/** One seed after the other. */
async function playOn(): Promise<void> {
  while (!isEnough()) {
    const seed = first + total.seeds++;
    const outcome = await play(generateScenario(seed, size));
    total.runs += outcome.runs;
    total.calls += outcome.calls;
    total.moves += outcome.played.moves;
    if (outcome.faults.length > 0) await report(seed, outcome.runs, outcome.faults);
    if (!isOpenEnded || performance.now() < shownAt + PROGRESS_MS) continue;
    shownAt = performance.now();
    console.log(figures());
  }
}

function isEnough(): boolean {
  if (isStopped) return true;
  if (values.seed !== undefined) return total.seeds === 1;
  if (!isOpenEnded) return total.seeds === Number(values.seeds);
  const { minutes, runs } = values;
  return (
    (minutes !== undefined && performance.now() >= begun + Number(minutes) * 60_000) || (runs !== undefined && total.runs >= Number(runs))
  );
}

async function report(seed: number, runs: number, faults: readonly string[]): Promise<void> {
  total.failing++;
  process.exitCode = 1;
  const narrow = values.narrow ? " --narrow" : "";
  const flags = onPostgres ? ` --store postgres --nodes ${values.nodes} --databases ${values.databases}` : "";
  const again = `npm run simulate -- --seed ${seed} --events ${values.events} --functions ${values.functions}${narrow}${flags}`;
  console.log(`seed ${seed}: ${faults.length} faults in ${runs} runs (${again})`);
  for (const fault of faults.slice(0, FAULTS_SHOWN)) console.log(`  ${fault}`);
  if (!values.shrink) return;
  const kindsOf = async (scenario: Scenario) => new Set((await play(scenario)).faults.map(kindOf));
  for (const kind of new Set(faults.map(kindOf))) {
    if (values.kind !== undefined && !kind.includes(values.kind)) continue;
    const smallest = await shrink(generateScenario(seed, size), kind, { kindsOf, triesMax: 400 });
    console.log(`  smallest scenario with "${kind}":\n${JSON.stringify(smallest)}`);
    for (const fault of (await play(smallest)).faults.slice(0, 5)) console.log(`    ${fault}`);
  }
}

function figures(): string {
  const { seeds, failing, runs, calls, moves } = total;
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  return `${seeds} seeds, ${failing} failing, ${runs} runs, ${calls} calls, ${moves > 0 ? `${moves} moves, ` : ""}${seconds} s`;
}
