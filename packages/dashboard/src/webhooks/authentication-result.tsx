/** The checks before the transform in a test: where a signature is wrong, and the response of a handshake. */

import { Fragment } from "react";
import type { TestResult } from "../api/types.ts";

/** The reason itself is the error of the test; this says where to look. */
export function VerificationResult({ verification }: { verification: NonNullable<TestResult["verification"]> }) {
  const { ok, header, character, byte } = verification;
  const facts = [
    ["Header", header],
    ["Character of the header", character],
    ["Byte of the body", byte],
  ].filter(([, value]) => value !== undefined);
  if (ok || facts.length === 0) return null;
  return (
    <dl className="facts" aria-label="What is wrong with the signature">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

export function HandshakeResult({ answer: { status, contentType, headers, body } }: { answer: NonNullable<TestResult["handshake"]> }) {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []));
  return (
    <div className="card">
      <div className="card-head">
        <h3>
          Response of the handshake: {status}, {contentType}
        </h3>
      </div>
      <pre className="logs">{[...lines, body === "" ? "(no body)" : body].join("\n")}</pre>
    </div>
  );
}
