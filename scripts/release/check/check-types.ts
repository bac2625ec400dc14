/** The examples of the SDK's guide compile with the newest TypeScript and the newest types of Node and Express. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "../build-release.ts";
import { readPage } from "../install-text.ts";
import { QUIET_NPM, run } from "../run.ts";
import type { Check } from "./check.ts";
import { environmentWith, type Toolbox } from "./toolbox.ts";

const NEWEST = ["typescript", "@types/node", "express", "@types/express", "fastify", "hono", "zod"].map((name) => `${name}@latest`);
const OPTIONS = { strict: true, noEmit: true, target: "es2024", module: "nodenext", types: ["node"], skipLibCheck: true };

export function checkTypes({ sdk }: Release, toolbox: Toolbox): Check {
  const { folder, nodes } = toolbox;
  return {
    name: "the newest TypeScript and @types/node",
    async run() {
      const project = join(folder, "types");
      const env = { ...environmentWith(toolbox, [nodes[24]], folder), ...QUIET_NPM };
      mkdirSync(project);
      writeFileSync(join(project, "package.json"), '{"name":"types","private":true,"type":"module"}');
      await run("npm", ["install", sdk, ...NEWEST], { cwd: project, env });
      const examples = [...readPage("docs/reference/sdk.md").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
      for (const [i, code] of examples.filter((text) => text.includes("new Inlet(")).entries())
        writeFileSync(join(project, `example-${i}.ts`), code);
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, include: ["*.ts"] }));
      await run("node", [join(project, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: project, env });
    },
  };
}
