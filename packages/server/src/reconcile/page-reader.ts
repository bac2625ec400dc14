/**
 * How one page of what a provider lists is asked for and read: by a preset, or by the two functions of the user's source in the sandbox.
 * A fault is an Error whose message may be shown.
 */

import type { Webhook } from "../store/contract/index.ts";

/** The part of the list that a pass asks for. */
export interface ListRange {
  /** Times in ISO 8601. */
  since: string;
  until: string;
}

/** Where the next page begins: any JSON value that `read` returned; undefined: with the first. */
export type PageCursor = unknown;

export interface PageRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  /** A redirect is for the reader; absent: it is followed. */
  returnsRedirects?: true;
}

export interface PageResponse {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface ReadPage {
  /** As returned: readItem checks each. */
  items: readonly unknown[];
  /** Undefined: this was the last page. */
  cursor?: PageCursor;
  /** Items of which the provider lists no body: each has to be asked for, unless an event with its id is stored. */
  references?: readonly ItemReference[];
}

/** An item that is listed without its body. */
export interface ItemReference {
  /** The id that the event of such an item has, as the catalogue's transform makes it. */
  id: string;
  /** With which cursor its body is asked for. */
  cursor?: PageCursor;
  /** Why there is no body to ask for. */
  fault?: string;
}

/** A token that expires, for APIs that want one: pages are asked for with it in place of the secrets. */
export interface SignIn {
  request(secrets: readonly string[]): PageRequest;
  read(response: PageResponse): { token: string; expiresInSeconds: number };
}

export interface PageReader {
  signIn?: SignIn;
  request(params: ListRange & { cursor: PageCursor; secrets: readonly string[] }): Promise<PageRequest> | PageRequest;
  read(params: PageResponse & ListRange & { cursor: PageCursor }): Promise<ReadPage> | ReadPage;
}

/** The part of a webhook that says how its provider is asked. */
export type ReconcilingWebhook = Pick<Webhook, "id" | "environmentId" | "reconcile" | "secrets">;
