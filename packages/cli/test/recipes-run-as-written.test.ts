/** The recipes of docs/how-to: their functions are served, their commands are run in order, and every function runs to its end. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { RECIPE_STUBS, RECIPES } from "../../sdk/test/recipe-stubs.ts";
import { poll } from "../../server/test/support/app.ts";
import { startInlet } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { readGuide, runScripts } from "./support/guide.ts";
import { startGuideApp } from "./support/guide-app.ts";

/** Recipes of commands alone. */
const COMMANDS_ONLY = ["how-to/browsers-and-cors.md", "how-to/replay-after-a-bug.md"];

interface Run {
  status: string;
  function: { id: string };
}

/** An app with everything that the examples of a page create. */
function appOf(id: string, examples: readonly string[]): string {
  return `
    import { createServer } from "node:http";
    import { Inlet, NonRetriableError, RetryAfterError } from "@inlet/sdk";
    import { serve } from "@inlet/sdk/node";
    const client = new Inlet({ id: "${id}" });
    const functions = [];
    const inlet = {
      createFunction(...given) {
        const made = client.createFunction(...given);
        functions.push(made);
        return made;
      },
    };
    ${RECIPE_STUBS}
    ${examples.join("\n")}
    createServer(serve({ client, functions })).listen(3000);
    export const granted = { NonRetriableError, RetryAfterError };
  `;
}

test("the recipes", async (t) => {
  const { url } = await startInlet(t, ["dev", "--ephemeral", "--discover", "off", "--port", "0"]);
  const data = async <Value>(path: string) => ((await (await fetch(`${url}/v1${path}`)).json()) as { data: Value }).data;
  const variables = { INLET_BASE_URL: url };
  const here = (script: string) => script.replaceAll("localhost:8288", new URL(url).host);
  for (const page of RECIPES) {
    await t.test(page, async (t) => {
      const guide = readGuide(page);
      const id = page.replace(/^how-to\/|\.md$/g, "");
      const folder = temporaryFolder(t);
      const app = await startGuideApp(t, join(folder, "app"), appOf(id, guide.blocks("ts")), { INLET_DEV: url });
      await runScripts(t, [`inlet apps sync ${app}`], folder, variables);
      const functions = (await data<{ id: string }[]>("/functions")).filter((one) => one.id.startsWith(`${id}-`));
      assert.ok(functions.length > 0);
      const runsOfPage = async () => (await data<Run[]>("/runs?limit=100")).filter((run) => run.function.id.startsWith(`${id}-`));
      for (const { script } of guide.steps) {
        const before = (await runsOfPage()).length;
        await runScripts(t, [here(script)], folder, variables);
        // Each command starts a run or resumes one, and the next is for runs that have got as far as they can.
        await poll(async () => {
          const runs = await runsOfPage();
          const isCalm = runs.every(({ status }) => status !== "queued" && status !== "running");
          return isCalm && (runs.length > before || runs.every(({ status }) => status === "completed")) ? true : null;
        }, script);
      }
      const ended = await poll(async () => {
        const runs = await runsOfPage();
        return runs.every(({ status }) => status === "completed" || status === "failed") ? runs : null;
      }, "all runs have ended");
      for (const one of functions) {
        const own = ended.filter((run) => run.function.id === one.id);
        assert.ok(own.length > 0 && own.every(({ status }) => status === "completed"), `${one.id}: ${JSON.stringify(own)}`);
      }
    });
  }
  for (const page of COMMANDS_ONLY) {
    await t.test(page, async (t) => {
      const { steps } = readGuide(page);
      assert.ok(steps.length > 0);
      await runScripts(
        t,
        steps.map(({ script }) => here(script)),
        temporaryFolder(t),
        variables,
      );
    });
  }
});
