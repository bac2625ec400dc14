/** Every route of the REST reference that writes is played by the simulation, or has a reason why it is not; and what is said to be played is generated. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import "./virtual-time.ts";

const { generateScenario } = await import("./generate.ts");
const { PLAYED_ROUTES } = await import("./played-routes.ts");

const REFERENCE = new URL("../../../../docs/reference/rest-api.md", import.meta.url);
const WRITES = /^### `((?:POST|PUT|PATCH|DELETE) [^`]+)`$/gm;
/** Enough for every kind of deed. */
const SEEDS = 40;

test("every route that writes is played by the simulation, or has a reason", async () => {
  const documented = [...(await readFile(REFERENCE, "utf8")).matchAll(WRITES)].map(([, route]) => route);
  assert.ok(documented.length > 40, `${documented.length} routes were read`);
  assert.deepEqual(Object.keys(PLAYED_ROUTES).sort(), documented.sort());
});

test("what is said to be played is generated", () => {
  const scenarios = Array.from({ length: SEEDS }, (_, seed) => generateScenario(seed + 1, { starts: 20, functions: 4 }));
  for (const [route, played] of Object.entries(PLAYED_ROUTES)) {
    // With two databases, and where a function holds up its key.
    if ("not" in played || played.by === "moves" || played.by === "release-holds") continue;
    const { by } = played;
    assert.ok(
      scenarios.some((scenario) => (scenario[by] ?? []).length > 0),
      `${route} is said to be played by ${by}`,
    );
  }
});
