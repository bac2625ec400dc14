/** Runs the service as a process: reads settings, handles signals, returns the exit code. */

import { flushCompileCache } from "node:module";
import { type Logger, pino } from "pino";
import { type Config, ConfigInvalid, readConfig, unknownVariables } from "./config/config.ts";
import type { LogLevel, Mode } from "./config/settings.ts";
import { logLine } from "./observe/log-lines.ts";
import { readTelemetry } from "./observe/telemetry/telemetry-settings.ts";
import { isLoopback } from "./service/loopback.ts";
import { StartRefused } from "./service/start-refused.ts";
import { stopBoundMs } from "./service/stop-bound.ts";
import { curlSend, loginLink, welcome } from "./service/welcome.ts";
import { type Service, startService } from "./service.ts";
import { StoreRefused, StoreUnavailable } from "./store/contract/index.ts";
import type { CopyReport, CopyStoreOptions } from "./store/copy/copy-store.ts";

export { ConfigInvalid, readConfig, unknownVariables } from "./config/config.ts";
export { settingsHelp, settingsMarkdown, settingsNames } from "./config/help.ts";
export { variableValue } from "./config/settings.ts";
export { issueKey } from "./receive/senders/issue-key.ts";
export { StoreRefused, StoreUnavailable } from "./store/contract/index.ts";

export type { CopyProgress, CopyReport, CopyStoreOptions } from "./store/copy/copy-store.ts";
export type { BackupHeader } from "./store/sqlite/backup/backup-file.ts";
export { databaseFaults } from "./store/sqlite/backup/check-database.ts";
export { type MakeBackupOptions, makeBackup } from "./store/sqlite/backup/make-backup.ts";
export { type RestoreBackupOptions, restoreBackup } from "./store/sqlite/backup/restore-backup.ts";
export { type FolderInspection, inspectFolder } from "./store/sqlite/folder/inspect-folder.ts";

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** Added to the drain timeout: the time to close everything else after an unhandled fault. */
const FAULT_STOP_MS = 10_000;
/** After everything has stopped: output that is still being written has this long. */
const LEFT_OPEN_MS = 1_000;
const LOG_HELD_BYTES_MAX = 1024 * 1024;

/** Why the service did not start or ended: sentences for the operator. */
export class ServiceFailed extends Error {
  readonly messages: readonly string[];
  readonly exitCode: number;

  constructor(cause: unknown) {
    const messages = explain(cause);
    super(messages.join("\n"), { cause });
    this.name = "ServiceFailed";
    this.messages = messages;
    this.exitCode = cause instanceof ConfigInvalid ? EXIT_USAGE : EXIT_FAILED;
  }
}

export interface RunSignals {
  /** Resolves when the service is asked to stop. */
  asked: Promise<void>;
  /** Called when requests are accepted: from now on the service has to be stopped in order. */
  onListening(): void;
}

/** Resolves with the exit code once the service has stopped. Throws ServiceFailed. */
export async function runService(mode: Mode, argv: readonly string[], { asked, onListening }: RunSignals): Promise<number> {
  try {
    for (const warning of unknownVariables(process.env)) console.warn(`warning: ${warning}`);
    const config = readConfig(mode, argv, process.env);
    const log = createLog(config);
    const showLine = (line: string) => console.log(line);
    const service = await startService(config, {
      log,
      telemetry: readTelemetry(process.env),
      storageVariables: process.env,
      onListening,
      ...(mode === "dev" && { showLine }),
    });
    // Before anything is announced: a fault that follows at once must not end the process unprepared.
    const failed = untilFault();
    if (mode === "dev") announceDev(service);
    else announceStart(service, config.publicUrl);
    console.log(`listening on ${service.url}`);
    // Node writes its compile cache only on a normal exit; a process that is later killed should also start quickly the next time.
    flushCompileCache();
    const fault = await Promise.race([asked, failed]);
    if (fault) return await stopAfterFault(service, log, fault, config.drainTimeout);
    if (process.stdout.isTTY) console.log("\nstopping: waiting for requests in flight");
    else log.info("stopping: waiting for requests in flight");
    await stopInTime(service, log, config);
    return EXIT_OK;
  } catch (error) {
    throw new ServiceFailed(error);
  }
}

