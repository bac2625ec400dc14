/** The calls to the app for a run, each with its time, duration, request and response. All content is rendered as text. */

import { useState } from "react";
import type { Run, RunCall } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { count, plural } from "../ui/numbers.ts";
import { duration, Time } from "../ui/time.tsx";
import { callSubject } from "./call-subject.ts";
import { CallText } from "./call-text.tsx";

export function RunCalls({ run }: { run: Run }) {
  const [open, setOpen] = useState<number | null>(null);
  if (run.calls.length === 0) return null;
  const names = new Map(run.steps.map(({ id, name }) => [id, name]));
  return (
    <section className="card" aria-label="Calls">
      <div className="card-head">
        <h2 className="grow">Calls</h2>
        <span className="quiet small">{plural(run.calls.length, "call")} to the app</span>
      </div>
      <ul className="calls">
        {run.calls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls are only appended
          <li key={index}>
            <CallRow
              call={call}
              about={callSubject(run, call)}
              isOpen={open === index}
              onOpen={() => setOpen(open === index ? null : index)}
            />
            {open === index && <CallDetails run={run} call={call} names={names} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface CallRowProps {
  call: RunCall;
  about: string;
  isOpen: boolean;
  onOpen: () => void;
}

function CallRow({ call, about, isOpen, onOpen }: CallRowProps) {
  const isOk = call.outcome === "ok";
  return (
    <button type="button" className="call-row" aria-expanded={isOpen} onClick={onOpen}>
      <span className={`badge ${isOk ? "ok" : "bad"}`}>
        <Icon name={isOk ? "checkCircle" : "xCircle"} size={13} /> {call.httpStatus === null ? "No response" : `HTTP ${call.httpStatus}`}
      </span>
      <span className="cut strong" title={about}>
        {about}
      </span>
      <span className="quiet small">{call.attempt > 0 && `attempt ${call.attempt + 1}`}</span>
      <span className="call-time second small">
        <Time at={call.startedAt} />
      </span>
      <span className="call-took quiet small num">{duration(Date.parse(call.endedAt) - Date.parse(call.startedAt))}</span>
    </button>
  );
}

function CallDetails({ run, call, names }: { run: Run; call: RunCall; names: ReadonlyMap<string, string> }) {
  const { request, answer } = call;
  const completed = request.steps.map((id) => names.get(id) ?? id);
  const why = run.attempts.find(({ startedAt, stepId }) => startedAt === call.startedAt && stepId === call.stepId)?.error?.message;
  const requestText = [
    `${request.method} ${request.path}`,
    "",
    `run      ${run.id}`,
    `attempt  ${call.attempt + 1}`,
    `event    ${run.event ? `${run.event.name} (${run.event.id})` : "removed"}`,
    `steps    ${completed.length === 0 ? "none completed" : completed.join(", ")}`,
  ].join("\n");
  const isLate = run.endedAt !== null && call.endedAt > run.endedAt;
  return (
    <div className="step-details stack">
      {isLate && <p>The run ended before this call. The response was discarded.</p>}
      <CallText title="Request" text={requestText} />
      {answer ? (
        <CallText title="Response" text={answer.body === "" ? "(empty)" : answer.body} note={cutNote(answer)} />
      ) : (
        <p>No response. {why}</p>
      )}
    </div>
  );
}

function cutNote({ body, length }: { body: string; length: number }): string {
  return body.length < length ? `the first ${count(body.length)} of ${count(length)} characters` : "";
}
