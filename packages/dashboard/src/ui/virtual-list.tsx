/**
 * A list of any length that renders only visible rows. Rows are not animated: under load that would cost most of the time. Arrow keys and
 * j and k move the focus between rows, also from outside the list; while a row is open, they open the next one. Enter opens a row, x selects
 * it.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { isTyping } from "./typing.ts";

interface VirtualListProps<Item> {
  items: readonly Item[];
  rowHeight: number;
  idOf: (item: Item) => string;
  row: (item: Item) => ReactNode;
  label: string;
  scroller: RefObject<HTMLDivElement | null>;
  /** Called when the end of the list is near. */
  onEnd?: (() => void) | undefined;
  /** Called with the id of the focused row when x is pressed. */
  onSelect?: (id: string) => void;
  foot?: ReactNode;
}

const ROWS_AHEAD = 15;

export function VirtualList<Item>({ items, rowHeight, idOf, row, label, scroller, onEnd, onSelect, foot }: VirtualListProps<Item>) {
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => idOf(items[index] as Item),
    overscan: 10,
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  const list = useRef<HTMLDivElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when the row height changes
  useEffect(() => virtualizer.measure(), [rowHeight]);
  useEffect(() => {
    if (onEnd && last >= items.length - ROWS_AHEAD) onEnd();
  }, [last, items.length, onEnd]);
  useRowKeys(list, onSelect);

  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: table rows cannot be positioned absolutely */}
      <div ref={list} role="list" aria-label={label} className="virtual" style={{ height: virtualizer.getTotalSize() }}>
        {rows.map(({ key, index, start }) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          <div
            key={key as string}
            role="listitem"
            className="virtual-row"
            data-id={key as string}
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

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

function useRowKeys(list: RefObject<HTMLDivElement | null>, onSelect: ((id: string) => void) | undefined): void {
  const select = useRef(onSelect);
  select.current = onSelect;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const focused = document.activeElement?.closest<HTMLElement>("[data-id]");
      if (event.key === "x" && focused?.dataset.id && list.current?.contains(focused)) select.current?.(focused.dataset.id);
      const by = MOVES[event.key];
      if (by !== undefined && moveFocus(list.current, by)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [list]);
}

/** If a row is open, the next one is opened. From outside the list, the first key focuses the first row in view. */
function moveFocus(list: HTMLElement | null, by: number): boolean {
  if (!list) return false;
  // Rows are in the document in rendering order, which may differ from their list order.
  const links = [...list.querySelectorAll<HTMLElement>("[data-id] a")].sort((a, b) => topOf(a) - topOf(b));
  const at = links.indexOf(document.activeElement as HTMLElement);
  const current = links.find((link) => link.getAttribute("aria-current") === "page");
  const from = current ? links.indexOf(current) : at;
  const next = from < 0 ? links.find((link) => topOf(link) >= topOf(list.parentElement)) : links[from + by];
  next?.focus();
  if (current) next?.click();
  return next !== undefined;
}

function topOf(element: Element | null): number {
  return element?.getBoundingClientRect().top ?? 0;
}
