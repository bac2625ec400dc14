/** What a sender writes is what a reader gets: numbers, escapes, key order and duplicate keys included. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import type { TestService } from "./support/service.ts";

async function roundTrip(service: TestService, event: string): Promise<string> {
  const { status, body } = await service.send(event);
  assert.equal(status, 200, event);
  return (await service.rest("GET", `/events/${body.ids[0]}`)).text;
}

test(
  "what is sent comes back",
  onOneService({
    "data comes back character by character": async (service) => {
      const traps = [
        '{"id":12345678901234567890,"f":1.0,"e":1E400,"neg":-0,"long":0.1000000000000000055511151231257827}',
        '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":"x"}',
        '{"a":1,"a":2,"a":{"b":1,"b":2}}',
        '{"z":1,"10":2,"a":3,"2":4}',
        String.raw`{"lone":"\ud800 and \udc00","pair":"\ud83d\ude00","nul":"\u0000","quote":"\"\\\/\b\f\n\r\t"}`,
        '{ "spaced" :\t[ 1 ,\r\n 2 ] }',
        '{"text":"é😀\u2028\u2029\ufeff"}',
        `{"deep":${"[".repeat(511)}${"]".repeat(511)}}`,
        '{"":"","empty":{},"list":[]}',
      ];
      for (const data of traps) {
        const text = await roundTrip(service, `{"name":"trap/json","data":${data}}`);
        assert.ok(text.includes(`"data":${data},`), `${data}\n${text}`);
      }
    },

    "every event of an array keeps its own text": async (service) => {
      const event = (n: number) => `{ "name":"trap/json", "data":{"n":${n}0000000000000000001} }`;
      const { body } = await service.send(`[${[1, 2, 3].map(event).join(" , ")}]`);
      const { text } = await service.rest("GET", "/events");
      for (const n of [1, 2, 3]) assert.ok(text.includes(`"data":{"n":${n}0000000000000000001}`));
      assert.equal(body.ids.length, 3);
    },

    "of a field given twice the last counts, however it is spelled": async (service) => {
      const text = await roundTrip(
        service,
        String.raw`{"name":"a/first","n\u0061me":"a/second","data":{"n":1},"d\u0061ta":{"n":2},"x":1,"x":2}`,
      );
      const { data } = JSON.parse(text);
      assert.deepEqual([data.name, data.data, data.x], ["a/second", { n: 2 }, 2]);
    },

    "unknown fields keep exact numbers and harmless prototypes": async (service) => {
      const text = await roundTrip(service, '{"name":"a/b","data":{},"v":98765432109876543210,"__proto__":{"polluted":1}}');
      assert.ok(text.includes('"v":98765432109876543210'));
      assert.ok(text.includes('"__proto__":{"polluted":1}'));
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    },

    "names and ids with lone surrogates, backslashes and NUL are kept apart": async (service) => {
      const ids = ["\ud800", "\ud801", "\ufffd", "\\ud800", "a\0b", "a\\u0000b"];
      const answers = await Promise.all(ids.map((id) => service.send(JSON.stringify({ name: "a/b", data: {}, id }))));
      assert.equal(new Set(answers.map((answer) => answer.body.ids[0])).size, ids.length, "none is taken for a duplicate of another");
      for (const [i, answer] of answers.entries()) {
        const { body } = await service.rest("GET", `/events/${answer.body.ids[0]}`);
        assert.equal(body.data.dedupId, ids[i]);
      }
      const name = "odd/\ud800\\";
      const { body } = await service.send(JSON.stringify({ name, data: {} }));
      assert.equal((await service.rest("GET", `/events/${body.ids[0]}`)).body.data.name, name);
    },

    "a byte order mark is not part of the text": async (service) => {
      assert.equal((await service.send(Buffer.from('\ufeff{"name":"a/b","data":{}}'))).status, 200);
    },
  }),
);
