/**
 * Follows a page of the documentation with the installed command: runs its blocks in order, as a reader would. Commands that keep running, a
 * service or an app, stay in the background until the page ends or the next service is started. Where a page names a host, a folder or a key
 * of its reader's, the check puts its own.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { blocksToFollow } from "../../docs/block-runners.ts";
import type { CommandBlock } from "../../docs/command-blocks.ts";
import { bash, type Home } from "./check.ts";
import { type Process, startProcess } from "./start-process.ts";

export const API_KEY = "ak_release_check";
export const SERVICE_URL = "http://localhost:8288";
/** Exit codes of curl: a response of 400 and above, and a time limit. */
const [REFUSED, TOO_LONG] = [22, 28];
const WAIT_MS = 120_000;

// biome-ignore lint/suspicious/noExplicitAny: pages look into answers of every shape
export type Rest = (method: string, path: string, body?: unknown, environment?: string) => Promise<any>;

export interface Following {
  home: Home;
  /** The folder that the commands run in. */
  cwd: string;
  rest: Rest;
  /** Variables of the reader's shell. */
  variables: Record<string, string>;
  /** Texts of the page, and what stands for them here. */
  replaced: Record<string, string>;
  /** Called when the page has been followed, the last first. */
  atEnd: (() => unknown)[];
  /** Runs a command, or starts it in the background if it keeps running. */
  type(script: string, codes?: readonly number[]): Promise<string>;
  endService(): Promise<void>;
}

export interface FollowedPage {
  page: string;
  /** The service that runs when the reader begins: by default `inlet start`. "none": the page starts it. */
  service?: "start" | "dev" | "none";
  /** The folder of the commands; by default a new one. */
  folder?(home: Home): string;
  /** What the reader has before the first command; before the service starts. */
  open?(following: Following): Promise<void>;
  /** What the reader has done before the first command, with the service. */
  prepare?(following: Following): Promise<void>;
  /** False: the page itself syncs its app. Otherwise the service discovers it. */
  isDiscovered?: boolean;
  /** What happens before a block, by how it begins. */
  before?: Readonly<Record<string, (following: Following) => Promise<void>>>;
  /** What a block prints, and its exit codes if they are not 0. */
  expected?: Readonly<Record<string, { output?: RegExp; codes?: readonly number[] }>>;
  /** What has to be true at the end. */
  check?(following: Following): Promise<void>;
}

export async function followPage(followed: FollowedPage, home: Home): Promise<void> {
  const cwd = followed.folder?.(home) ?? mkdtempSync(join(home.folder, "guide-"));
  const following = begin(home, cwd, followed.isDiscovered ?? true);
  try {
    await followed.open?.(following);
    if (followed.service !== "none") await following.type(`inlet ${followed.service ?? "start"} --discover off`);
    await followed.prepare?.(following);
    const blocks = blocksToFollow(followed.page);
    assert.ok(blocks.length > 0, `${followed.page} has no commands`);
    for (const block of blocks) await runBlock(followed, following, block);
    await followed.check?.(following);
  } finally {
    for (const end of following.atEnd.reverse()) await end();
  }
}

async function runBlock({ before = {}, expected = {} }: FollowedPage, following: Following, block: CommandBlock): Promise<void> {
  const of = <Value>(table: Readonly<Record<string, Value>>) =>
    Object.entries(table).find(([beginning]) => block.script.startsWith(beginning))?.[1];
  await of(before)?.(following);
  const { output = /(?:)/, codes = codesOf(block) } = of(expected) ?? {};
  const printed = await following.type(scriptOf(block), codes);
  assert.match(printed, output, block.script);
}

function codesOf({ script, shown }: CommandBlock): readonly number[] {
  if (/curl -N/.test(script)) return [TOO_LONG];
  return /"status":4\d\d/.test(shown) ? [REFUSED] : [0];
}

