import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, type RunId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  type Begun,
  beginOne,
  claimAll,
  makeScene,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { approvalEventName, approvalStatus, type ClaimedEntry, type NewApproval, signalEventName } from "../contract/index.ts";

const ids = createEventIdGenerator();
const [REQUESTED, DECIDED] = ["inlet/approval.requested", "inlet/approval.decided"];

function sampleApproval(changes: Partial<NewApproval> = {}): NewApproval {
  const asked = { signal: "go", stepId: null, prompt: "Ship it? \u0000", data: '{"n":12345678901234567890}', confirmsReject: false };
  return { id: ids.next(1_000), ...asked, createdAt: 2_000, expiresAt: 90_000, requestEventId: ids.next(1_000), ...changes };
}

function request({ store, environment }: Scene, changes: Partial<NewApproval> = {}, now = 2_000) {
  const approval = sampleApproval(changes);
  const event = (runId: RunId | null) =>
    sampleBatch(environment, [sampleEvent({ id: approval.requestEventId, name: REQUESTED, data: JSON.stringify({ runId }) })]);
  return store.approvalRequest({ environmentId: environment.id, approval, now, lease: sampleLease(), event });
}

async function requested(scene: Scene, changes: Partial<NewApproval> = {}, now = 2_000) {
  const { approval } = await request(scene, changes, now);
  assert.ok(approval);
  return approval;
}

function decide({ store, environment }: Scene, id: string, { by = "Ada", now = 3_000 } = {}) {
  const eventId = ids.next(now);
  const made = { decision: "approved" as const, by, comment: null, data: '{"sum":1.50}' };
  const params = { environmentId: environment.id, id, made, now, lease: sampleLease() };
  return store.approvalDecide({ ...params, event: () => sampleBatch(environment, [sampleEvent({ id: eventId, name: DECIDED })]) });
}

/** The run waits for the signal, or asks itself with `asked`. */
async function wait(scene: Scene, begun: Begun, asked: NewApproval | null = null) {
  const step = sampleStep("wait", { kind: asked ? "approval" : "signal", status: "waiting", until: 90_000 });
  const eventName = asked ? approvalEventName(asked.id) : signalEventName("go");
  const waits = [{ kind: "signal" as const, eventName, expression: null, match: null, since: 2_000, stepId: step.id, expiresAt: 90_000 }];
  const entries = [{ kind: "resume" as const, stepId: step.id, dueAt: 90_000 }];
  const approvals = asked ? [{ ...asked, stepId: step.id }] : [];
  return advance(scene, begun, { status: "waiting", steps: [step], waits, entries, approvals }, { now: 2_000 });
}

const ANSWER = '{"decision":"approved","by":"Ada","comment":null,"data":{"sum":1.50}}';
const SIGNALLED = { value: `{"data":{"signal":"go","data":${ANSWER}}}` };
const outcomes = (entries: readonly ClaimedEntry[]) => entries.map(({ runNo, kind, outcome }) => [runNo, kind, outcome]);

async function namesOf({ store, environment }: Scene): Promise<string[]> {
  const { events } = await store.eventList({ environmentId: environment.id, limit: 50 });
  return events.map(({ name }) => name).filter((name) => name === REQUESTED || name === DECIDED);
}

