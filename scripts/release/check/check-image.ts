/**
 * The image: its context installs as the Dockerfile says. If a Docker daemon is available, the image is built and run: it becomes healthy,
 * keeps its data in its volume, and stops on request.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readDockerfile } from "../../deploy/read-dockerfile.ts";
import type { Release } from "../build-release.ts";
import { readManifest } from "../pack-packages.ts";
import { run } from "../run.ts";
import { bash, type Check } from "./check.ts";
import { environmentWith, type Toolbox } from "./toolbox.ts";

const NAME = `inlet-release-check-${process.pid}`;
const HEALTHY_WITHIN_MS = 60_000;

export function checkImageContext({ folder }: Release, toolbox: Toolbox): Check {
  return {
    name: "image context",
    async run() {
      const context = join(toolbox.folder, "image");
      cpSync(join(folder, "image"), context, { recursive: true });
      const dockerfile = readFileSync(join(context, "Dockerfile"), "utf8");
      const [, install = ""] = /^RUN (npm ci .*?) \\$/m.exec(dockerfile) ?? assert.fail("the Dockerfile installs nothing");
      const env = environmentWith(toolbox, [toolbox.nodes[24]], toolbox.folder);
      await bash(install, context, env);
      const [, entry = ""] = readDockerfile(dockerfile).command;
      const { out } = await run("node", [join(context, entry.replace("/opt/inlet/", "")), "--version"], { cwd: context, env });
      assert.equal(out, `${readManifest("packages/cli").version}\n`);
    },
  };
}

export function checkImage({ folder }: Release): Check {
  return {
    name: "container image",
    unavailable: () => (spawnSync("docker", ["info"]).status === 0 ? null : "no Docker daemon answers here"),
    async run() {
      const docker = async (...argv: string[]) => (await run("docker", argv, { cwd: folder })).all;
      try {
        await docker("build", "--tag", NAME, join(folder, "image"));
        assert.match(await docker("run", "--rm", NAME, "--version"), /^\d+\.\d+\.\d+\n$/);
        await docker("run", "--detach", "--name", NAME, "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", NAME);
        await untilHealthy(docker);
        await docker("stop", "--time", "30", NAME);
        assert.match(await docker("inspect", "--format", "{{.State.ExitCode}}", NAME), /^0\n$/);
      } finally {
        spawnSync("docker", ["rm", "--force", "--volumes", NAME]);
        spawnSync("docker", ["image", "rm", "--force", NAME]);
      }
    },
  };
}

async function untilHealthy(docker: (...argv: string[]) => Promise<string>): Promise<void> {
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  while ((await docker("inspect", "--format", "{{.State.Health.Status}}", NAME)).trim() !== "healthy") {
    if (Date.now() > deadline) throw new Error(`the container is not healthy:\n${await docker("logs", NAME)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
