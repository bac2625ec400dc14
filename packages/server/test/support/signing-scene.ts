/** Two environments with keys of their own, and an app, an event and a run in the first: what requests with keys of the second are aimed at. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { BareApp } from "./bare-app.ts";
import { type Answer, call, type TestService } from "./service.ts";

export interface EnvironmentKeys {
  event: string;
  signing: string;
}

export interface SigningScene {
  alpha: EnvironmentKeys;
  beta: EnvironmentKeys;
  /** Of all branches; there is a branch environment `pr-1`. */
  branch: string;
  eventId: string;
  runId: string;
  /** Ends the call of the run that is under way. */
  finish(output: unknown): Promise<void>;
}

/** Creates a custom environment, and returns the keys that it was created with. */
export async function makeKeyed(service: TestService, name: string): Promise<EnvironmentKeys> {
  const { status, body } = await service.rest("POST", "/environments", { body: { name } });
  assert.equal(status, 201, JSON.stringify(body));
  const [event, signing] = body.data.keys;
  return { event: event.key, signing: signing.key };
}

export async function makeSigningScene(t: TestContext, service: TestService): Promise<SigningScene> {
  const [alpha, beta] = [await makeKeyed(service, "alpha"), await makeKeyed(service, "beta")];
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const made = await service.rest("POST", "/keys", { body: { kind: "signing", name: "previews", environment: "branch" } });
  const app = await BareApp.start(t);
  await app.register(service.url, { authorization: `Bearer ${alpha.signing}` });
  const sent = await service.send({ name: "bare/begin", data: {} }, { key: alpha.event });
  const { runId, finish } = await app.next();
  return { alpha, beta, branch: made.body.data.key, eventId: sent.body.ids[0], runId, finish };
}

/** A request with a signing key. A body that is no text is sent as JSON. */
export function ask(
  service: TestService,
  key: string,
  [method, path]: readonly [string, string],
  { body, env }: { body?: unknown; env?: string | undefined } = {},
): Promise<Answer> {
  return call(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(env !== undefined && { "x-service-env": env }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
