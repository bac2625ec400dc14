/** `npm run bench -- <name> [flags]`: measures the service on this machine. Talks to loopback, stops by itself. */

import { parseArgs } from "node:util";
import { benchCompare } from "./compare.ts";
import { benchDatabases } from "./databases.ts";
import { benchIngest } from "./ingest.ts";
import { benchIngestPostgres } from "./ingest-postgres.ts";
import { benchIsolation } from "./isolation.ts";
import { benchJobs } from "./jobs.ts";
import { benchLists } from "./lists.ts";
import { benchNodes } from "./nodes.ts";
import { benchParallelSteps } from "./parallel-steps.ts";
import { type BenchPostgres, benchOnPostgres } from "./postgres.ts";
import { benchRealtime } from "./realtime.ts";
import { type Row, report } from "./report.ts";
import { benchRuns } from "./runs.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchSchemas } from "./schemas.ts";
import { benchTeams } from "./teams.ts";
import { benchTracing } from "./tracing.ts";
import { benchWaits } from "./waits.ts";
import { benchWebhooks } from "./webhooks.ts";

const HELP = `Usage: npm run bench -- <ingest | webhooks | sandbox | runs | parallel | jobs | waits | lists | schemas | tracing | realtime | teams | compare> [flags]

  --seconds <n>   seconds each load runs (5)
  --rounds <n>    rounds, of which the median counts (3)
  --quick         one short round
  --store <name>  sqlite, or postgres: the one from npm, or BENCH_DATABASE_URL (sqlite)

ingest only:
  --stored <n>    events stored before the second half (5000000; 0 leaves it out, as --quick and postgres do)
  --nodes <n>     what nodes that share a database cost each other, instead; postgres only
  --databases <n> what it costs to place environments on so many databases, instead; postgres only
  --isolation     with --databases: what one of them in trouble costs the others, instead; each is a server of its own
  --url <url>     drive this server instead, alone
  --key <key>     its event key (bench)

runs only:
  --runs <n>         runs of each load (10000)
  --stored-runs <n>  runs stored before the last load (1000000; 0 leaves it out, as --quick and postgres do)
  --long <n>         runs over which memory is watched (200000; 0 leaves it out, as --quick does)

parallel only: runs with three and with twenty steps side by side
  --runs <n>         steps of each load (10000)

jobs only: what a job that reruns many runs costs live traffic
  --runs <n>         runs that are started again, in all rounds together (100000; 5000 with --quick)
  --rate <n>         items a second it may do (500)

waits only: what one event that ends many waits costs live traffic
  --runs <n>         runs that wait for it (10000)

lists only:
  --events <n>       events in the store (10000000; 200000 with --quick)
  --data-dir <path>  fills this folder and keeps it, or takes it as it was filled before

teams only: what a team that floods costs another

realtime only: messages published, beside another commit if there is one
  --base <commit>    the other commit

compare only: another commit and this checkout in turn, both stores
  --base <commit>    the other commit; it is checked out into a temporary worktree
  --only <parts>     some of start, accept, webhooks, runs, published, postgres, with commas between
  --runs <n>         runs of each turn (10000; 2000 with --quick)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    stored: { type: "string", default: "5000000" },
    runs: { type: "string" },
    rate: { type: "string", default: "500" },
    "stored-runs": { type: "string", default: "1000000" },
    long: { type: "string", default: "200000" },
    events: { type: "string" },
    "data-dir": { type: "string" },
    base: { type: "string" },
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    store: { type: "string", default: "sqlite" },
    nodes: { type: "string", default: "1" },
    databases: { type: "string", default: "1" },
    isolation: { type: "boolean", default: false },
    url: { type: "string" },
    key: { type: "string", default: "bench" },
    help: { type: "boolean", default: false },
  },
});

const seconds = values.quick ? 2 : Number(values.seconds);
const rounds = values.quick ? 1 : Number(values.rounds);
const runs = values.quick ? 2_000 : Number(values.runs ?? 10_000);

/** A p99 of few events says little: live traffic is watched for as many times longer. */
const LIVE_TAKES = 4;

const BENCHMARKS: Readonly<Record<string, (postgres: BenchPostgres | null) => Promise<Row[]>>> = {
  "ingest-nodes": () => benchNodes({ nodes: Number(values.nodes), seconds, rounds }),
  "ingest-databases": (postgres) =>
    benchDatabases({ databases: Number(values.databases), seconds, rounds, postgres: postgres as BenchPostgres }),
  "ingest-isolation": () => benchIsolation({ databases: Number(values.databases), seconds, rounds }),
  ingest: (postgres) =>
    postgres && !values.url
      ? benchIngestPostgres({ seconds, rounds, postgres })
      : benchIngest({ seconds, rounds, stored: values.quick ? 0 : Number(values.stored), url: values.url, key: values.key }),
  webhooks: () => benchWebhooks({ seconds, rounds }),
  sandbox: () => benchSandbox({ rounds }),
  schemas: () => benchSchemas({ seconds, rounds }),
  tracing: () => benchTracing({ seconds, rounds }),
  realtime: () => benchRealtime({ seconds, rounds, base: values.base }),
  teams: () => benchTeams({ seconds, rounds }),
  runs: (postgres) =>
    benchRuns({
      runs,
      rounds,
      stored: values.quick || values.store === "postgres" ? 0 : Number(values["stored-runs"]),
      long: values.quick ? 0 : Number(values.long),
      postgres,
    }),
  parallel: () => benchParallelSteps({ steps: runs, rounds }),
  jobs: () =>
    benchJobs({
      runs: Number(values.runs ?? (values.quick ? 5_000 : 100_000)),
      rate: Number(values.rate),
      rounds,
      seconds: seconds * LIVE_TAKES,
    }),
  waits: () => benchWaits({ runs, rounds, seconds: seconds * LIVE_TAKES }),
  lists: () => benchLists({ events: Number(values.events ?? (values.quick ? 200_000 : 10_000_000)), folder: values["data-dir"] }),
};

const isAboutNodes = positionals[0] === "ingest" && values.store === "postgres" && Number(values.nodes) > 1;
const isAboutDatabases = positionals[0] === "ingest" && values.store === "postgres" && Number(values.databases) > 1;
const special = isAboutNodes ? "ingest-nodes" : isAboutDatabases ? (values.isolation ? "ingest-isolation" : "ingest-databases") : null;
const name = special ?? positionals[0] ?? "";
const run = values.help ? undefined : BENCHMARKS[name];
if (name === "compare" && values.base !== undefined && !values.help) {
  const isWhole = await benchCompare({ base: values.base, seconds, rounds, runs, only: values.only?.split(",") });
  process.exitCode = isWhole ? 0 : 1;
} else if (run) {
  const postgres = values.store === "postgres" ? await benchOnPostgres() : null;
  try {
    report(postgres ? `${name}-postgres` : name, await run(postgres));
  } finally {
    await postgres?.end();
  }
} else {
  console.log(HELP);
  process.exitCode = values.help ? 0 : 2;
}
