/** Where an archive is kept: named files, each written as a whole. Two implementations: a folder, and S3-compatible storage. */

export interface ArchiveTarget {
  /** For people, without credentials. */
  description: string;
  /** The names of files that begin with this, in ascending order. */
  list(prefix: string): Promise<string[]>;
  /** Null: there is no such file. */
  open(name: string): Promise<ArchivedFile | null>;
  /** Readers see the new file, whole, once it is finished; before that they see the old one, or none. */
  create(name: string): Promise<FileUpload>;
}

/** What a reader of Parquet needs of a file. */
export interface ArchivedFile {
  byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
  close(): Promise<void>;
}

/** Written from its beginning to its end. */
export interface FileUpload {
  append(bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing behind. Does nothing after `finish`. */
  abort(): Promise<void>;
}

/** The target does not answer, refuses, or has no room. */
export class ArchiveUnavailable extends Error {}
