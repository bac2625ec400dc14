import assert from "node:assert/strict";
import { test } from "node:test";
import { examineFunction } from "./examine-function.ts";

const STEPS = { step: { id: "step", runtime: { type: "http", url: "http://localhost:3000/api/inngest?fnId=shop-ship&stepId=step" } } };
const SHIP = { id: "shop-ship", name: "Ship", triggers: [{ event: "shop/order" }], steps: STEPS };

test("a function that runs here as there has triggers and settings, and no difference", () => {
  const flow = { throttle: { limit: 3, period: "1m" }, cancel: [{ event: "shop/cancelled" }], timeouts: { finish: "1h" } };
  assert.deepEqual(examineFunction({ ...SHIP, ...flow }), {
    id: "shop-ship",
    triggers: ["event shop/order"],
    settings: ["retries 4", "throttle 3 per 60 s", "cancelled by shop/cancelled", "must finish within 3600 s"],
    differences: [],
  });
});

test("what cannot be honoured is unsupported, with the sentence a sync would answer", () => {
  const [fault] = examineFunction({ ...SHIP, concurrency: { limit: 1, scope: "galaxy" } }).differences;
  assert.equal(fault?.kind, "unsupported");
  assert.match(fault?.sentence ?? "", /^a sync would be refused: Function shop-ship: concurrency\.scope must be fn, env or account\.$/);
  const worker = { step: { runtime: { type: "ws", url: "wss://connect.example/shop" } } };
  assert.match(examineFunction({ ...SHIP, steps: worker }).differences[0]?.sentence ?? "", /Connect/);
  assert.equal(examineFunction("nonsense").differences[0]?.kind, "unsupported");
});

test("a setting that is not known here, and a limit of the whole account, differ", () => {
  const { differences } = examineFunction({ ...SHIP, teleport: true, concurrency: { limit: 1, scope: "account", key: '"a"' } });
  assert.deepEqual(
    differences.map(({ kind }) => kind),
    ["differs", "differs"],
  );
  assert.match(differences[0]?.sentence ?? "", /teleport/);
});
