import assert from "node:assert/strict";
import { test } from "node:test";
import { readWebhookFile, webhookFileText, withId } from "./webhook-file.ts";

const NO_SETTINGS = { verify: null, handshake: null, answer: null, mirror: null, reconcile: null };

function read(text: string) {
  const faults: string[] = [];
  return { webhook: readWebhookFile("w.json", text, faults), faults };
}

test("only the name is needed", () => {
  assert.deepEqual(read('{"name":"Stripe"}'), {
    webhook: { id: null, name: "Stripe", environment: null, eventNames: null, ips: null, enabled: true, ...NO_SETTINGS },
    faults: [],
  });
});

test("what is written is read back", () => {
  const webhook = {
    id: "wh_1",
    name: "Stripe",
    environment: "feature/cart",
    eventNames: { mode: "allow" as const, list: ["stripe/*"] },
    ips: { mode: "deny" as const, list: ["10.0.0.0/8", "::1"] },
    enabled: false,
    ...NO_SETTINGS,
  };
  assert.deepEqual(read(webhookFileText(webhook)), { webhook, faults: [] });
  const bare = { ...webhook, id: null, environment: null, eventNames: null, ips: null };
  assert.deepEqual(read(webhookFileText(bare)).webhook, bare);
});

test("secrets are names of variables, and nothing else", () => {
  const verify = { scheme: "github", secrets: ["GITHUB_SECRET", "OLD_SECRET"] };
  const { webhook, faults } = read(JSON.stringify({ name: "A", verify, answer: { status: 204 } }));
  assert.deepEqual([webhook?.verify, webhook?.answer, faults], [verify, { status: 204 }, []]);
  for (const secrets of [[], "A", ["not a name"], ["A", "B", "C", "D", "E"]]) {
    assert.match(
      read(JSON.stringify({ name: "A", verify: { scheme: "github", secrets } })).faults[0] ?? "",
      /names of environment variables/,
    );
  }
});

test("a name is any that the server takes", () => {
  for (const name of [" ", "..", "a\nb", "__proto__"]) assert.deepEqual(read(JSON.stringify({ name })).faults, [], name);
});

test("every mistake is named", () => {
  const { webhook, faults } = read(
    '{"nmae":"x","environment":"a b","eventNames":{"mode":"only","list":"a","also":1},"ips":[],"enabled":"yes","id":""}',
  );
  assert.equal(webhook, null);
  assert.deepEqual(faults, [
    'w.json: the webhook has a field "nmae", which is unknown; known fields: id, name, environment, eventNames, ips, enabled, verify, handshake, answer, mirror, reconcile',
    'w.json: environment "a b" is not a name: letters, digits and . _ - / are allowed',
    "w.json: id must be a non-empty string",
    "w.json: name is missing",
    'w.json: eventNames has a field "also", which is unknown; known fields: mode, list',
    'w.json: eventNames.mode must be "allow" or "deny"',
    "w.json: eventNames.list must be a list of strings",
    "w.json: ips must be an object",
    "w.json: enabled must be true or false",
  ]);
  assert.deepEqual(read("[]").faults, ["w.json: the webhook must be an object"]);
});

test("an id is added without touching what the author wrote", () => {
  assert.equal(
    withId('{\n\t"name": "A",\n\t"ips": {"mode":"deny", "list":[ ]}\n}\n', "wh_1"),
    '{\n\t"id": "wh_1",\n\t"name": "A",\n\t"ips": {"mode":"deny", "list":[ ]}\n}\n',
  );
  assert.equal(withId('{"name":"A"}', "$&"), '{"id": "$&", "name":"A"}');
  assert.equal(withId('{\r\n  "name": "A"\r\n}', "wh_1"), '{\r\n  "id": "wh_1",\r\n  "name": "A"\r\n}');
});
