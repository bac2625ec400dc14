/** `npm run bench -- <name> [flags]`: measures the service on this machine. Talks to loopback, stops by itself. */

import { parseArgs } from "node:util";
import { benchIngest } from "./ingest.ts";
import { report } from "./report.ts";

const HELP = `Usage: npm run bench -- ingest [flags]

  --seconds <n>   seconds each load runs (5)
  --rounds <n>    rounds, of which the median counts (3)
  --stored <n>    events stored before the second half (5000000; 0 leaves it out)
  --quick         one short round on an empty store
  --url <url>     drive this server instead, alone
  --key <key>     its event key (bench)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    stored: { type: "string", default: "5000000" },
    quick: { type: "boolean", default: false },
    url: { type: "string" },
    key: { type: "string", default: "bench" },
    help: { type: "boolean", default: false },
  },
});

if (values.help || positionals[0] !== "ingest") {
  console.log(HELP);
  process.exitCode = values.help ? 0 : 2;
} else {
  const rows = await benchIngest({
    seconds: values.quick ? 2 : Number(values.seconds),
    rounds: values.quick ? 1 : Number(values.rounds),
    stored: values.quick ? 0 : Number(values.stored),
    url: values.url,
    key: values.key,
  });
  report("ingest", rows);
}
