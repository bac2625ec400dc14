/** The programs that a release is tested with, from npm: Node 20, 22 and the current one, npm, pnpm and both kinds of Yarn. */

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "../run.ts";

export interface Toolbox {
  folder: string;
  /** The registry that npm uses here, as the variables of each package manager. */
  registry: Readonly<Record<string, string>>;
  /** Folders that hold a `node`, by major version. */
  nodes: Readonly<Record<"20" | "22" | "24", string>>;
  managers: readonly Manager[];
}

export interface Manager {
  name: string;
  /** Words that run it. */
  command: readonly string[];
  add: readonly string[];
  /** Files a project needs for it. */
  files: Readonly<Record<string, string>>;
  /** Majors of Node it supports. */
  nodes: readonly ("20" | "22" | "24")[];
}

export async function openToolbox(folder: string): Promise<Toolbox> {
  // Beside the projects, not above them: npm puts every node_modules/.bin above a project on the path, and one of these has a `node`.
  const tools = join(folder, "tools");
  mkdirSync(tools);
  // The install script of `node` fetches the binary for this platform.
  writeFileSync(join(tools, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const packages = ["node-20@npm:node@20", "node-22@npm:node@22", "pnpm@latest", "yarn@1", "@yarnpkg/cli-dist@latest"];
  await run("npm", ["install", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: tools });
  const modules = join(tools, "node_modules");
  const own = join(tools, "node-24");
  mkdirSync(own);
  symlinkSync(process.execPath, join(own, "node"));
  return {
    folder,
    registry: await registryVariables(folder),
    nodes: { 20: join(modules, "node-20/bin"), 22: join(modules, "node-22/bin"), 24: own },
    managers: managersIn(modules),
  };
}

async function registryVariables(cwd: string): Promise<Record<string, string>> {
  const { out } = await run("npm", ["config", "get", "registry"], { cwd });
  const names = ["npm_config_registry", "pnpm_config_registry", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER"];
  return Object.fromEntries(names.map((name) => [name, out.trim()]));
}

function managersIn(modules: string): Manager[] {
  return [
    { name: "npm", command: ["npm"], add: ["install", "--no-audit", "--no-fund"], files: {}, nodes: ["20", "22", "24"] },
    { name: "pnpm", command: ["node", join(modules, "pnpm/bin/pnpm.mjs")], add: ["add"], files: {}, nodes: ["22", "24"] },
    {
      name: "Yarn 1",
      command: ["node", join(modules, "yarn/bin/yarn.js")],
      add: ["add", "--non-interactive"],
      files: {},
      nodes: ["22", "24"],
    },
    {
      name: "Yarn",
      command: ["node", join(modules, "@yarnpkg/cli-dist/bin/yarn.js")],
      add: ["add"],
      files: { ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n", "yarn.lock": "" },
      nodes: ["22", "24"],
    },
  ];
}

/** An environment in which `node` is the one in a folder, and nothing of ours or of this user is set but the registry. */
export function environmentWith({ registry }: Toolbox, bin: readonly string[], home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:SERVICE_|INLET_|npm_|INIT_CWD$|NODE_(?!EXTRA_CA_CERTS$)|PATH$|HOME$)/.test(name),
  );
  const path = (process.env.PATH ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));
  return {
    ...Object.fromEntries(kept),
    ...registry,
    HOME: home,
    PATH: [...bin, ...path].join(delimiter),
    npm_config_update_notifier: "false",
  };
}
