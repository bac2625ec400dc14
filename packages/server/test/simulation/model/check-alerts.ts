/**
 * An alert is raised and resolved in turn, and each change is told once. It is raised if so many runs have failed within the window, and
 * resolved if fewer have, soon after that; and when its rule is disabled or deleted.
 */

import type { StoredEvent } from "../../../src/store/contract/index.ts";
import { ALERTS_EVERY_MS } from "../alerts.ts";
import type { AlertNote } from "../journal-notes.ts";
import type { Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

interface Change {
  at: number;
  isRaise: boolean;
  reason: string | undefined;
}

const RAISED = "inlet/alert.raised";
const RESOLVED = "inlet/alert.resolved";
/** How long nothing may be noticed after an outage: calls end before a stop, and a node that died leads for a while. */
const RECOVERY_MS = 120_000;

export function checkAlerts(evidence: Evidence, fault: Fault): void {
  for (const note of evidence.played.journal.alerts) {
    const told = (message: string) => fault(`alert of ${note.threshold} failures of ${note.functionId}: ${message}`);
    const failures = evidence.runsOf(note.functionId).flatMap(({ status, endedAt }) => (status === "failed" && endedAt ? [endedAt] : []));
    const changes = changesOf(evidence.played.events, note);
    for (const [index, { isRaise }] of changes.entries())
      if (isRaise !== (index % 2 === 0)) told(`it was ${isRaise ? "raised" : "resolved"} twice in a row`);
    if (changes.length % 2 !== 0) told("it is raised although its rule is deleted");
    for (const change of changes) checkChange(evidence, note, change, failures, told);
    checkNotice(evidence, note, changes, failures, told);
  }
}

function changesOf(events: readonly StoredEvent[], { id }: AlertNote): Change[] {
  return events
    .filter(({ name }) => name === RAISED || name === RESOLVED)
    .map(({ name, data, receivedAt }) => ({ name, at: receivedAt, ...(JSON.parse(data) as { rule: { id: string }; reason?: string }) }))
    .filter(({ rule }) => rule.id === id)
    .map(({ name, at, reason }) => ({ at, isRaise: name === RAISED, reason }));
}

/** Each has its cause. */
function checkChange(
  evidence: Evidence,
  note: AlertNote,
  { at, isRaise, reason }: Change,
  failures: readonly number[],
  fault: Fault,
): void {
  const { threshold, windowMs, disabled, askedAt, endAskedAt, endedAt } = note;
  const slackMs = evidence.jumbleMs + evidence.tellingMs;
  const within = (from: number, to: number) => failures.filter((one) => one >= from && one <= to).length;
  const isOff = disabled !== null && at > disabled.setAt + slackMs && at < disabled.endAskedAt;
  if (isRaise) {
    if (at < askedAt || at > endedAt + slackMs) fault("it was raised without its rule");
    if (isOff) fault("it was raised while its rule was disabled");
    const most = within(at - windowMs - slackMs, at);
    if (most < threshold) fault(`it was raised for ${most} failures`);
  } else if (reason === "below_threshold") {
    const least = within(at - windowMs + slackMs, at - slackMs);
    if (least >= threshold) fault(`it was resolved with ${least} failures`);
  } else if (reason === "rule_disabled") {
    if (!disabled || at < disabled.askedAt) fault("it was resolved for a rule that was not disabled");
  } else if (reason === "rule_deleted") {
    if (at < endAskedAt) fault("it was resolved for a rule that was not deleted");
  } else if (reason !== "environment_archived") fault(`it was resolved for ${reason}`);
}

/** As long as as many or as few have failed, and the rule is in force, it is raised or it is not, soon after that began. */
function checkNotice(evidence: Evidence, note: AlertNote, changes: readonly Change[], failures: readonly number[], fault: Fault): void {
  const { threshold, windowMs, setAt, endAskedAt, disabled } = note;
  const { archives = [], isRealTime } = evidence.played.scenario;
  if (archives.length > 0 || isRealTime) return;
  const noticeMs = ALERTS_EVERY_MS + evidence.jumbleMs + 1;
  const isOver = (at: number) => failures.filter((one) => one <= at && one > at - windowMs).length >= threshold;
  const edges = [...failures, ...failures.map((at) => at + windowMs), ...(disabled ? Object.values(disabled) : [])];
  const times = [setAt, ...edges.filter((at) => at > setAt && at < endAskedAt), endAskedAt].sort((a, b) => a - b);
  for (const [index, from] of times.slice(0, -1).entries()) {
    const at = from + noticeMs;
    if (at + evidence.jumbleMs >= (times[index + 1] as number) || isDisturbed(evidence, from, at)) continue;
    const state = stateAt(note, from);
    if (state === "changing") continue;
    const isRaised = changes.findLast((change) => change.at <= at)?.isRaise ?? false;
    if (isRaised !== (state === "enabled" && isOver(from))) fault(`it is ${isRaised ? "" : "not "}raised ${noticeMs} ms after its cause`);
  }
}

function stateAt({ disabled }: AlertNote, at: number): "enabled" | "disabled" | "changing" {
  if (!disabled || at < disabled.askedAt || at >= disabled.endedAt) return "enabled";
  return at >= disabled.setAt && at < disabled.endAskedAt ? "disabled" : "changing";
}

/** The service was down, or its store refused. */
function isDisturbed({ played: { scenario, journal } }: Evidence, from: number, to: number): boolean {
  const spans = [
    ...scenario.outages.map(({ atMs, downMs }) => ({ atMs, forMs: downMs + RECOVERY_MS })),
    ...scenario.refusals.map(({ atMs, forMs }) => ({ atMs, forMs: forMs + ALERTS_EVERY_MS })),
  ];
  return spans.some(({ atMs, forMs }) => journal.peopleBeganAt + atMs <= to && journal.peopleBeganAt + atMs + forMs >= from);
}
