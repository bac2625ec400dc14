/** Checks of this machine: Node, settings, data folder, port. */

import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ConfigInvalid, databaseFaults, inspectFolder, readConfig, settingsNames, unknownVariables, variableValue } from "@inlet/server";
import type { Variables } from "../command-line/command-row.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

const NODE_MIN = [22, 19] as const;
const MIB = 1024 * 1024;
const FREE_BYTES_PROBLEM = 100 * MIB;
const FREE_BYTES_WARNING = 1024 * MIB;

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNew = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (isNew) return ok("node", `Node ${version}`);
  return problem("node", `Node ${version} is too old`, `Install Node ${NODE_MIN.join(".")} or later.`);
}

export function checkSettings(variables: Variables): Finding[] {
  const strange = unknownVariables(variables).map((sentence) =>
    warning("settings", sentence, '"inlet start --help" lists them; remove it, or correct its name.'),
  );
  try {
    readConfig("start", [], variables);
    const given = settingsNames().flatMap(({ variable }) => variableValue(variable, variables)?.variable ?? []);
    return [
      ...strange,
      ok(
        "settings",
        given.length > 0
          ? `set by variables: ${given.join(", ")}`
          : "no settings of the service are set by variables; it uses its defaults",
      ),
    ];
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    const advice = "Fix the variable; see docs/reference/configuration.md.";
    return [...strange, ...error.messages.map((message) => problem("settings", message, advice))];
  }
}

export function checkFolder(folder: string): Finding[] {
  const seen = inspectFolder(folder);
  const findings: Finding[] = [];
  if (seen.notWritable) {
    const advice = "Give the service's user write permission, or choose another folder with --data-dir.";
    findings.push(problem("data folder", `${folder} is not writable: ${seen.notWritable}`, advice));
  } else {
    const state = seen.exists ? `holds ${megabytes(seen.usedBytes)}` : "does not exist yet; the first start creates it";
    findings.push(ok("data folder", `${folder} ${state}${seen.inUseBy ? `, in use by process ${seen.inUseBy}` : ""}`));
  }
  if (seen.isOpenToOthers) {
    findings.push(warning("data folder", "other users on this machine can read it, and payloads are private", `chmod 700 ${folder}`));
  }
  if (seen.movedTo) {
    const advice = "Start the service with --database-url. Delete the folder once you have verified the copy.";
    findings.push(warning("data folder", `its data was moved to ${seen.movedTo}; the service refuses to start with this folder`, advice));
  }
  findings.push(freeSpace(seen.freeBytes));
  if (seen.databaseFault) {
    const advice = "Stop the service, then restore the folder from a backup, or move it away to start empty.";
    findings.push(problem("store", `the database cannot be read: ${seen.databaseFault}`, advice));
  } else if (seen.schema) findings.push(schema(seen.schema));
  return findings;
}

/** Reads the whole database, which takes a while for a large store. A service may keep using it. */
export function checkData(folder: string, usesPostgres: boolean): Finding {
  if (usesPostgres) return skipped("data", "the store is PostgreSQL; docs/how-to/operation.md says how to check its backups");
  const path = join(folder, "inlet.db");
  if (!existsSync(path)) return problem("data", `there is no database in ${folder}`, "Choose the folder with --data-dir.");
  const faults = databaseFaults(path);
  if (faults.length === 0) return ok("data", "the whole database was read and is intact");
  const advice = "Stop the service, keep a copy of the folder, and restore the last backup with inlet restore.";
  return problem("data", faults.join("; "), advice);
}

function freeSpace(bytes: number): Finding {
  const text = `${megabytes(bytes)} free`;
  const advice = "Free disk space. When the disk is full, the service refuses events with 503 but loses none.";
  if (bytes < FREE_BYTES_PROBLEM) return problem("disk", text, advice);
  return bytes < FREE_BYTES_WARNING ? warning("disk", text, advice) : ok("disk", text);
}

function schema({ version, known }: { version: number; known: number }): Finding {
  if (version > known) {
    const advice = "Run the newer version of Inlet that wrote it, or restore an older backup of the folder.";
    return problem("store", `the database has schema ${version}, but this version supports up to ${known}`, advice);
  }
  if (version < known) return ok("store", `schema ${version}; the next start migrates it to ${known}`);
  return ok("store", `schema ${version}, up to date`);
}

/** `answersHere` returns whether an Inlet service responds at the URL. */
export async function checkPort(port: number, answersHere: (url: string) => Promise<boolean>): Promise<Finding> {
  if (await isFree(port)) return ok("port", `${port} is free`);
  if (await answersHere(`http://localhost:${port}`)) return ok("port", `an Inlet service is running on ${port}`);
  const advice = `Find it with "lsof -i :${port}" and stop it, or choose another port with --port or INLET_PORT.`;
  return problem("port", `${port} is in use by another program`, advice);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

function megabytes(bytes: number): string {
  return bytes >= 1024 * MIB ? `${(bytes / 1024 / MIB).toFixed(1)} GB` : `${(bytes / MIB).toFixed(1)} MB`;
}
