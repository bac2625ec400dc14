import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { PROOFS } from "./security-proofs.ts";
import { provenBy, threats } from "./security-tests.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

test("every threat in docs/explanation/security.md has a proof, and every proof is a test that is there", () => {
  assert.ok(threats().length >= 18, `${threats().length} threats were found`);
  for (const { threat, proof } of threats()) {
    assert.ok(proof.length > 0, `${threat}: scripts/security-proofs.ts names no test`);
    for (const file of proof) {
      assert.ok(existsSync(ROOT + file), `${threat}: ${file} does not exist`);
      assert.match(readFileSync(ROOT + file, "utf8"), /\b(?:test\w*|it)\(/, file);
    }
  }
});

test("every proof is of a threat that the page lists", () => {
  const listed = threats().map(({ threat }) => threat);
  assert.deepEqual(
    Object.keys(PROOFS).filter((threat) => !listed.includes(threat)),
    [],
  );
});

test("tests that attack with a seed are named there", () => {
  const seeded = globSync("packages/server/test/*.test.ts", { cwd: ROOT }).filter((file) =>
    readFileSync(ROOT + file, "utf8").includes("attackPlan("),
  );
  assert.ok(seeded.length >= 2);
  for (const file of seeded) assert.ok(provenBy().includes(file), file);
});
