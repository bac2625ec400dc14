/**
 * An archive in S3-compatible storage. Small files are one PUT; larger ones are uploaded in parts, which become visible together. A part is
 * the most that is held in memory. Requests are signed by aws4fetch; addresses have the bucket in their path, which every such storage knows.
 */

import { setTimeout as pause } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { type ArchivedFile, type ArchiveTarget, ArchiveUnavailable, type FileUpload, type ListedFile } from "./archive-target.ts";

export interface S3Settings {
  bucket: string;
  /** Without a slash at its end; empty: none. */
  prefix: string;
  /** Such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** The least that a part may have, except for the last, is 5 MiB; at most 10,000 parts: up to 80 GB for a file. */
const PART_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const TRIES = 3;
const RETRY_MS = 500;
const ERROR_TEXT_MAX = 300;

export function s3Target(settings: S3Settings): ArchiveTarget {
  const request = signedRequests(settings);
  const root = settings.prefix === "" ? "" : `${settings.prefix}/`;
  const path = (name: string) => `/${(root + name).split("/").map(encodeURIComponent).join("/")}`;
  return {
    description: `s3://${settings.bucket}/${settings.prefix}`,
    async list(prefix) {
      const files: ListedFile[] = [];
      for (let token: string | undefined = ""; token !== undefined; ) {
        const query: Record<string, string> = { "encoding-type": "url", "list-type": "2", prefix: root + prefix };
        if (token !== "") query["continuation-token"] = token;
        const page = textOf(await request("GET", `?${new URLSearchParams(query)}`));
        files.push(...elements(page, "Contents").map((found) => listedFile(found, root)));
        token = texts(page, "NextContinuationToken")[0];
      }
      return files.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async open(name) {
      const found = await request("HEAD", path(name), {}, [404]);
      if (found.status === 404) return null;
      return openObject(request, name, path(name), Number(found.headers.get("content-length")));
    },
    create: async (name) => new S3Upload(request, path(name)),
  };
}

/** A response that was read to its end. None is large: a part of a file, or a page of names. */
interface WholeResponse {
  status: number;
  headers: Headers;
  bytes: ArrayBuffer;
}

interface RequestOptions {
  body?: Uint8Array | string;
  range?: string;
  /** Asked before each try; throws if it may not be made. */
  check?: () => void;
}

type SignedRequest = (method: string, path: string, init?: RequestOptions, expected?: number[]) => Promise<WholeResponse>;

/** Repeats what the storage could not do at the moment, also if the connection breaks within the response. */
function signedRequests({ endpoint, bucket, ...credentials }: S3Settings): SignedRequest {
  const client = new AwsClient({ ...credentials, service: "s3", retries: 0 } as ConstructorParameters<typeof AwsClient>[0]);
  const once = async (method: string, path: string, { body, range }: RequestOptions) => {
    const init = {
      method,
      ...(body !== undefined && { body: body as string | Uint8Array<ArrayBuffer> }),
      ...(range && { headers: { range } }),
    };
    const signed = await client.sign(`${endpoint}/${bucket}${path}`, init);
    const response = await fetch(signed, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
    return { ok: response.ok, status: response.status, headers: response.headers, bytes: await response.arrayBuffer() };
  };
  return async (method, path, init = {}, expected = []) => {
    for (let tried = 1; ; tried++) {
      init.check?.();
      try {
        const response = await once(method, path, init);
        if (response.ok || expected.includes(response.status)) return response;
        const why = textOf(response).slice(0, ERROR_TEXT_MAX);
        const failure = new ArchiveUnavailable(`the storage answered ${method} with ${response.status}: ${codeOf(why)}`);
        if (response.status < 500 && response.status !== 429) throw failure;
        if (tried === TRIES) throw failure;
      } catch (error) {
        if (error instanceof ArchiveUnavailable) throw error;
        if (tried === TRIES) throw new ArchiveUnavailable(`the storage cannot be reached: ${reasonOf(error)}`, { cause: error });
      }
      await pause(RETRY_MS * tried);
    }
  };
}

function openObject(request: SignedRequest, name: string, path: string, byteLength: number): ArchivedFile {
  return {
    name,
    byteLength,
    async slice(start, end = byteLength) {
      const { bytes } = await request("GET", path, { range: `bytes=${start}-${end - 1}` });
      if (bytes.byteLength !== end - start) throw new ArchiveUnavailable(`the storage sent ${bytes.byteLength} of ${end - start} bytes`);
      return bytes;
    },
    close: async () => undefined,
  };
}

class S3Upload implements FileUpload {
  readonly #request: SignedRequest;
  readonly #path: string;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Null: everything fits into one request so far. */
  #uploadId: string | null = null;
  readonly #parts: string[] = [];
  #isFinished = false;

  constructor(request: SignedRequest, path: string) {
    this.#request = request;
    this.#path = path;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes.slice());
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= PART_BYTES) await this.#sendPart();
  }

  async finish(check: () => void): Promise<void> {
    if (this.#uploadId === null) await this.#request("PUT", this.#path, { body: Buffer.concat(this.#waiting), check });
    else {
      if (this.#waitingBytes > 0) await this.#sendPart();
      const parts = this.#parts.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
      const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
      const answer = textOf(await this.#request("POST", `${this.#path}?uploadId=${this.#uploadId}`, { body, check }));
      // The storage may find out that it cannot complete the upload after it has begun to answer with 200.
      if (answer.includes("<Error>")) throw new ArchiveUnavailable(`the storage did not complete the upload: ${codeOf(answer)}`);
    }
    this.#isFinished = true;
  }

  async abort(): Promise<void> {
    if (this.#isFinished || this.#uploadId === null) return;
    await this.#request("DELETE", `${this.#path}?uploadId=${this.#uploadId}`, {}, [404]);
    this.#uploadId = null;
  }

  async #sendPart(): Promise<void> {
    if (this.#uploadId === null) {
      const begun = textOf(await this.#request("POST", `${this.#path}?uploads=`));
      const [id] = texts(begun, "UploadId");
      if (id === undefined) throw new ArchiveUnavailable("the storage did not begin an upload in parts");
      this.#uploadId = encodeURIComponent(id);
    }
    const body = Buffer.concat(this.#waiting);
    const query = `partNumber=${this.#parts.length + 1}&uploadId=${this.#uploadId}`;
    const { headers } = await this.#request("PUT", `${this.#path}?${query}`, { body });
    this.#parts.push(headers.get("etag") ?? "");
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

function textOf({ bytes }: WholeResponse): string {
  return new TextDecoder().decode(bytes);
}

/** The names of files are asked for in URL encoding. */
function listedFile(xml: string, root: string): ListedFile {
  const [[key = ""], [etag = null]] = [texts(xml, "Key"), texts(xml, "ETag")];
  return { name: decodeURIComponent(key.replaceAll("+", " ")).slice(root.length), version: etag };
}

/** Of elements with no element of the same name in them. */
function elements(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))].map(([, content = ""]) => content);
}

/** Of elements without markup in them. */
function texts(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"))].map(([, text = ""]) => text);
}

function codeOf(xml: string): string {
  return texts(xml, "Code")[0] ?? "no reason was given";
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
