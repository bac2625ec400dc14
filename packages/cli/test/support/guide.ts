/** A guide of docs/ as a test runs it: its shell blocks in order, in one bash, and the output shown after each. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { issueKey } from "@inlet/server";
import { INLET_BIN, INLET_NODE } from "../../../server/test/support/process.ts";
import { temporaryFolder } from "../../../server/test/support/service.ts";

const MARK = "----- next block -----";

export interface Guide {
  text: string;
  blocks(language: string): string[];
  /** Shell blocks, each with the output shown after it, if any. */
  steps: { script: string; shown: string | null }[];
}

export function readGuide(file: string): Guide {
  const page = readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), "utf8");
  // `npm run release -- --check` runs what installs; here the command is the repository's.
  const text = page.replace(/<!-- install:[\s\S]*?<!-- \/install -->/g, "");
  const all = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, body = ""]) => ({ language, body }));
  return {
    text,
    blocks: (language) => all.filter((block) => block.language === language).map(({ body }) => body),
    steps: all.flatMap(({ language, body }, i) => {
      const next = all[i + 1];
      return language === "sh" ? [{ script: body, shown: next?.language === "text" ? next.body : null }] : [];
    }),
  };
}

/** Runs scripts in one bash, where `inlet` and `npx @inlet/cli` are this CLI; what each of them printed. */
export async function runScripts(
  t: TestContext,
  scripts: readonly string[],
  folder: string,
  variables: Record<string, string>,
): Promise<string[]> {
  const bin = temporaryFolder(t);
  const command = `exec "${INLET_NODE}" "${INLET_BIN}" "$@"\n`;
  writeFileSync(join(bin, "inlet"), `#!/bin/sh\n${command}`, { mode: 0o755 });
  writeFileSync(join(bin, "npx"), `#!/bin/sh\n[ "$1" = @inlet/cli ] || exit 1\nshift\n${command}`, { mode: 0o755 });
  const code = ["set -eu", ...scripts.flatMap((script) => [script, `echo "${MARK}"`])].join("\n");
  const child = spawn("bash", ["--norc", "-c", code], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env.PATH}`, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`a command of the guide failed with ${status}:\n${stdout}\n${stderr}`);
  return stdout.split(`${MARK}\n`).slice(0, -1);
}

/** Ids and times differ from day to day, but not in length. */
export function masked(text: string): string {
  return text.replace(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, "<id>").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
}

/** In place of the placeholders that stand in the guide. */
const KEYS = {
  INLET_EVENT_KEY: issueKey("event").text,
  INLET_API_KEY: issueKey("api").text,
  INLET_SIGNING_KEY: issueKey("signing").text,
};

/** The command systemd would run, and its variables. */
export function unitOf(guide: Guide) {
  const [unit = "", env = ""] = [guide.blocks("systemd")[0], guide.blocks("ini")[0]];
  const [, line = ""] = /^ExecStart=\/usr\/bin\/env inlet (.*)$/m.exec(unit) ?? [];
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const placeholders: Record<string, string> = Object.fromEntries(
    env
      .trim()
      .split("\n")
      .map((pair) => pair.split("=", 2) as [string, string]),
  );
  return { argv: line.split(" "), setting, placeholders, variables: { ...placeholders, ...KEYS } };
}
