/**
 * The archive of `--archive`: partitions are written there before they are dropped. A file is written whole, read back, and compared by count
 * and checksum with the rows of the partition; only then may the partition go. If any of that fails, it stays, and the next sweep tries again.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type ArchivedDay,
  type ArchivedRow,
  type ArchivedTable,
  ArchiveUnusable,
  type CompileWhere,
  type Environment,
  type EnvironmentStore,
  type EventListParams,
  type EventPage,
  type EventStore,
  type PartitionArchive,
} from "../store/contract/index.ts";
import { payloadFilters } from "../store/events/rows/event-pages.ts";
import type { ArchiveLease, CheckLease } from "./archive-lease.ts";
import { type EraseArchivedParams, eraseArchived } from "./erase-events.ts";
import { fileName } from "./file-names.ts";
import { FileSurvey } from "./file-survey.ts";
import { mergeRows } from "./files/merge-rows.ts";
import { type ArchiveStorage, checksumOf, rowsOf } from "./files/read-file.ts";
import { writeFile } from "./files/write-file.ts";
import { type ArchivedListParams, listArchivedEvents } from "./list-events.ts";
import { ArchiveUnavailable, FileUnreadable } from "./targets/archive-target.ts";

export interface ArchiveParts extends ArchiveStorage {
  lease: ArchiveLease;
  store: Pick<EnvironmentStore, "environmentList"> & Pick<EventStore, "eventGet" | "eventList">;
  compileWhere: CompileWhere;
  log: Logger;
  /** Aborted when the service stops: a file under way is left out. */
  stopping: AbortSignal;
}

/** What this node met. Since when partitions wait is in the store, for all nodes. */
export interface ArchiveFailure {
  reason: string;
}

export class Archive implements PartitionArchive {
  readonly #parts: ArchiveParts;
  readonly #survey: FileSurvey;
  #failure: ArchiveFailure | null = null;
  #check: CheckLease = () => {
    throw new Error("the archive is written without its lease");
  };

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
    this.#survey = new FileSurvey(parts);
  }

  /** What is being read fails, and nothing can be read after that. */
  stop(): void {
    this.#parts.decoder.stop();
  }

  /** Throws ArchiveUnusable if the archive cannot be read. */
  eventList(environment: Environment, params: ArchivedListParams): Promise<EventPage> {
    return this.#available(() => listArchivedEvents(this.#parts, environment, params));
  }

  /** As the list of events in the store does, with all of its filters, or one event. */
  eventFind(environment: Environment, params: EventListParams & Pick<ArchivedListParams, "id">): Promise<EventPage> {
    const { dedupId } = params;
    const filters = payloadFilters(params, this.#parts.compileWhere);
    if (dedupId !== undefined) filters.push((event) => event.dedupId === dedupId);
    return this.eventList(environment, { ...params, filters });
  }

  /** Overwrites the content of events and what followed from them. False: somebody else writes the archive at the moment. */
  eventErase(params: EraseArchivedParams): Promise<boolean> {
    const { target, decoder, store } = this.#parts;
    const parts = { target, decoder, survey: this.#survey, store, replace: this.replace.bind(this) };
    return this.#available(() => this.#run(() => eraseArchived(parts, params)));
  }

  /** Why the last file could not be written; null: it could. */
  get failure(): ArchiveFailure | null {
    return this.#failure;
  }

  /** Partitions of several databases, and of retention and disk budget, take turns. */
  async alone(work: () => Promise<void>): Promise<boolean> {
    const { lease } = this.#parts;
    for (;;) {
      await lease.whenFree();
      const isDone = await this.#run(work);
      // Another that waited was first.
      if (isDone || !lease.isBusy) return isDone;
    }
  }

  async #available<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ArchiveUnavailable)) throw error;
      const { log, target } = this.#parts;
      log.warn({ err: error, target: target.description }, "the archive cannot be read");
      const file = error instanceof FileUnreadable ? error.file : null;
      throw new ArchiveUnusable(`the archive cannot be used: ${error.message}`, file, error);
    }
  }

  async #run(work: () => Promise<void>): Promise<boolean> {
    const { lease, stopping } = this.#parts;
    if (stopping.aborted) return false;
    const done = await lease.run(async (check) => {
      this.#check = check;
      await work();
      return true;
    });
    return done === true;
  }

  async write(day: ArchivedDay): ReturnType<PartitionArchive["write"]> {
    const { log, target, stopping } = this.#parts;
    try {
      const file = await this.#add(day);
      if (this.#failure) log.info({ target: target.description }, "the archive can be written again");
      this.#failure = null;
      log.info(file, "archived a day");
      return "written";
    } catch (error) {
      if (stopping.aborted) return "stopped";
      this.#failure = { reason: (error as Error).message };
      log.error({ err: error, target: target.description }, "the archive cannot be written: what is to be archived stays in the store");
      return "failed";
    }
  }

  /** Adds rows to a file, or creates it. */
  async #add({ table, environmentId, day, rows }: ArchivedDay): Promise<{ file: string; content: string }> {
    const environment = await this.#nameOf(environmentId);
    const file = fileName(environment, table, day);
    const named = withEnvironment(rows(), environment);
    const { target, decoder } = this.#parts;
    const existing = await target.open(file);
    try {
      const all = existing ? mergeRows(table, rowsOf(decoder, table, existing), named) : named;
      return { file, content: await this.replace(file, table, all) };
    } finally {
      await existing?.close();
    }
  }

  /** Within `alone`. Writes a file, whole, and reads it back. Returns count and checksum of its rows. */
  async replace(name: string, table: ArchivedTable, rows: AsyncIterable<ArchivedRow>): Promise<string> {
    const expected = await this.#upload(name, table, rows);
    const { target, decoder } = this.#parts;
    const file = await target.open(name);
    if (!file) throw new ArchiveUnavailable(`${name} was written and cannot be found`);
    try {
      const found = await checksumOf(decoder, table, file);
      if (found !== expected) throw new ArchiveUnavailable(`${name} should have ${expected}, but has ${found}`);
    } finally {
      await file.close();
    }
    return expected;
  }

  async #upload(name: string, table: ArchivedTable, rows: AsyncIterable<ArchivedRow>): Promise<string> {
    const { target, stopping } = this.#parts;
    const upload = await target.create(name);
    try {
      const written = await writeFile(table, untilStopped(rows, stopping), upload);
      await upload.finish(this.#check);
      return written;
    } finally {
      // After a failure; its reason is the one that counts.
      await upload.abort().catch(() => undefined);
    }
  }

  async #nameOf(environmentId: EnvironmentId): Promise<string> {
    const found = (await this.#parts.store.environmentList()).find(({ id }) => id === environmentId);
    if (!found) throw new Error(`the environment ${environmentId} has rows, but is not known`);
    return found.name;
  }
}

async function* withEnvironment(rows: AsyncIterable<ArchivedRow>, environment: string): AsyncGenerator<ArchivedRow> {
  for await (const row of rows) yield { environment, ...row };
}

async function* untilStopped(rows: AsyncIterable<ArchivedRow>, stopping: AbortSignal): AsyncGenerator<ArchivedRow> {
  for await (const row of rows) {
    if (stopping.aborted) throw new Error("the service stops");
    yield row;
  }
}
