/**
 * One page of a pass over what a provider lists. A pass ends with the last page, with the first page that fails, or after 1,000 pages;
 * what was listed before is worked on in any case. The state between two pages is a text, which the job of the pass keeps.
 */

import { withoutSecrets } from "@inlet/protocol";
import { type AskPageParts, askPage, Stopped } from "./ask-page.ts";
import { itemWithFault, type ListedItem, readItem } from "./listed-item.ts";
import type { ItemReference, ListRange, PageCursor, PageReader, ReconcilingWebhook } from "./page-reader.ts";
import type { PageTokens } from "./page-tokens.ts";
import { presetReader } from "./presets/presets.ts";
import { type SourceRunner, sourceReader } from "./source-reader.ts";

export interface ListPageParts extends AskPageParts {
  runner: SourceRunner;
  tokens: PageTokens;
  /** Whether an event with this id is stored, for items that are listed without their bodies. */
  isStored(webhook: ReconcilingWebhook, eventId: string): Promise<boolean>;
}

export interface ListedPage {
  items: ListedItem[];
  /** Items that are known without their bodies. */
  seen: number;
  /** Null: the pass has listed everything, or ends here. */
  next: string | null;
  /** Why it ends before its end. */
  error?: string;
}

/** Where a pass is. */
interface Progress {
  pages: number;
  /** Of the settings that the pass began with: a cursor is good for these only. */
  setAt: number;
  cursor?: PageCursor;
  /** The cursor of the list, while single items are asked for. */
  waiting?: { items: ItemReference[]; cursor?: PageCursor } | undefined;
}

export const PAGES_MAX = 1_000;
const CURSOR_UNITS_MAX = 65_536;
const MESSAGE_UNITS_MAX = 1_000;

/** `state`: what the page before returned as `next`; null for the first. Throws only if the service stops. */
export async function listPage(
  parts: ListPageParts,
  webhook: ReconcilingWebhook,
  range: ListRange,
  state: string | null,
  stopping: AbortSignal,
): Promise<ListedPage> {
  const { reconcile } = webhook;
  if (!reconcile) return ended("The webhook's reconcile was taken away.");
  const before = state === null ? { pages: 0, setAt: reconcile.setAt } : (JSON.parse(state) as Progress);
  if (before.setAt !== reconcile.setAt) return ended("The webhook's reconcile was changed.");
  try {
    return await readOne(parts, webhook, range, before, stopping);
  } catch (error) {
    if (error instanceof Stopped || stopping.aborted) throw error;
    const secrets = [...webhook.secrets.reconcile, ...parts.tokens.drop(webhook)];
    return ended(withoutSecrets((error as Error).message, secrets, MESSAGE_UNITS_MAX));
  }
}

async function readOne(
  parts: ListPageParts,
  webhook: ReconcilingWebhook,
  range: ListRange,
  before: Progress,
  stopping: AbortSignal,
): Promise<ListedPage> {
  const reader = readerOf(parts, webhook);
  const single = before.waiting?.items[0];
  const cursor = single ? single.cursor : before.cursor;
  const secrets = reader.signIn ? [await parts.tokens.get(parts, webhook, reader.signIn, stopping)] : webhook.secrets.reconcile;
  const request = await reader.request({ ...range, cursor, secrets });
  const response = await askPage(parts, request, stopping);
  const page = await reader.read({ ...response, ...range, cursor });
  const unknown: ItemReference[] = [];
  for (const reference of page.references ?? []) if (!(await parts.isStored(webhook, reference.id))) unknown.push(reference);
  const seen = (page.references?.length ?? 0) - unknown.length;
  const lost = unknown.flatMap(({ id, fault }) => (fault === undefined ? [] : [itemWithFault(id, fault)]));
  const waiting = unknown.filter(({ fault }) => fault === undefined);
  const after = single ? advanced(before) : { ...before, ...following(waiting, page.cursor) };
  return { items: [...page.items.map(readItem), ...lost], seen, ...nextOf({ ...after, pages: before.pages + 1 }) };
}

/** After the body of one item. */
function advanced({ waiting, ...before }: Progress): Progress {
  const items = waiting?.items.slice(1) ?? [];
  const { cursor: _, ...rest } = before;
  return { ...rest, ...following(items, waiting?.cursor) };
}

/** The bodies of single items come before the next page. */
function following(items: ItemReference[], cursor: PageCursor): Pick<Progress, "cursor" | "waiting"> {
  return items.length > 0 ? { cursor: undefined, waiting: { items, cursor } } : { cursor, waiting: undefined };
}

function nextOf(progress: Progress): Pick<ListedPage, "next" | "error"> {
  if (progress.cursor === undefined && !progress.waiting) return { next: null };
  if (progress.pages >= PAGES_MAX) return { next: null, error: `The list has more than ${PAGES_MAX.toLocaleString("en")} pages.` };
  const next = JSON.stringify(progress);
  return next.length > CURSOR_UNITS_MAX ? { next: null, error: "The cursor of the list is too large." } : { next };
}

function readerOf({ runner }: ListPageParts, webhook: ReconcilingWebhook): PageReader {
  const { preset, source, options } = webhook.reconcile as NonNullable<ReconcilingWebhook["reconcile"]>;
  if (source !== undefined) return sourceReader(runner, webhook, source);
  return presetReader(preset ?? "", options);
}

function ended(error: string): ListedPage {
  return { items: [], seen: 0, next: null, error };
}
