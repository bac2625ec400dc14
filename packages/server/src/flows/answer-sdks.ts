/** The requests of apps and their SDKs: to register, to fetch what a call could not include, to send checkpoints. */

import { type EventIdGenerator, RESERVED_ENVIRONMENTS, Refusal, type RunId } from "@inlet/protocol";
import type { Logger } from "pino";
import { mayUse, type Principal, signingPrincipal } from "../api/access/principal.ts";
import { chooseEnvironment } from "../api/access/request-environment.ts";
import type { IsReachable, SdkRoutesParts } from "../api/sdk/sdk-routes.ts";
import type { AppSync } from "../execute/apps/app-sync.ts";
import type { InBandResponse } from "../execute/apps/ask-to-register.ts";
import { readDeployId, type SyncScope } from "../execute/apps/deploy-id.ts";
import { eventText, stepsText } from "../execute/call/call-body.ts";
import type { Executor } from "../execute/executor.ts";
import { registerApp } from "../fan-out/register-app.ts";
import type { Registry } from "../fan-out/registry.ts";
import type { LiveLog } from "../observe/live-log.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { App, Environment, RunContext, Store } from "../store/contract/index.ts";
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
  const { store, registry, sync, log, now } = parts;
  const answers: RoutesResponses = {
    environment: (app, name, deployId, { mustExist }) =>
      environmentFor(parts, app, name, deployId === null ? null : readDeployId(deployId), { mustExist }),
    async register({ environment, headers, body, sdk, framework, deployId, signingKeyId }) {
      const newId = () => parts.eventIds.next(now());
      const registration = { environmentId: environment.id, headers, body, sdk, framework, signingKeyId };
      const outcome = await registerApp({ store, registry, newId, now }, registration);
      if (outcome instanceof Refusal) return outcome;
      if (deployId !== null) sync.registered(deployId, outcome.app);
      if (outcome.modified) {
        log.info({ app: outcome.app.name, environment: environment.name }, "an app registered its functions");
        parts.liveLog?.registered(outcome.app.name, outcome.app.url);
      }
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
      const app = principalOfResponse(parts, signingKey);
      const environment = name === null ? home : await environmentFor(parts, app, name, { home: home.name, environments });
      if (environment instanceof Refusal) return environment.code === "environment_forbidden" ? environment : environment.message;
      const outcome = await answers.register({ ...sdk, environment, body: registration, deployId: null, signingKeyId: signingKey.id });
      return outcome instanceof Refusal ? outcome.message : outcome.app;
    },
  };
}

/** An app that answered with its functions, as the holder of the key that it signed them with. */
function principalOfResponse({ directory }: SdkResponsesParts, { id, environmentId }: InBandResponse["signingKey"]): Principal {
  const home = environmentId === null ? undefined : directory.environment(environmentId);
  return signingPrincipal({ id, name: id }, home, () => true);
}

/** The environment in which an app registers; a missing branch environment is created, unless it must exist. `asked`: the sync it registers in answer to. */
async function environmentFor(
  { store, directory, defaultEnvironment, now }: SdkResponsesParts,
  app: Principal,
  name: string | null,
  asked: SyncScope | null,
  { mustExist = false } = {},
): Promise<Environment | Refusal> {
  const chosen = chooseEnvironment(directory, app, { named: name, asked: asked?.home ?? null, defaultEnvironment });
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
  if (mustExist) return new Refusal("environment_not_found", `There is no environment "${wanted}".`);
  await store.environmentInsert({ name: wanted, kind: "branch", createdAt: now(), bodyBytesMax: null });
  await directory.refresh();
  return directory.environmentNamed(wanted) as Environment;
}

/** Null if there is no such run among those that the request may reach. */
async function contextOf({ store, directory }: SdkResponsesParts, id: RunId, isReachable: IsReachable): Promise<RunContext | null> {
  const run = await store.runFind({ id });
  const environment = run && directory.environment(run.environmentId);
  if (!environment || !isReachable(environment)) return null;
  return store.runContext({ environmentId: run.environmentId, runNo: run.no });
}
