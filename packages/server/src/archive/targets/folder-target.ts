/**
 * An archive in a folder. A file is written under a temporary name, synced and renamed, so that its name never stands for part of it.
 * Temporary files of a process that ended are removed with the next file of their folder.
 */

import { randomUUID } from "node:crypto";
import { constants, type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type ArchivedFile, type ArchiveTarget, ArchiveUnavailable, type FileUpload, type ListedFile } from "./archive-target.ts";

/** Does not wait for the other end of a pipe. */
const READING = constants.O_RDONLY | constants.O_NONBLOCK;
const TEMPORARY = ".part";
/** No upload stands still for that long: its process has ended. */
const TEMPORARY_MS_MAX = 24 * 3_600_000;

export function folderTarget(folder: string): ArchiveTarget {
  return {
    description: `the folder ${folder}`,
    list: (prefix) => available(() => listFiles(folder, prefix)),
    open: (name) => available(() => openFile(folder, name)),
    create: (name) => available(() => createFile(join(folder, name))),
  };
}

async function listFiles(folder: string, prefix: string): Promise<ListedFile[]> {
  const parent = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const names = await readdir(join(folder, parent)).catch(absent([] as string[]));
  const wanted = names.map((name) => parent + name).filter((name) => name.startsWith(prefix) && !name.endsWith(TEMPORARY));
  const files: ListedFile[] = [];
  for (const name of wanted.sort()) files.push({ name, version: await versionOf(join(folder, name)) });
  return files;
}

/** A file is replaced by another one, with an inode and a time of its own. */
async function versionOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(absent(null));
  return found && [found.ino, found.size, found.mtimeNs].join(" ");
}

async function openFile(folder: string, name: string): Promise<ArchivedFile | null> {
  const handle = await open(join(folder, name), READING).catch(absent(null));
  if (!handle) return null;
  const found = await handle.stat();
  if (!found.isFile()) {
    await handle.close();
    throw new ArchiveUnavailable(`${name} is not a file`);
  }
  const { size } = found;
  return {
    name,
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(Math.max(0, end - start));
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await available(() => handle.read(bytes, filled, bytes.length - filled, start + filled));
        if (bytesRead === 0) throw new ArchiveUnavailable(`${name} is shorter than it was`);
        filled += bytesRead;
      }
      return bytes.buffer;
    },
    close: () => handle.close(),
  };
}

async function createFile(path: string): Promise<FileUpload> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeAbandoned(folder);
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}${TEMPORARY}`);
  const handle = await open(temporary, "wx", 0o600);
  let isOpen = true;
  const close = async () => {
    if (isOpen) await handle.close();
    isOpen = false;
  };
  return {
    append: (bytes) => available(() => writeAll(handle, bytes)),
    async finish(check) {
      await available(async () => {
        await handle.sync();
        await close();
      });
      check();
      await available(async () => {
        await rename(temporary, path);
        await syncFolder(folder);
      });
    },
    async abort() {
      await close();
      await rm(temporary, { force: true });
    },
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) written += (await handle.write(bytes, written)).bytesWritten;
}

/** The new name is on disk only with its folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(TEMPORARY)) continue;
    const age = await stat(join(folder, name)).then(({ mtimeMs }) => Date.now() - mtimeMs, absent(0));
    if (age > TEMPORARY_MS_MAX) await rm(join(folder, name), { force: true });
  }
}

/** Runs if a file or folder does not exist; other errors pass. */
function absent<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}

async function available<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ArchiveUnavailable ? error : new ArchiveUnavailable((error as Error).message, { cause: error });
  }
}
