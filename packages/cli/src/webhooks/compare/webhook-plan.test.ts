import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlan, type Plan } from "../../plan/make-plan.ts";
import { type Entry, filesOf } from "../folder/entry.ts";
import { webhookKind } from "../webhook-kind.ts";
import type { WebhooksClient } from "../webhooks-client.ts";
import { matchEntries } from "./match-entries.ts";
import type { ServerList, ServerWebhook } from "./server-webhook.ts";

const TRANSFORM = "() => ({})\n";
const NO_SETTINGS = { verify: null, handshake: null, answer: null, mirror: null, reconcile: null };

function entry(slug: string, fields: Partial<Entry> = {}): Entry {
  const settings = { id: null, name: slug, environment: null, eventNames: null, ips: null, enabled: true, ...NO_SETTINGS };
  return { ...settings, transform: TRANSFORM, fixtures: [], slug, files: filesOf("webhooks", slug), ...fields };
}

function webhook(id: string, fields: Partial<ServerWebhook> = {}): ServerWebhook {
  const settings = { name: id, environment: "production", eventNames: null, ips: null, enabled: true, ...NO_SETTINGS };
  return { id, url: `http://inlet/e/${id}`, ...settings, transform: TRANSFORM, ...fields };
}

const inDefault = (...webhooks: ServerWebhook[]): ServerList => ({ environment: null, webhooks });
const planOf = (entries: Entry[], lists: ServerList[], prune = false): Plan =>
  makePlan(webhookKind({} as WebhooksClient), matchEntries(entries, lists), { prune });

interface StepJson {
  action: string;
  folder: string;
  id: string;
  fields: { field: string }[];
}

/** `change a wh1 name,ips`, for short. */
function short({ steps }: Plan): string[] {
  return steps.map(({ json }) => {
    const { action, folder, id, fields } = json as StepJson;
    if (action === "delete") return `delete ${id}`;
    const slug = folder.slice("webhooks/".length);
    return action === "create" ? `create ${slug}` : `change ${slug} ${id} ${fields.map(({ field }) => field)}`;
  });
}

test("nothing to do when both sides say the same", () => {
  const plan = planOf([entry("a")], [inDefault(webhook("w1", { name: "a" }))]);
  assert.deepEqual([plan.steps, plan.unchanged.length, plan.unlisted, plan.faults], [[], 1, [], []]);
});

test("what is not there is created; what is there and not in the folder is left alone, or deleted last", () => {
  const lists = [inDefault(webhook("old"))];
  const plan = planOf([entry("a")], lists);
  assert.deepEqual(short(plan), ["create a"]);
  assert.deepEqual(
    plan.unlisted.map(({ json }) => (json as { id: string }).id),
    ["old"],
  );
  assert.deepEqual(short(planOf([entry("a"), entry("z")], lists, true)), ["create a", "create z", "delete old"]);
});

test("every field that differs is a change, with both values", () => {
  const list = { mode: "allow" as const, list: ["a/*"] };
  const changed = entry("a", { id: "w1", name: "new", enabled: false, eventNames: list, ips: list, transform: "() => 1" });
  const plan = planOf([changed], [inDefault(webhook("w1"))]);
  assert.deepEqual(short(plan), ["change a w1 name,enabled,eventNames,ips,transform"]);
  const [step] = plan.steps.map(({ json }) => json as StepJson);
  assert.deepEqual(step?.fields[2], { field: "eventNames", onServer: null, inFolder: list });
});

test("line ends and blank lines at the end of a transform are no difference", () => {
  const same = entry("a", { transform: "a\nb" });
  assert.deepEqual(short(planOf([same], [inDefault(webhook("w1", { name: "a", transform: "a\r\nb\r\n\r\n" }))])), []);
});

test("the id goes before the name, so that a webhook can be renamed, and its old name given to another", () => {
  const lists = [inDefault(webhook("w1", { name: "first" }))];
  assert.deepEqual(short(planOf([entry("a", { id: "w1", name: "second" })], lists)), ["change a w1 name"]);
  assert.deepEqual(short(planOf([entry("b", { name: "first" }), entry("a", { id: "w1", name: "second" })], lists)), [
    "create b",
    "change a w1 name",
  ]);
});

test("an id this server does not know gives way to the name", () => {
  assert.deepEqual(short(planOf([entry("a", { id: "elsewhere", enabled: false })], [inDefault(webhook("w1", { name: "a" }))])), [
    "change a w1 enabled",
  ]);
});

test("an environment is a world of its own: another one needs a webhook of its own", () => {
  const lists = [inDefault(webhook("w1", { name: "a" })), { environment: "staging", webhooks: [] }];
  assert.deepEqual(short(planOf([entry("a", { environment: "staging", id: "w1" })], lists)), ["create a"]);
});

test("an environment asked for twice, by name and by default, counts once", () => {
  const one = webhook("w1", { name: "a" });
  const plan = planOf([entry("a")], [inDefault(one), { environment: "production", webhooks: [one] }], true);
  assert.deepEqual(plan.steps, []);
});

test("where a choice would be left, it is a fault", () => {
  const twins = [inDefault(webhook("w1", { name: "a" }), webhook("w2", { name: "a" }))];
  assert.deepEqual(planOf([entry("a")], twins).faults, [
    'webhooks/a/webhook.json: the server has 2 webhooks named "a" (w1, w2); add the "id" of the right one',
  ]);
  assert.deepEqual(planOf([entry("a", { id: "w2" })], twins).faults, []);
  assert.deepEqual(planOf([entry("a"), entry("b", { name: "a" })], [inDefault()]).faults, [
    'webhooks/a/webhook.json and webhooks/b/webhook.json have the same name "a" in one environment',
  ]);
  assert.deepEqual(planOf([entry("a", { id: "w1" }), entry("b", { id: "w1" })], twins).faults, [
    "webhooks/a/webhook.json and webhooks/b/webhook.json have the same id w1; remove it from one of them",
  ]);
});
