/** The requests of apps and their SDKs: to register, to fetch what a call could not include, to send checkpoints. */

import { type EventIdGenerator, type KeyId, RESERVED_ENVIRONMENTS, Refusal, type RunId } from "@inlet/protocol";
import type { Logger } from "pino";
import { AuditTrail } from "../api/access/audit-trail.ts";
import { environmentNote } from "../api/access/find-environment.ts";
import { mayUse, type Principal, signingPrincipal } from "../api/access/principal.ts";
import { chooseEnvironment } from "../api/access/request-environment.ts";
import type { IsReachable, SdkRoutesParts } from "../api/sdk/sdk-routes.ts";
import type { AppSync } from "../execute/apps/app-sync.ts";
import type { InBandResponse } from "../execute/apps/ask-to-register.ts";
import { readDeployId, type SyncScope } from "../execute/apps/deploy-id.ts";
import { eventText, stepsText } from "../execute/call/call-body.ts";
import type { Executor } from "../execute/executor.ts";
import { readRegistration, registerApp } from "../fan-out/register-app.ts";
import type { Registry } from "../fan-out/registry.ts";
import type { LiveLog } from "../observe/live-log.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { App, Environment, HeaderSet, RunContext, Store } from "../store/contract/index.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";

export interface SdkResponsesParts {
  store: Store;
  registry: Registry;
  executor: Executor;
  sync: AppSync;
  directory: Directory;
  eventIds: EventIdGenerator;
  defaultEnvironment: string;
  liveLog: LiveLog | null;
  log: Logger;
  now(): number;
}

const ENVIRONMENT_NAME = /^[A-Za-z0-9._/-]{1,128}$/;

export interface SdkResponses extends RoutesResponses {
  /** Registers the functions that an app returned when it was asked to register; a sentence if they are refused. */
  registerInBand(home: Environment, response: InBandResponse, environments: SyncScope["environments"]): Promise<App | string | Refusal>;
}

type RoutesResponses = SdkRoutesParts["sdk"];

export function createSdkResponses(parts: SdkResponsesParts): SdkResponses {
  const answers: RoutesResponses = {
    async register({ principal, environmentName, mustExist, deployId, ...request }) {
      const asked = deployId === null ? null : readDeployId(deployId);
      const target = targetFor(parts, principal, environmentName, asked, { mustExist });
      const outcome = target instanceof Refusal ? target : await registerAt(parts, principal, target, request);
      if (!(outcome instanceof Refusal) && deployId !== null) parts.sync.registered(deployId, outcome.app);
      return outcome;
    },
    async runEvents(id, isReachable) {
      const context = await contextOf(parts, id, isReachable);
      return context && `[${context.events.map((event) => eventText(event, true)).join(",")}]`;
    },
    async runSteps(id, isReachable) {
      const context = await contextOf(parts, id, isReachable);
      return context && stepsText(context.steps, true);
    },
    checkpoint: (id, body, isReachable) => takeCheckpoint(parts, id, body, isReachable),
  };
  return {
    ...answers,
    async registerInBand(home, { environment: name, registration, signingKey, ...sdk }, environments) {
      const principal = principalOfResponse(parts, signingKey);
      const target = name === null ? home : targetFor(parts, principal, name, { home: home.name, environments });
      const outcome = target instanceof Refusal ? target : await registerAt(parts, principal, target, { ...sdk, body: registration });
      if (!(outcome instanceof Refusal)) return outcome.app;
      return outcome.code === "environment_forbidden" ? outcome : outcome.message;
    },
  };
}

/** An app that answered with its functions, as the holder of the key that it signed them with. */
function principalOfResponse({ directory }: SdkResponsesParts, { id, environmentId }: InBandResponse["signingKey"]): Principal {
  const home = environmentId === null ? undefined : directory.environment(environmentId);
  return signingPrincipal({ id, name: directory.workingKey(id)?.name ?? id }, home, () => true);
}

/** An environment, or the name of a branch environment that a valid registration creates. */
type RegistrationTarget = Environment | { newBranch: string };

/** Where an app registers. `asked`: the sync it registers in answer to. */
function targetFor(
  { directory, defaultEnvironment }: SdkResponsesParts,
  principal: Principal,
  name: string | null,
  asked: SyncScope | null,
  { mustExist = false } = {},
): RegistrationTarget | Refusal {
  const chosen = chooseEnvironment(directory, principal, { named: name, asked: asked?.home ?? null, defaultEnvironment });
  if (chosen instanceof Refusal) return chosen;
  const { name: wanted, known } = chosen;
  if (asked && !mayUse(asked, { name: wanted, kind: known?.kind ?? "branch" }))
    return new Refusal(
      "environment_forbidden",
      `The app registers in "${wanted}", but the key or person that started the sync may not use it: use a key for "${wanted}", or change the app's environment.`,
    );
  if (known?.archivedAt != null) return new Refusal("environment_not_found", `The environment "${wanted}" is archived.`);
  if (known && known.kind !== "shared") return known;
  if (!ENVIRONMENT_NAME.test(wanted) || RESERVED_ENVIRONMENTS.has(wanted)) {
    return new Refusal(
      "environment_not_found",
      `There is no environment "${wanted}", and its name cannot be given to a branch environment: correct the app's environment.`,
    );
  }
  return mustExist ? new Refusal("environment_not_found", `There is no environment "${wanted}".`) : { newBranch: wanted };
}

/** A registration that is refused creates no environment. */
async function registerAt(
  parts: SdkResponsesParts,
  principal: Principal,
  target: RegistrationTarget,
  { headers, body, sdk, framework }: { headers: HeaderSet; body: unknown; sdk: string; framework: string | null },
) {
  const { log, liveLog, eventIds, now } = parts;
  const registration = readRegistration(body, { headers, now: now() });
  if (registration instanceof Refusal) return registration;
  const environment = "newBranch" in target ? await createBranch(parts, principal, target.newBranch) : target;
  const signingKeyId = principal.kind === "signing-key" ? (principal.id as KeyId) : null;
  const registering = { environmentId: environment.id, sdk, framework, signingKeyId };
  const { app, modified } = await registerApp({ ...parts, newId: () => eventIds.next(now()) }, registration, registering);
  if (modified) {
    log.info({ app: app.name, environment: environment.name }, "an app registered its functions");
    liveLog?.registered(app.name, app.url);
  }
  return { app, environment, modified };
}

async function createBranch(
  { store, directory, log, now }: SdkResponsesParts,
  { kind, id, name: holder }: Principal,
  name: string,
): Promise<Environment> {
  const created = await store.environmentInsert({ name, kind: "branch", createdAt: now(), bodyBytesMax: null });
  await directory.refresh();
  // Null: another registration created it at the same time.
  const note = created && environmentNote("created", created, { kind: created.kind });
  if (note) await new AuditTrail(store, log, now).noteAs({ kind, id, name: holder }, note);
  return directory.environmentNamed(name) as Environment;
}

/** Null if there is no such run among those that the request may reach. */
async function contextOf({ store, directory }: SdkResponsesParts, id: RunId, isReachable: IsReachable): Promise<RunContext | null> {
  const run = await store.runFind({ id });
  const environment = run && directory.environment(run.environmentId);
  if (!environment || !isReachable(environment)) return null;
  return store.runContext({ environmentId: run.environmentId, runNo: run.no });
}
