/** Prints what remains of a webhook request whose transform has run: `node --expose-gc <this>`. */

import { testRunner } from "../../src/transform/threads/run-for-test.ts";
import { bytesGrownOld } from "./bytes-grown-old.ts";

const { runner, run } = testRunner();
const bytes = await bytesGrownOld((n) => {
  const raw = JSON.stringify({ n, text: "x".repeat(8_000) });
  return run(`(evt) => ({ name: "a", data: {} })`, { evtJson: raw, raw });
});
console.log(bytes);
await runner.stop();
