/** Where an archive is kept: named files, each written as a whole. Two implementations: a folder, and S3-compatible storage. */

export interface ArchiveTarget {
  /** For people, without credentials. */
  description: string;
  /** The files whose names begin with this, in ascending order of their names. */
  list(prefix: string): Promise<ListedFile[]>;
  /** Null: there is no such file. */
  open(name: string): Promise<ArchivedFile | null>;
  /** Readers see the new file, whole, once it is finished; before that they see the old one, or none. */
  create(name: string): Promise<FileUpload>;
}

export interface ListedFile {
  name: string;
  /** A file of this name with the same version has the same content; null: it cannot be told. */
  version: string | null;
}

/** What a reader of Parquet needs of a file. */
export interface ArchivedFile {
  name: string;
  byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
  close(): Promise<void>;
}

/** Written from its beginning to its end. */
export interface FileUpload {
  append(bytes: Uint8Array): Promise<void>;
  /** Asks `check` right before each attempt to take the place of the file: it throws if that is not allowed any more. */
  finish(check: () => void): Promise<void>;
  /** Leaves nothing behind. Does nothing after `finish`. */
  abort(): Promise<void>;
}

/** The target does not answer, refuses, or has no room. */
export class ArchiveUnavailable extends Error {}

/** The file is damaged, or no file of the archive. */
export class FileUnreadable extends ArchiveUnavailable {
  readonly file: string;

  constructor(file: string, why: string) {
    super(`${file} cannot be read: ${why}`);
    this.file = file;
  }
}
