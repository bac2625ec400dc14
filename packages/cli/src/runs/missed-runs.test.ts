import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandFault } from "../command-line/command-fault.ts";
import type { RestCall, RestClient } from "../rest/rest-client.ts";
import { MissedRuns } from "./missed-runs.ts";
import type { RunFields } from "./run-text.ts";

const runOf = (id: string, status: string) => ({ id, status, createdAt: "2026-01-31T12:00:00.000Z" }) as RunFields;

test("a run that was removed during a disconnect is forgotten: what happened to the others is reported", async () => {
  const stored = new Map([runOf("a", "sleeping"), runOf("b", "sleeping")].map((run) => [run.id, run]));
  const asked: string[] = [];
  const rest = {
    // As if all runs had been created long ago: only those of a status are listed.
    list: async ({ query }: RestCall) => ({ items: [...stored.values()].filter(({ status }) => status === query?.status), next: null }),
    call: async () => ({ headers: new Headers({ date: "Sat, 31 Jan 2026 13:00:00 GMT" }) }),
    async data({ path }: RestCall) {
      asked.push(path);
      const run = stored.get(path.replace("/runs/", ""));
      if (!run) throw new CommandFault("There is no such run. (run_not_found)", "run_not_found");
      return run;
    },
  } as unknown as RestClient;
  const missed = new MissedRuns(rest, null);
  assert.deepEqual(await missed.sinceLastTime(), []);
  stored.delete("a");
  stored.set("b", runOf("b", "completed"));
  assert.deepEqual(await missed.sinceLastTime(), [runOf("b", "completed")]);
  assert.deepEqual(await missed.sinceLastTime(), []);
  assert.deepEqual(asked, ["/runs/a", "/runs/b"], "each once");
});
