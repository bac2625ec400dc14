/** The commands in the documentation: every block of a shell, on every page that a user reads. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const PAGES: readonly string[] = [
  "README.md",
  ...globSync(["docs/**/*.md", "examples/*/README.md", "packages/*/README.md"], { cwd: ROOT }).sort(),
];

export interface CommandBlock {
  language: string;
  /** What a reader would type: without prompts and without the output shown. Long commands are one line. */
  script: string;
  /** The name of the install block that it is, which every page has in the same words (scripts/release/install-text.ts). */
  install: string | null;
  /** The JSON shown after it, or "". */
  shown: string;
}

const BLOCK = /^(?:<!-- install:([a-z]+) -->\n(?:(?!```).*\n)*)?```(\w*)\n([\s\S]*?)^```$/gm;

export function commandBlocks(page: string): CommandBlock[] {
  const blocks = [...readFileSync(join(ROOT, page), "utf8").matchAll(BLOCK)].map(([, install = null, language = "", body = ""]) => ({
    install,
    language,
    body,
  }));
  return blocks.flatMap(({ install, language, body }, i) => {
    if (!["sh", "console", "powershell"].includes(language)) return [];
    const next = blocks[i + 1];
    return [{ language, install, script: typedText(language, body), shown: next?.language === "json" ? next.body : "" }];
  });
}

function typedText(language: string, body: string): string {
  const joined = body.replace(/\\\n\s*/g, "");
  if (language !== "console") return joined;
  const lines = joined.split("\n").flatMap((line) => /^[$#] (.*)$/.exec(line)?.[1] ?? []);
  return `${lines.join("\n")}\n`;
}

/** Blocks without a language that look like commands: they would escape every check. */
export function unmarkedCommands(page: string): string[] {
  const blocks = [...readFileSync(join(ROOT, page), "utf8").matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language = "", body = ""]) =>
    ["", "bash", "shell", "zsh", "cmd", "bat"].includes(language) && /^(?:[$#] )?(?:inlet|npm|npx|node|curl|docker|psql) /m.test(body)
      ? [body]
      : [],
  );
}
