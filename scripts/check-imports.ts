/**
 * Checks the code against its map (ARCHITECTURE.md, "Folders"): prints every import that breaks a rule and every import
 * cycle, and fails.
 *
 *   node scripts/check-imports.ts
 */

import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findCircles, importsOf, readImportGraph } from "./import-graph.ts";
import { checkStoreImports, isEngine, partOf, STORE } from "./store-parts.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SERVER = "packages/server/src";

/** Folders that are stages, or as independent as one: they import the protocol, the store's contract and themselves. */
const STAGES = ["receive", "transform", "deduplicate", "fan-out", "execute", "maintenance", "observe", "alerts", "reconcile"];
const CONTRACT = `${STORE}/contract`;

/** In text: a word of SQL where a statement, or one inside another, begins. */
const SQL = /(?:["`(]|\n)\s*(?:SELECT\s|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)/;

interface Rule {
  /** The files that the rule covers. */
  folder: string;
  /** Folders, files and packages of ours that these files may import in addition to themselves. */
  may: string[];
  /** Packages from npm that these files may import; absent: any. */
  packages?: string[];
  /** False: not even Node's own modules. */
  builtins?: boolean;
}

const RULES: Rule[] = [
  { folder: "packages/protocol/src", may: [], packages: [] },
  { folder: "packages/providers/src", may: ["@inlet/protocol"], packages: [] },
  // What its parts may import of each other: store-parts.ts.
  { folder: STORE, may: ["@inlet/protocol", "packages/server/test/support"] },
  ...STAGES.map((stage) => ({ folder: `${SERVER}/${stage}`, may: ["@inlet/protocol", CONTRACT] })),
  // Archived files have text and rows as the stores have them, and are listed, searched and erased alike.
  {
    folder: `${SERVER}/archive`,
    may: [
      "@inlet/protocol",
      CONTRACT,
      ...["shared/store-text.ts", "shared/byte-bounds.ts", "events/rows", "erasure/policy.ts"].map((part) => `${STORE}/${part}`),
    ],
  },
  // Shapes follow the events in the same way as counts.
  { folder: `${SERVER}/catalogue`, may: ["@inlet/protocol", CONTRACT, `${SERVER}/observe/event-follower.ts`] },
  // Filters use the expressions of triggers.
  { folder: `${SERVER}/api`, may: ["@inlet/protocol", CONTRACT, `${SERVER}/observe`, `${SERVER}/fan-out/where.ts`] },
  // Jobs select items with the filters of the list's own route, or take what a provider lists.
  { folder: `${SERVER}/jobs`, may: ["@inlet/protocol", CONTRACT, `${SERVER}/observe`, `${SERVER}/api`, `${SERVER}/reconcile`] },
  // Flows connect stages with each other and with the API. Only the composition root imports flows.
  {
    folder: `${SERVER}/flows`,
    may: ["@inlet/protocol", CONTRACT, ...[...STAGES, "catalogue", "api"].map((stage) => `${SERVER}/${stage}`)],
  },
  { folder: `${SERVER}/config`, may: ["@inlet/protocol"], packages: [] },
  { folder: "packages/dashboard/src", may: ["@inlet/protocol"] },
  // Published separately, for every runtime: it may import only itself.
  { folder: "packages/sdk/src", may: [], packages: [], builtins: false },
  // The hook: React is the user's own, an optional peer.
  { folder: "packages/sdk/src/react", may: ["packages/sdk/src"], packages: ["react"], builtins: false },
  {
    folder: "packages/cli",
    may: ["@inlet/protocol", "@inlet/providers", "@inlet/server"],
    packages: ["ajv", "yaml"],
  },
];

const broken = [
  ...globSync("packages/*/{src,bin}/**/*.{ts,tsx,js}", { cwd: ROOT }).flatMap((file) => checkFile(file.replaceAll("\\", "/"))),
  ...findCircles(readImportGraph(ROOT)).map((circle) => `imports go in a circle: ${circle.join(" → ")}`),
];
for (const line of broken) console.error(line);
if (broken.length > 0) process.exitCode = 1;
else console.log("imports: every file keeps to the map, and none goes in a circle");

function checkFile(file: string): string[] {
  const rule = RULES.filter(({ folder }) => file.startsWith(`${folder}/`)).sort((a, b) => b.folder.length - a.folder.length)[0];
  const text = readFileSync(join(ROOT, file), "utf8");
  const faults = [
    ...sqlOutside(file, text),
    ...checkStoreImports(file, importsOf(text)),
    ...environmentOutside(file, text),
    ...looseFile(file),
  ];
  if (!rule) return faults;
  const inTests = file.endsWith(".test.ts");
  const forbidden = importsOf(text).filter((specifier) => !isAllowed(file, specifier, rule, inTests));
  return [...faults, ...forbidden.map((specifier) => `${file} must not import ${specifier}`)];
}

function isAllowed(file: string, specifier: string, { folder, may, packages, builtins }: Rule, inTests: boolean): boolean {
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return inTests || builtins !== false;
  // Tests use a real store, and shared test support.
  if (inTests && /\/(store|test\/(support|fixtures))\//.test(specifier)) return true;
  if (specifier.startsWith(".")) {
    const target = relative(ROOT, resolve(ROOT, dirname(file), specifier)).replaceAll("\\", "/");
    return [folder, ...may].some((allowed) => isWithin(target, allowed)) || target === "packages/cli/package.json";
  }
  if (specifier.startsWith("@inlet/")) return may.some((allowed) => isWithin(specifier, allowed));
  return inTests || packages === undefined || packages.includes(specifier);
}

/** A package with the parts that it exports, or a folder with its files. */
function isWithin(target: string, allowed: string): boolean {
  return target === allowed || target.startsWith(`${allowed}/`);
}

/** Only files of an engine, and the copy between them, use a driver. Conditions that are the same on both engines stand in rows. */
function sqlOutside(file: string, text: string): string[] {
  if (isEngine(file) || file.endsWith(".test.ts")) return [];
  const uses = /node:sqlite|from "pg"/.test(text) || (SQL.test(text) && !(file.startsWith(`${STORE}/`) && partOf(file) === "rows"));
  return uses ? [`${file} must not use a database: only files of an engine below ${STORE} do`] : [];
}

/** The root of the server has its entry and the composition root; everything else has a folder. */
function looseFile(file: string): string[] {
  const isLoose = dirname(file) === SERVER && file !== `${SERVER}/main.ts` && file !== `${SERVER}/service.ts`;
  return isLoose ? [`${file} must be in a folder: flows for what needs several stages, service for the composition`] : [];
}

/** The two main.ts read the process environment, and the SDK its variables. */
function environmentOutside(file: string, text: string): string[] {
  const mayRead =
    file === `${SERVER}/main.ts` ||
    file === "packages/cli/src/main.ts" ||
    file === "packages/sdk/src/variables.ts" ||
    file.startsWith("packages/cli/bin/") ||
    file.endsWith(".test.ts");
  return !mayRead && /process\??\.env/.test(text) ? [`${file} must not read the environment of the process`] : [];
}