export function approvalConformance(engine: Engine): void {
  test(`${engine.name}: a decision answers the step that waits for its signal, once, and is reported once`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const begun = await beginOne(scene);
    await wait(scene, begun);
    const approval = await requested(scene);
    assert.deepEqual([approval.run?.id, approval.stepId, approval.prompt], [begun.run.id, "wait", "Ship it? \u0000"]);
    const first = await decide(scene, approval.id);
    assert.deepEqual([first.outcome, first.approval?.status, first.approval?.by], ["decided", "approved", "Ada"]);
    assert.deepEqual(outcomes(first.leased), [[begun.runNo, "resume", SIGNALLED]]);
    const second = await decide(scene, approval.id, { by: "Bob" });
    assert.deepEqual([second.outcome, second.approval?.by, second.leased], ["ended", "Ada", []]);
    assert.deepEqual((await namesOf(scene)).sort(), [DECIDED, REQUESTED]);
    assert.equal((await decide(scene, ids.next(1_000))).outcome, "unknown");
    assert.ok((await request(scene)).approval, "the signal is free again");
  });

  test(`${engine.name}: a decision that nobody waits for yet is kept for the first step that does`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const approval = await requested(scene);
    assert.equal(approval.run, null);
    assert.equal((await request(scene)).approval, null, "one approval at a time for a signal");
    assert.deepEqual((await decide(scene, approval.id)).leased, []);
    assert.equal((await request(scene)).approval, null, "also while its decision is kept");
    const again = { ...scene, store: await reopen() };
    const [begun, next] = [await beginOne(again), await beginOne(again)];
    assert.deepEqual(outcomes((await wait(again, begun)).leased), [[begun.runNo, "resume", SIGNALLED]]);
    assert.deepEqual((await wait(again, next)).leased, [], "and for no other");
    const kept = await again.store.approvalGet({ environmentId: scene.environment.id, id: approval.id });
    assert.deepEqual([kept?.run?.id, kept?.stepId], [begun.run.id, "wait"]);
  });

  test(`${engine.name}: the approval of a step is written with its wait, and no signal answers it`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const [begun, cancelled] = [await beginOne(scene), await beginOne(scene)];
    const [asked, dropped] = [sampleApproval({ signal: null }), sampleApproval({ signal: null })];
    await wait(scene, begun, asked);
    await wait(scene, cancelled, dropped);
    const signal = { environmentId: scene.environment.id, value: "1", now: 3_000, lease: sampleLease() };
    assert.equal((await scene.store.signalSend({ ...signal, signal: asked.id })).runId, null);
    assert.deepEqual(outcomes((await decide(scene, asked.id)).leased), [[begun.runNo, "resume", { value: `{"data":${ANSWER}}` }]]);
    await advance(scene, cancelled, { end: sampleEnd({ status: "cancelled" }) }, { entry: null, now: 4_000 });
    const { outcome, approval } = await decide(scene, dropped.id, { now: 5_000 });
    assert.deepEqual([outcome, approval?.status, approval?.endedAt], ["ended", "cancelled", 4_000]);
    await advance(scene, begun, { end: sampleEnd() }, { entry: null, now: 6_000 });
    const decided = await scene.store.approvalFind({ id: asked.id });
    assert.deepEqual([decided?.status, decided?.endedAt], ["approved", 3_000], "the end of its run changes no decision");
  });

  test(`${engine.name}: an approval ends with its time, also while its step's timeout is being processed`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const [late, begun] = [await requested(scene, { expiresAt: 3_000 }), await beginOne(scene)];
    assert.equal((await decide(scene, late.id, { now: 3_000 })).outcome, "ended");
    assert.equal(approvalStatus(late, 3_000), "expired");
    const next = await requested(scene, {}, 3_000);
    assert.equal((await scene.store.approvalFind({ id: late.id }))?.status, "expired", "the next approval of the signal takes its place");
    const asked = sampleApproval({ signal: null, expiresAt: 90_001 });
    await wait(scene, begun, asked);
    assert.equal((await claimAll(scene, 90_000, "another", ["timers"])).length, 1);
    const { outcome, approval } = await decide(scene, asked.id, { now: 90_000 });
    assert.deepEqual([outcome, approval?.status], ["ended", "expired"]);
    const list = (status?: "open" | "expired", now = 4_000) =>
      scene.store.approvalList({ environmentId: scene.environment.id, now, limit: 10, ...(status && { status }) });
    assert.deepEqual(
      (await list("open")).approvals.map(({ id }) => id),
      [next.id],
    );
    assert.deepEqual(
      (await list("expired", 90_000)).approvals.map(({ id }) => id),
      [asked.id, next.id, late.id].sort().reverse(),
    );
    const expired = async (after?: string) => {
      const page = await scene.store.approvalList({
        environmentId: scene.environment.id,
        now: 90_000,
        limit: 1,
        status: "expired",
        ...(after && { after }),
      });
      return { id: page.approvals[0]?.id, after: page.next };
    };
    const [one, two, three] = [asked.id, next.id, late.id].sort().reverse();
    assert.deepEqual(
      [await expired(), await expired(one), await expired(two)],
      [
        { id: one, after: one },
        { id: two, after: two },
        { id: three, after: null },
      ],
    );
    const { approvals, next: cursor } = await scene.store.approvalList({ environmentId: scene.environment.id, now: 1, limit: 2 });
    assert.deepEqual([approvals.length, cursor], [2, approvals[1]?.id]);
    const open = (limit: number) => scene.store.approvalCountOpen({ environmentId: scene.environment.id, now: 4_000, limit });
    assert.deepEqual([await open(10), await open(0)], [1, 0]);
    assert.equal(await scene.store.approvalExpireMany({ until: 3_000, limit: 10 }), 1);
    assert.equal(await scene.store.approvalFind({ id: late.id }), null);
    const kept = await requested(scene, { signal: "kept" });
    await decide(scene, kept.id);
    await scene.store.approvalExpireMany({ environmentId: scene.environment.id, until: 10_000_000, limit: 10 });
    assert.equal((await scene.store.approvalFind({ id: kept.id }))?.status, "approved", "a run may still wait for it");
    const large = { signal: null, data: JSON.stringify("x".repeat(1_500_000)) };
    for (let n = 0; n < 4; n++) await requested(scene, large);
    const page = await list();
    assert.deepEqual([page.approvals.length, page.next], [3, page.approvals[2]?.id], "a page is bounded in bytes");
  });

  test(`${engine.name}: of many decisions at once one counts, and a step that begins to wait meanwhile gets it`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    for (let round = 0; round < 5; round++) {
      const approval = await requested(scene);
      const begun = await beginOne(scene);
      const [waiting, ...decisions] = await Promise.all([
        wait(scene, begun),
        ...Array.from({ length: 6 }, () => decide(scene, approval.id)),
      ]);
      assert.equal(decisions.filter(({ outcome }) => outcome === "decided").length, 1);
      const leased = [...waiting.leased, ...decisions.flatMap((decision) => decision.leased)];
      assert.deepEqual(outcomes(leased), [[begun.runNo, "resume", SIGNALLED]]);
      await advance(scene, begun, { settled: [stepId("wait")], end: sampleEnd() }, { entry: null });
    }
    assert.equal((await namesOf(scene)).length, 10);
  });
}