async function stopInTime(service: Service, log: Logger, config: Config): Promise<void> {
  const late = setTimeout(() => {
    log.error(
      "stopping took too long, as with a database that does not answer: the process ends at once, and what it acknowledged is stored",
    );
    process.exit(EXIT_OK);
  }, stopBoundMs(config));
  try {
    await service.stop();
  } finally {
    clearTimeout(late);
  }
  // What is left waits for a peer that does not answer, such as a database that hangs: that keeps no process alive.
  setTimeout(() => process.exit(EXIT_OK), LEFT_OPEN_MS).unref();
}

/** Copies an embedded store into PostgreSQL, whose client is loaded only for this. */
export async function migrateStore(options: CopyStoreOptions): Promise<CopyReport> {
  const { copyStore } = await import("./store/copy/copy-store.ts");
  return copyStore(options);
}

/** A log that cannot be written, as on a full disk, stops nothing: lines are held up to a limit, and those beyond it are lost. */
function createLog({ log, logLevel }: { log: "lines" | "json"; logLevel: LogLevel }): Logger {
  const output = pino.destination({ fd: 2, sync: true, maxLength: LOG_HELD_BYTES_MAX });
  output.on("error", () => {});
  // Not `output` itself: after a fatal line, pino would call its `flushSync`, which repeats a write that fails without end.
  const write = (record: string) => void output.write(log === "json" ? record : logLine(record));
  return pino({ level: logLevel, base: null }, { write });
}

function announceDev({ url, retentionNotice }: Service): void {
  if (isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, "")))
    console.log("Open to this machine only (loopback), without keys or sign-in.");
  else console.warn(`warning: ${url} is open to the network, and a dev server requires no keys`);
  console.log(retentionNotice);
  console.log(`Dashboard: ${url}`);
  console.log(`\nAny key works here. Send a first event:\n\n  ${curlSend(url, "dev")}\n`);
}

/**
 * A login link is printed by the first start, and later whenever the output is a terminal: after losing every API key, start the
 * service once in a terminal. Output to a file or a log collector gets none, since others may read it.
 */
function announceStart({ url, newKeys, retentionNotice, issueLoginToken }: Service, publicUrl: string | null): void {
  console.log(welcome(newKeys, url));
  console.log(retentionNotice);
  if (newKeys.length > 0 || process.stdout.isTTY) console.log(loginLink(publicUrl ?? url, issueLoginToken()));
}

/** Resolves with the fault that no code handled, a rejected promise included. */
function untilFault(): Promise<{ cause: unknown }> {
  return new Promise((resolve) => process.once("uncaughtException", (cause) => resolve({ cause })));
}

/**
 * The state of the process is unknown after such a fault, so it ends: in order, so that work in flight is kept, and with an exit code
 * that tells a supervisor to start it again. Faults while stopping are expected to follow from the first.
 */
async function stopAfterFault(service: Service, log: Logger, { cause }: { cause: unknown }, drainMs: number): Promise<number> {
  process.on("uncaughtException", (error) => log.error({ err: error }, "another fault while stopping"));
  log.fatal({ err: cause }, "stopping: a fault was not handled");
  const late = setTimeout(() => {
    log.fatal("stopping took too long: the process ends at once");
    process.exit(EXIT_FAILED);
  }, drainMs + FAULT_STOP_MS);
  await service.stop({ isUrgent: true }).catch((error) => log.error({ err: error }, "the service could not be stopped in order"));
  clearTimeout(late);
  // What the fault left open must not keep the process alive.
  return process.exit(EXIT_FAILED);
}

function explain(error: unknown): readonly string[] {
  if (error instanceof ConfigInvalid) return error.messages;
  if (error instanceof StoreRefused || error instanceof StartRefused) return [error.message];
  if (error instanceof StoreUnavailable) return [`the store could not be used during the start: ${error.message}. Start again.`];
  const { code, port, address, hostname } = error as { code?: string; port?: number; address?: string; hostname?: string };
  if (code === "EADDRINUSE")
    return [`port ${port} on ${address} is taken. Stop the program that uses it, or choose another port with --port.`];
  if (code === "EACCES") return [`this user may not listen on port ${port}. Choose one above 1023 with --port.`];
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return [`this machine has no address ${address ?? hostname} to listen on; see --host.`];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}
