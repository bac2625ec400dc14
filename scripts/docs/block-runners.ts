/**
 * What runs each block of commands in the documentation, or why nothing can. A block that is in neither list fails a test
 * (command-blocks.test.ts), so a command cannot be documented without being run, or at least looked at.
 */

import type { CommandBlock } from "./command-blocks.ts";
import { commandBlocks } from "./command-blocks.ts";

/** The release check follows the page (scripts/release/check/followed-pages.ts). */
export const RELEASE = "release";

/** Why a block is not run. Its commands and flags are still checked by guides-name-what-exists. */
export const REASONS = {
  docker: "needs a Docker daemon, or images from a registry; the release check builds and runs the image where Docker is available",
  cluster: "needs a Kubernetes cluster; deploy-files.test.ts checks the chart, its values and its templates",
  root: "creates a user of the system",
  certificate: "needs a public domain name",
  suite: "runs the whole test suite, of which this is a part",
  benchmark: "measures for minutes on an idle machine; bench/RESULTS.md has the results",
} as const;

export type Runner = { by: string } | { not: keyof typeof REASONS };

interface PageRunners {
  /** Runs every block of `sh`; the release check runs blocks of all languages. */
  by?: string;
  /** Other blocks, by how they begin. */
  blocks?: Readonly<Record<string, Runner>>;
}

const by = (name: string): Runner => ({ by: name });
const not = (reason: keyof typeof REASONS): Runner => ({ not: reason });
const GUIDES = "guides-run-as-written";
const RECIPES = "recipes-run-as-written";

export const BLOCK_RUNNERS: Readonly<Record<string, PageRunners>> = {
  "README.md": { by: RELEASE, blocks: { "npm start        #": not("suite"), "npm run bench": not("benchmark") } },
  "docs/explanation/scaling.md": { by: RELEASE },
  "docs/explanation/security.md": { by: RELEASE },
  "docs/how-to/agents.md": { by: RELEASE },
  "docs/how-to/alerts.md": { by: RELEASE },
  "docs/how-to/archive.md": { by: RELEASE },
  "docs/how-to/branch-environments.md": { by: GUIDES },
  "docs/how-to/browsers-and-cors.md": { by: RECIPES },
  "docs/how-to/containers.md": {
    blocks: {
      "npm run release\ndocker build": not("docker"),
      "docker ": not("docker"),
      "umask 077": by(GUIDES),
      "mkdir backups": not("docker"),
      "kubectl ": not("cluster"),
      'echo "INLET_DATABASE_URL': not("cluster"),
    },
  },
  "docs/how-to/drill-webhooks.md": { by: RELEASE },
  "docs/how-to/environments-and-keys.md": { by: RELEASE },
  "docs/how-to/event-types.md": { by: RELEASE },
  "docs/how-to/everything-as-files.md": { by: RELEASE },
  "docs/how-to/fan-out.md": { by: RECIPES },
  "docs/how-to/file-upload.md": { by: RECIPES },
  "docs/how-to/forwarding.md": { by: RELEASE },
  "docs/how-to/human-approval.md": { by: RECIPES },
  "docs/how-to/idempotent-charges.md": { by: RECIPES },
  "docs/how-to/install.md": { by: RELEASE },
  "docs/how-to/keys-and-rotation.md": { by: RELEASE },
  "docs/how-to/nightly-job.md": { by: RECIPES },
  "docs/how-to/operation.md": {
    by: RELEASE,
    blocks: { "inlet backup": by("backups-are-complete"), "pg_dump ": by("backups-are-complete") },
  },
  "docs/how-to/quotas-and-usage.md": { by: RELEASE },
  "docs/how-to/rate-limited-api.md": { by: RECIPES },
  "docs/how-to/read-replica.md": { by: RELEASE },
  "docs/how-to/reconciliation.md": { by: RELEASE },
  "docs/how-to/replay-after-a-bug.md": { by: RECIPES, blocks: { "inlet webhooks requests": by(RELEASE) } },
  "docs/how-to/self-hosting.md": {
    by: GUIDES,
    blocks: {
      "useradd ": not("root"),
      "umask 077\nfor kind": by(GUIDES),
      "sed ": by(RELEASE),
      "certbot ": not("certificate"),
      "systemctl stop": by(RELEASE),
    },
  },
  "docs/how-to/several-databases.md": { by: RELEASE },
  "docs/how-to/webhooks-as-code.md": { by: "guide-tells-the-truth" },
  "docs/how-to/webhooks.md": { by: RELEASE },
  "docs/how-to/windows.md": { by: RELEASE },
  "docs/reference/sdk.md": { by: RELEASE },
  "docs/tutorials/first-function.md": {
    by: GUIDES,
    blocks: { "inlet dev --ephemeral": by(GUIDES), "INLET_DEV=1 node app.ts": by(GUIDES) },
  },
  "docs/tutorials/first-webhook.md": { by: GUIDES, blocks: { "inlet dev --ephemeral": by(GUIDES) } },
  "docs/tutorials/from-inngest.md": { by: RELEASE },
  "docs/tutorials/to-production.md": {
    blocks: {
      "inlet start": by(GUIDES),
      "export INLET_BASE_URL": by(GUIDES),
      "INLET_BASE_URL=http": by(GUIDES),
      "inlet apps sync": by(GUIDES),
      "inlet send": by(GUIDES),
    },
  },
  "examples/alerts-to-slack/README.md": { by: RELEASE },
  "examples/approvals-to-slack/README.md": { by: RELEASE },
  "examples/chat-stream/README.md": { by: RELEASE },
  "examples/express-webhook-signature/README.md": { by: RELEASE },
  "examples/next-fetch/README.md": { by: RELEASE },
  "examples/node-shop/README.md": { by: RELEASE },
  "examples/webhook-drill/README.md": { by: RELEASE },
  "packages/cli/README.md": { by: RELEASE },
  "packages/sdk/README.md": { by: RELEASE },
};

/** Undefined: nobody knows the block. */
export function runnerOf(page: string, { script, language, install }: CommandBlock): Runner | undefined {
  // The release check runs every one of them, on the page about installing and in the quick start of the SDK.
  if (install !== null) return by(RELEASE);
  const runners = BLOCK_RUNNERS[page] ?? {};
  const own = Object.entries(runners.blocks ?? {}).find(([beginning]) => script.startsWith(beginning))?.[1];
  if (own !== undefined) return own;
  return runners.by !== undefined && (language === "sh" || runners.by === RELEASE) ? by(runners.by) : undefined;
}

/** The blocks of a page that the release check runs, in order. */
export function blocksToFollow(page: string): CommandBlock[] {
  return commandBlocks(page).filter((block) => {
    const runner = runnerOf(page, block);
    return block.install === null && runner !== undefined && "by" in runner && runner.by === RELEASE;
  });
}