/** A stream is read for a while. PowerShell is not here: the lines of it that the pages use mean the same in bash. */
function scriptOf({ language, script }: CommandBlock): string {
  if (language === "powershell") return script.replace(/^\$env:(\w+) = "(.*)"$/gm, "export $1=$2");
  return script.replaceAll("curl -N ", "curl --max-time 5 -N ");
}

/** A service or an app, perhaps with variables before it. */
const SERVICE = /^(?:\w+=\S+ )*(?:inlet (?:start|dev)|npm run dev|npm start)\b(?!.*(?:--help|\|))/;
const APP = /^(?:\w+=\S+ )*(?:node app\.ts|npm run example)$/;
const EXPORT = /^export ((?:\w+=\S+ ?)+)$/;
const ENDLESS = /^inlet events tail\b/;

function begin(home: Home, cwd: string, isDiscovered: boolean): Following {
  let service: Process | null = null;
  const following: Following = {
    home,
    cwd,
    rest: callRest,
    variables: { API_KEY, INLET_API_KEY: API_KEY, INLET_BASE_URL: SERVICE_URL, URL: "" },
    replaced: { "ak_…": API_KEY },
    atEnd: [],
    endService: async () => void (await service?.end()),
    async type(script, codes = [0]) {
      let [waiting, printed] = ["", ""];
      const flush = async (accepted: readonly number[]) => {
        if (waiting.trim() !== "") printed += await bash(waiting, cwd, env(), accepted);
        waiting = "";
      };
      for (const line of replaceAll(script, following.replaced).split("\n")) {
        const command = line.replace(/\s+#.*$/, "");
        const isApp = APP.test(command) || (command === "npm start" && cwd !== home.checkout);
        if (EXPORT.test(command)) Object.assign(following.variables, pairsOf(command));
        else if (isApp) {
          await flush([0]);
          await startApp(command, env(), following, isDiscovered);
        } else if (SERVICE.test(command)) {
          await flush([0]);
          await service?.end();
          service = await startProcess(command, cwd, env());
          following.atEnd.push(service.end);
          printed += await service.printed(/^listening on \S+$/m);
        } else waiting += ENDLESS.test(command) ? `timeout 5 ${command} || test $? -eq 124\n` : `${line}\n`;
      }
      await flush(codes);
      // Where a page says to set URL to the one that was printed.
      following.variables.URL = /"url":"([^"]+)"|(http:\/\/localhost:8288\/e\/\S+)/.exec(printed)?.slice(1).find(Boolean) ?? "";
      return printed;
    },
  };
  const env = () => ({ ...home.env, ...following.variables });
  return following;
}

async function startApp(command: string, env: NodeJS.ProcessEnv, { cwd, rest, atEnd }: Following, isDiscovered: boolean): Promise<void> {
  const app = await startProcess(command, cwd, env);
  atEnd.push(app.end);
  if (!isDiscovered) return void (await app.printed(/^listening on \S+$/m));
  const hasFunctions = async () => (await rest("GET", "/functions")).length > 0;
  await untilTrue(hasFunctions, () => `the app was not discovered:\n${app.output()}`);
}

function replaceAll(text: string, replaced: Record<string, string>): string {
  return Object.entries(replaced).reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

function pairsOf(line: string): Record<string, string> {
  return Object.fromEntries([...line.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]));
}

export async function untilTrue(holds: () => Promise<boolean>, message: () => string): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(message());
    await sleep(200);
  }
}

async function callRest(method: string, path: string, body?: unknown, environment?: string) {
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    "content-type": "application/json",
    ...(environment && { "x-service-env": environment }),
  };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(`${SERVICE_URL}/v1${path}`, init);
  const answer = (await response.json()) as { data: unknown };
  assert.ok(response.ok, JSON.stringify(answer));
  return answer.data;
}

/** A folder inside the folder of the check. */
export function folderIn({ folder }: Home, name: string): string {
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name);
}
