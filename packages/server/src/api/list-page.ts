/**
 * One page of a list that is in memory, such as apps or keys, newest first.
 *
 * A cursor identifies the last item of its page by its sort position, not by its index: items that are added or removed between two
 * pages neither repeat nor hide others.
 */

import { wrongCursor } from "./cursors.ts";

export interface PageQuery {
  limit: number;
  cursor?: string;
}

/** The sort position of an item: a higher number comes first; ids break ties. */
export interface Position {
  rank: number;
  id?: string;
}

export function cutPage<Item>(items: readonly Item[], positionOf: (item: Item) => Position, { limit, cursor }: PageQuery) {
  const ordered = items.map((item) => ({ item, position: positionOf(item) })).sort((a, b) => compare(a.position, b.position));
  const last = cursor === undefined ? null : readPosition(cursor);
  const rest = last === null ? ordered : ordered.filter(({ position }) => compare(position, last) > 0);
  const page = rest.slice(0, limit);
  const end = rest.length > limit ? page.at(-1) : undefined;
  return { items: page.map(({ item }) => item), next: end ? writePosition(end.position) : null };
}

function compare(a: Position, b: Position): number {
  if (a.rank !== b.rank) return b.rank - a.rank;
  const [left, right] = [a.id ?? "", b.id ?? ""];
  if (left === right) return 0;
  return left < right ? 1 : -1;
}

function writePosition({ rank, id = "" }: Position): string {
  return `${rank.toString(36)}.${id}`;
}

function readPosition(cursor: string): Position {
  const [, rank = "", id = ""] = /^(-?[0-9a-z]{1,11})\.([\w-]{0,64})$/.exec(cursor) ?? [];
  if (rank === "") throw wrongCursor();
  return { rank: Number.parseInt(rank, 36), id };
}
