/**
 * `inlet export`: writes what exists into files, so that a plan of the folder shows no changes.
 *
 * A file that differs is overwritten only with --force. Files of other names would describe the same objects twice, so a folder that has
 * them is refused.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { createRestClient } from "../../rest/rest-client.ts";
import { pullInto } from "../../webhooks/commands/pull.ts";
import { readText } from "../../webhooks/folder/read-folder.ts";
import { type ExportedFile, exportedFiles, exportedNames } from "../exported-files.ts";
import type { EXPORT_FLAGS } from "../files-flags.ts";
import { SCHEMA_FILE, schemaFileText } from "../format/file-schema.ts";
import { definitionFiles, WEBHOOKS_FOLDER } from "../format/read-definitions.ts";
import { isThere, readInstallation } from "../installation.ts";

interface Written {
  file: string;
  action: "written" | "overwritten" | "unchanged" | "differs";
}

export async function exportFiles({ options, io }: Call<typeof EXPORT_FLAGS>): Promise<CommandResult> {
  const { dir, force, schemaOnly } = options;
  const schema = { path: SCHEMA_FILE, text: schemaFileText() };
  if (schemaOnly) return result([write(dir, schema, true)], null);
  const rest = createRestClient({ ...options, env: null });
  const installation = await readInstallation(rest);
  const { files, warnings } = await exportedFiles(rest, installation, options.env);
  refuseOthers(dir, files);
  for (const warning of warnings) io.err.write(`warning: ${warning}\n`);
  const written = [write(dir, schema, true), ...files.map((file) => write(dir, file, force))];
  const names = exportedNames(installation, options.env).filter(({ kind }) => kind !== "branch");
  const withWebhooks = names.map(({ name }) => name).filter((name) => isThere(installation, name));
  const webhooks = join(dir, WEBHOOKS_FOLDER);
  mkdirSync(webhooks, { recursive: true });
  const env = installation.defaultEnvironment;
  return result(written, await pullInto({ ...options, dir: webhooks, env }, io.variables, withWebhooks));
}

/** The schema is this program's, not the user's. */
function write(dir: string, { path, text }: ExportedFile, force: boolean): Written {
  const file = join(dir, path);
  const known = readText(file);
  if (known === text) return { file, action: "unchanged" };
  if (known !== null && !force) return { file, action: "differs" };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return { file, action: known === null ? "written" : "overwritten" };
}

function refuseOthers(dir: string, files: readonly ExportedFile[]): void {
  const own = new Set(files.map(({ path }) => join(dir, path)));
  const others = (definitionFiles(dir) ?? []).filter((file) => !own.has(file));
  if (others.length === 0) return;
  throw new CommandFault(
    `${others.join(", ")} would describe objects a second time. Export into an empty folder with --dir, or remove ${others.length === 1 ? "it" : "them"} first.`,
  );
}

function result(files: readonly Written[], webhooks: (CommandResult & { json: object }) | null): CommandResult {
  const count = (action: Written["action"]) => files.filter((file) => file.action === action).length;
  const differing = count("differs");
  const lines = files.filter(({ action }) => action !== "unchanged").map(({ file, action }) => `${file}: ${action}`);
  const total = `${count("written")} files written, ${count("overwritten")} overwritten, ${count("unchanged")} unchanged, ${differing} different and not overwritten.`;
  return {
    exitCode: differing > 0 || webhooks?.exitCode === EXIT.differs ? EXIT.differs : EXIT.ok,
    text: [
      ...lines,
      total,
      ...(differing > 0 ? ["--force takes the server's version."] : []),
      ...(webhooks ? ["", "Webhooks:", webhooks.text] : []),
    ].join("\n"),
    json: { files, ...webhooks?.json },
  };
}
