/** `inlet apps check`: lists unfinished runs that wait in a step which a new build of their app does not know. */

import { signingKeyBearers } from "@inlet/protocol";
import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { barText, createProgressBar } from "../../command-line/progress-bar.ts";
import { createRestClient, type RestClient, TIMEOUT_MS, unreachable } from "../../rest/rest-client.ts";
import type { CHECK_FLAGS } from "../apps-flags.ts";
import { askForPlan, type Build, findBuild, isAskable, type RunState } from "./ask-build.ts";

interface Run {
  id: string;
  app: string;
  function: { id: string };
}

interface Step {
  id: string;
  name: string;
  kind: string;
  status: string;
}

interface Finding {
  run: string;
  function: string;
  step: Pick<Step, "id" | "name" | "status">;
  reason: string;
}

interface CheckedApp {
  name: string;
  /** False before its first deployment: there are no runs that a build could break. */
  isKnown: boolean;
}

interface Checked {
  /** How many runs were asked about. */
  asked: number;
  /** Runs that have not come to a step yet begin with the new code. */
  notBegun: number;
  findings: Finding[];
}

const UNFINISHED = ["queued", "running", "sleeping", "waiting"] as const;
const OPEN: ReadonlySet<string> = new Set(["planned", "running", "sleeping", "waiting"]);

export async function checkBuild({ options, names, io }: Call<typeof CHECK_FLAGS>): Promise<CommandResult> {
  const [url = ""] = names;
  const build = await findBuild(url, options.signingKey);
  if (typeof build === "string") throw new CommandFault(`${url} cannot be asked: ${build}.`);
  if (!isAskable(build)) {
    const text = `${build.sdk} cannot be asked for its steps without running code, as far as is known. Nothing was asked.`;
    return { exitCode: EXIT.differs, text, json: { sdk: build.sdk, asked: 0, findings: null } };
  }
  const rest = createRestClient(options);
  const app = await appOf(rest, options.app, build);
  const runs = await unfinishedRuns(rest, app.name);
  const bar = createProgressBar(io.err);
  const checked: Checked = { asked: 0, notBegun: 0, findings: [] };
  for (const [at, run] of runs.entries()) {
    bar.show(() => barText(at / runs.length, `${at} of ${runs.length} runs`));
    await checkRun(rest, build, run, options.signingKey, checked);
  }
  bar.clear();
  return result(app, build, checked);
}

/** A name that a person wrote must be known: with a misspelled one, nothing would be checked. A build that names itself may be new. */
async function appOf(rest: RestClient, given: string | null, build: Build): Promise<CheckedApp> {
  const { items } = await rest.list<{ name: string }>({ path: "/apps" });
  const known = items.map(({ name }) => name);
  const name = given ?? build.app ?? (known.length === 1 ? known[0] : undefined);
  if (name === undefined) throw new CommandFault("The build does not say which app it is. Name it with --app.");
  const isKnown = known.includes(name);
  if (given !== null && !isKnown) {
    const there = known.length > 0 ? known.join(", ") : "none";
    throw new CommandFault(`The environment has no app "${name}"; it has: ${there}. Check --app and --env.`, "app_not_found");
  }
  return { name, isKnown };
}

async function unfinishedRuns(rest: RestClient, app: string): Promise<Run[]> {
  const runs = new Map<string, Run>();
  for (const status of UNFINISHED) {
    const { items } = await rest.list<Run>({ path: "/runs", query: { status } });
    for (const run of items) if (run.app === app) runs.set(run.id, run);
  }
  return [...runs.values()];
}

async function checkRun(rest: RestClient, build: Build, run: Run, signingKey: string | null, checked: Checked): Promise<void> {
  const open = await openSteps(rest, run);
  if (open.length === 0) return void checked.notBegun++;
  const state = await stateOf(rest, run, signingKey);
  if (!state) return;
  checked.asked++;
  const plan = await askForPlan(build, state, signingKey);
  const missing = plan.kind === "steps" ? open.filter(({ id }) => !plan.ids.has(id)) : open;
  if (missing.length === 0) return;
  const reason =
    plan.kind === "fault" ? plan.reason : plan.kind === "ends" ? "the function would end before it" : "the new build does not know it";
  // A run that went on meanwhile was asked about with old results.
  const now = new Set((await openSteps(rest, run)).map(({ id }) => id));
  const still = missing.filter(({ id }) => now.has(id));
  checked.findings.push(
    ...still.map(({ id, name, status }) => ({ run: run.id, function: run.function.id, step: { id, name, status }, reason })),
  );
}

async function openSteps(rest: RestClient, { id }: Run): Promise<Step[]> {
  const { steps } = await rest.data<{ steps: Step[] }>({ path: `/runs/${encodeURIComponent(id)}` });
  return steps.filter(({ status, kind }) => OPEN.has(status) && kind !== "defer");
}

/** As SDKs fetch it; null if the run has ended meanwhile. */
async function stateOf(rest: RestClient, run: Run, signingKey: string | null): Promise<RunState | null> {
  // Its hash, as SDKs send it.
  const bearer = signingKey === null ? undefined : signingKeyBearers(signingKey)[1];
  const read = async (part: string) => {
    const { status, text } = await get(rest.base, `/v0/runs/${encodeURIComponent(run.id)}/${part}`, bearer);
    if (status === 410) return null;
    if (status === 200) return JSON.parse(text) as unknown;
    const advice = signingKey === null ? "Set the signing key with --signing-key or INLET_SIGNING_KEY." : "Check the signing key.";
    throw new CommandFault(`The service refused to return the state of the run ${run.id} (status ${status}). ${advice}`);
  };
  const [steps, events] = [await read("actions"), await read("batch")];
  if (steps === null || events === null) return null;
  return { runId: run.id, functionId: run.function.id, steps: steps as RunState["steps"], events: events as RunState["events"] };
}

async function get(base: string, path: string, bearer: string | undefined): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  try {
    const response = await fetch(`${base}${path}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw unreachable(base, error);
  }
}

function result({ name, isKnown }: CheckedApp, { sdk }: Build, { asked, notBegun, findings }: Checked): CommandResult {
  const runs = new Set(findings.map(({ run }) => run)).size;
  const lines = findings.map(({ run, function: id, step, reason }) => `${run}  ${id}  ${step.status} in "${step.name}": ${reason}`);
  const total =
    runs === 0
      ? `The new build of ${name} knows the next step of all ${asked} runs that have one.`
      : `${runs} of ${asked} runs of ${name} would not go on with the new build.`;
  const nothing = isKnown
    ? `No unfinished run of ${name} has reached a step: nothing to check.`
    : `The service does not know the app ${name} yet: nothing was checked.`;
  const summary = notBegun > 0 ? `${total} ${notBegun} have not reached a step yet.` : total;
  return {
    exitCode: runs === 0 ? EXIT.ok : EXIT.failed,
    text: [...lines, asked === 0 ? nothing : summary].join("\n"),
    json: { app: name, known: isKnown, sdk, asked, notBegun, findings },
  };
}
