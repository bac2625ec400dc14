/** The tester: a request, and the result of the draft for it, updated as the user types. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type JsonText, membersOf, objectText } from "../api/json-text.ts";
import { lastRequestQuery, providersQuery } from "../api/queries.ts";
import type { TestResult, Webhook } from "../api/types.ts";
import { SendToDevServer } from "../dev-server/send-to-dev-server.tsx";
import { Icon } from "../ui/icon.tsx";
import { Payload } from "../ui/payload.tsx";
import { messageOf, Notice } from "../ui/states.tsx";
import { duration } from "../ui/time.tsx";
import { HandshakeResult, VerificationResult } from "./authentication-result.tsx";
import { SchemaCheck } from "./schema-check.tsx";
import { CONTENT_TYPES, fromFixture, fromRecord, METHODS, type TestRequest } from "./test-request.ts";
import type { useDraftTest } from "./use-draft-test.ts";

interface TesterProps {
  webhook: Webhook;
  request: TestRequest;
  onRequest: (request: TestRequest) => void;
  draftTest: ReturnType<typeof useDraftTest>;
}

const PARTS = [
  { name: "Body", field: "body", label: "Body of the test request", placeholder: undefined },
  { name: "Headers", field: "headers", label: "Headers of the test request, one per line", placeholder: "X-Github-Event: push" },
  { name: "Query", field: "query", label: "Query string of the test request", placeholder: "x-service-env=feature/cart&v=2" },
] as const;

export function Tester({ webhook, request, onRequest, draftTest }: TesterProps) {
  const [part, setPart] = useState<(typeof PARTS)[number]>(PARTS[0]);
  const change = (changes: Partial<TestRequest>) => onRequest({ ...request, ...changes, recordedId: null });
  return (
    <div className="stack tester">
      <section className="card" aria-label="Test request">
        <div className="card-head">
          <h2 className="grow">Test request</h2>
          <SamplePicker webhook={webhook} request={request} onRequest={onRequest} />
        </div>
        <div className="card-body stack tight">
          <div className="row wrap">
            <div className="segments">
              {PARTS.map((one) => (
                <button key={one.name} type="button" className="segment" aria-pressed={part === one} onClick={() => setPart(one)}>
                  {one.name}
                </button>
              ))}
            </div>
            <span className="grow" />
            {webhook.handshake && (
              <select
                className="input"
                aria-label="Method"
                value={request.method}
                onChange={({ target }) => change({ method: target.value })}
              >
                {METHODS.map((method) => (
                  <option key={method}>{method}</option>
                ))}
              </select>
            )}
            <select
              className="input"
              aria-label="Content type"
              value={request.contentType}
              onChange={({ target }) => change({ contentType: target.value })}
            >
              {[...new Set([...CONTENT_TYPES, request.contentType])].filter(Boolean).map((type) => (
                <option key={type}>{type}</option>
              ))}
            </select>
          </div>
          <textarea
            key={part.name}
            className="input"
            rows={11}
            aria-label={part.label}
            placeholder={part.placeholder}
            value={request[part.field]}
            spellCheck={false}
            onChange={({ target }) => change({ [part.field]: target.value })}
          />
          {webhook.verify && (
            <label className="switch">
              <input type="checkbox" checked={request.isSigned} onChange={({ target }) => change({ isSigned: target.checked })} /> Sign with
              the webhook's secret
            </label>
          )}
        </div>
      </section>
      <DraftTestResult result={draftTest.data} error={draftTest.error} />
      {draftTest.data?.event && <SchemaCheck env={webhook.environment} event={draftTest.data.event} />}
    </div>
  );
}

const SHORT_TIME = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

function SamplePicker({ webhook, request, onRequest }: Omit<TesterProps, "draftTest">) {
  const { data: records = [] } = useQuery(lastRequestQuery(webhook.id));
  const { data: providers = [] } = useQuery(providersQuery);
  const examples = providers.flatMap(({ title, fixtures }) =>
    fixtures.map((fixture) => ({ ...fixture, label: `${title}: ${fixture.title}` })),
  );
  function choose(value: string) {
    const record = records.find(({ id }) => id === value);
    if (record) return onRequest(fromRecord(record));
    const example = examples[Number(value)];
    if (example) onRequest(fromFixture(example));
  }
  return (
    <select
      className="input sample-picker"
      aria-label="Choose a recorded request or an example"
      value={request.recordedId ?? ""}
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">Choose a request…</option>
      {records.length > 0 && (
        <optgroup label="Recorded">
          {records
            .filter(({ body }) => body !== null)
            .map(({ id, receivedAt, outcome }) => (
              <option key={id} value={id}>
                {SHORT_TIME.format(new Date(receivedAt))} · {outcome}
              </option>
            ))}
        </optgroup>
      )}
      <optgroup label="Examples">
        {examples.map(({ label }, i) => (
          <option key={label} value={i}>
            {label}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

function DraftTestResult({ result, error }: { result: TestResult | undefined; error: Error | null }) {
  if (error) {
    return (
      <Notice kind="bad" icon="alert">
        The draft could not be tested: {messageOf(error)}
      </Notice>
    );
  }
  if (!result) return <div className="card card-body quiet">Running…</div>;
  return (
    <section className="stack" aria-label="Result" aria-live="polite">
      <div className="row wrap">
        {result.ok ? (
          <span className="badge ok">
            <Icon name="checkCircle" size={13} /> {result.handshake ? "Handshake answered" : "Event accepted"}
          </span>
        ) : (
          <span className="badge bad">
            <Icon name="xCircle" size={13} /> {result.error?.code}
          </span>
        )}
        {result.verification?.ok && (
          <span className="badge ok">
            <Icon name="checkCircle" size={13} /> Signature verified
          </span>
        )}
        <span className="quiet small num">{duration(result.durationMs)}</span>
      </div>
      {result.verification && <VerificationResult verification={result.verification} />}
      {result.handshake && <HandshakeResult answer={result.handshake} />}
      {result.error && (
        <Notice kind="bad" icon="alert">
          {result.error.message}
          {result.error.line !== undefined &&
            ` (line ${result.error.line}${result.error.column === undefined ? "" : `, column ${result.error.column}`})`}
        </Notice>
      )}
      {result.event && <Payload text={result.event} title="Event" tools={<SendToDevServer event={withoutTs(result.event)} small />} />}
      {result.logs.length > 0 && (
        <div className="card">
          <div className="card-head">
            <h3>console.log</h3>
          </div>
          <pre className="logs">{result.logs.join("\n")}</pre>
        </div>
      )}
    </section>
  );
}

export function withoutTs(event: JsonText): JsonText {
  return objectText([...membersOf(event)].filter(([name]) => name !== "ts"));
}
