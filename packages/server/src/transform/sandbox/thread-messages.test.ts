import assert from "node:assert/strict";
import { test } from "node:test";
import type { ThreadAnswer, ThreadJob } from "./thread.ts";
import { addAnswer, emptyAnswers, forEachAnswer, packJobs, unpackJobs } from "./thread-messages.ts";

test("jobs arrive as they were sent, runs and checks, also when their texts are empty", () => {
  const run = { versionKey: "wh@1", source: "() => ({})", evtJson: '{"a":1}', headersJson: "{}", queryParamsJson: "{}", raw: "a=1" };
  const jobs: ThreadJob[] = [
    { id: 1, run },
    { id: 2, check: "" },
    { id: 3, run: { ...run, source: "", evtJson: null, raw: "" } },
    { id: 4, check: "() => 1" },
  ];
  assert.deepEqual(unpackJobs(structuredClone(packJobs(jobs))), jobs);
});

test("every kind of answer arrives as it was given", () => {
  const trace = { logs: [], durationMs: 1.5 };
  const answers: ThreadAnswer[] = [
    { id: 1, cpuMs: 0.25, outcome: { ok: true, eventJson: '{"name":"a"}', places: [8, 11, 0], ...trace } },
    { id: 2, cpuMs: 1, outcome: { ok: true, eventJson: "{}", places: null, ...trace } },
    { id: 3, cpuMs: 1, outcome: { ok: true, eventJson: "{}", places: null, logs: ["said"], durationMs: 2 } },
    { id: 4, cpuMs: 1, outcome: { ok: false, code: "transform_failed", message: "no", line: 3, ...trace } },
    { id: 5, cpuMs: 1, checked: { ok: true } },
  ];
  const list = emptyAnswers();
  for (const answer of answers) addAnswer(list, answer);
  const arrived: ThreadAnswer[] = [];
  forEachAnswer(structuredClone(list), (answer) => arrived.push(answer));
  assert.deepEqual(arrived, answers);
});
