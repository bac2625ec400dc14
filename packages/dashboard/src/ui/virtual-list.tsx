/**
 * A list of any length that renders only visible rows. Rows move smoothly when others are inserted above. Arrow keys
 * move the focus between rows.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect } from "react";

interface VirtualListProps<Item> {
  items: readonly Item[];
  rowHeight: number;
  idOf: (item: Item) => string;
  row: (item: Item) => ReactNode;
  label: string;
  scroller: RefObject<HTMLDivElement | null>;
  /** Called when the end of the list is near. */
  onEnd?: (() => void) | undefined;
  foot?: ReactNode;
}

const ROWS_AHEAD = 15;

export function VirtualList<Item>({ items, rowHeight, idOf, row, label, scroller, onEnd, foot }: VirtualListProps<Item>) {
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => idOf(items[index] as Item),
    overscan: 10,
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;

  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when the row height changes
  useEffect(() => virtualizer.measure(), [rowHeight]);
  useEffect(() => {
    if (onEnd && last >= items.length - ROWS_AHEAD) onEnd();
  }, [last, items.length, onEnd]);

  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: table rows cannot be positioned absolutely */}
      <div role="list" aria-label={label} className="virtual" style={{ height: virtualizer.getTotalSize() }} onKeyDown={moveByArrow}>
        {rows.map(({ key, index, start }) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          <div
            key={key as string}
            role="listitem"
            className="virtual-row"
            style={{ height: rowHeight, transform: `translateY(${start}px)` }}
          >
            {row(items[index] as Item)}
          </div>
        ))}
      </div>
      {foot}
    </>
  );
}

function moveByArrow(event: KeyboardEvent<HTMLDivElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a")];
  const next = links[links.indexOf(document.activeElement as HTMLElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
