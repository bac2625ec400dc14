/** Apps that a reader of a page has: in a folder of their own, with the packages of this checkout, as a reader would have installed them. */

import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../pack-packages.ts";
import type { Home } from "./check.ts";
import { type Following, folderIn } from "./follow-page.ts";
import { startProcess } from "./start-process.ts";

export function writeReadersApp(folder: string, code: string): void {
  mkdirSync(folder, { recursive: true });
  linkPackages(folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "app.ts"), code);
}

const APP = `
import { createServer } from "node:http";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
const inlet = new Inlet({ id: "shop" });
const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, () => "shipped");
createServer(serve({ client: inlet, functions: [ship] })).listen(Number(process.env.PORT), () => console.log("ready"));
`;

/** An app on a port, synced with the service. */
export async function startReadersApp(
  { home, cwd, rest, atEnd }: Following,
  port: number,
  variables: Record<string, string>,
): Promise<void> {
  const folder = join(cwd, "app");
  writeReadersApp(folder, APP);
  const app = await startProcess("node app.ts", folder, { ...home.env, ...variables, PORT: String(port) });
  atEnd.push(app.end);
  await app.printed(/^ready$/m);
  await rest("POST", "/apps", { url: `http://localhost:${port}/api/inlet` });
}

/** A copy of an example: what its commands write does not stay in the checkout. */
export function exampleFolder(home: Home, name: string): string {
  const examples = folderIn(home, "examples");
  if (!existsSync(join(examples, "node_modules"))) linkPackages(examples);
  cpSync(join(ROOT, "examples", name), join(examples, name), { recursive: true });
  return join(examples, name);
}

/** "With `npm run dev` running in the root of the repository." */
export async function startCheckout({ home, cwd, atEnd }: Following): Promise<void> {
  const dev = await startProcess("npm run dev", home.checkout, { ...home.env, INLET_DATA_DIR: join(cwd, ".inlet") });
  atEnd.push(dev.end);
  await dev.printed(/^listening on \S+$/m);
}

function linkPackages(folder: string): void {
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
}
