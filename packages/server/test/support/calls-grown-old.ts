/** Prints what remains of a call that has ended: `node --expose-gc <this> <url of an app>`. */

import { AppAddresses } from "../../src/execute/call/app-addresses.ts";
import { AppCaller } from "../../src/execute/call/call-app.ts";
import { bytesGrownOld } from "./bytes-grown-old.ts";

const url = process.argv[2] as string;
const caller = new AppCaller({ timeoutMs: 10_000, connectionsMax: 100, addresses: new AppAddresses(null) });
const bytes = await bytesGrownOld((n) => {
  const body = JSON.stringify({ n, text: "x".repeat(2_000) });
  return caller.call({ method: "POST", url, headers: { "x-a": "1" }, body });
});
console.log(bytes);
await caller.stop();
