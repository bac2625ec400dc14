/**
 * A fault that no code handles ends the process as a stop does and not as a crash: the cause is logged, subscribers are told, requests in
 * flight are answered, and the exit code tells a supervisor to start it again.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

const FAULTY = `--import ${new URL("./fixtures/fault-on-signal.mjs", import.meta.url).href}`;

for (const [what, message] of [
  ["timer", "a timer that throws"],
  ["rejection", "a promise nobody handles"],
] as const) {
  test(`${what}: the cause is logged, what is under way ends, and the exit code is 1`, async (t) => {
    const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
    const { flags } = await storeFlags(t, { dataDir: temporaryFolder(t) });
    const argv = ["start", "--port", "0", ...flags, ...keys];
    const inlet = await startInlet(t, argv, { NODE_OPTIONS: FAULTY, TEST_FAULT: what });
    const headers = { authorization: `Bearer ${SIGNING_KEY}` };
    const { body } = await call(`${inlet.url}/v1/realtime/token`, { method: "POST", headers, body: '[{"channel":"a","name":"b"}]' });
    const socket = new WebSocket(`${inlet.url.replace("http", "ws")}/v1/realtime/connect?token=${body.jwt}`);
    await once(socket, "open");
    const closed = once(socket, "close") as Promise<[CloseEvent]>;

    // Its headers have arrived, and of its body one half.
    const sending = request(`${inlet.url}/e/${EVENT_KEY}`, { method: "POST", headers: { expect: "100-continue", "content-length": 29 } });
    onEnd(t, () => sending.destroy());
    sending.flushHeaders();
    await once(sending, "continue");
    sending.write('{"name":"app/late"');

    const exited = once(inlet.child, "exit");
    inlet.child.kill("SIGUSR2");
    const [{ code, reason }] = await closed;
    assert.deepEqual([code, reason], [1013, "The service is stopping. Connect again."]);
    sending.end(',"data":{}}');
    const [answer] = (await once(sending, "response")) as [IncomingMessage];
    assert.equal(answer.statusCode, 200);
    const { ids } = JSON.parse((await answer.toArray()).join(""));
    assert.deepEqual(await exited, [1, null]);
    await inlet.logged(new RegExp(`${message}.*stopping: a fault was not handled`));

    const again = await startInlet(t, argv);
    const kept = await call(`${again.url}/v1/events/${ids[0]}`, { headers: { authorization: `Bearer ${API_KEY}` } });
    assert.equal(kept.body.data.name, "app/late");
  });
}
