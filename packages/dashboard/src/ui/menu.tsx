/** A button that opens a menu. Arrow keys move; Escape closes and restores the focus. */

import { type CSSProperties, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

interface MenuProps {
  label: string;
  button: ReactNode;
  className?: string;
  align?: "left" | "right";
  /** `dialog` if it contains fields, not only items. */
  role?: "menu" | "dialog";
  /** Inside a table, whose edges would cut the menu off: it is laid over the page instead. */
  isInTable?: boolean;
  children: (close: () => void) => ReactNode;
}

export function Menu({ label, button, className = "button", align = "left", role = "menu", isInTable = false, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const [over, setOver] = useState<CSSProperties>();
  const container = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    container.current?.querySelector("button")?.focus();
  };

  useEffect(() => {
    if (!open) return;
    items(container.current)[0]?.focus();
    const onPointer = ({ target }: PointerEvent) => {
      if (!container.current?.contains(target as Node)) setOpen(false);
    };
    const onScroll = () => setOpen(false);
    document.addEventListener("pointerdown", onPointer);
    if (isInTable) document.addEventListener("scroll", onScroll, { capture: true });
    return () => {
      document.removeEventListener("pointerdown", onPointer);
      document.removeEventListener("scroll", onScroll, { capture: true });
    };
  }, [open, isInTable]);

  function onKeyDown(event: KeyboardEvent) {
    if (!open) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") move(container.current, event.key === "ArrowDown" ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys are handled for the menu inside
    <div ref={container} className="menu-anchor" onKeyDown={onKeyDown}>
      <button
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup={role}
        aria-expanded={open}
        onClick={({ currentTarget }) => {
          if (isInTable) setOver(besideButton(currentTarget));
          setOpen(!open);
        }}
      >
        {button}
      </button>
      {open && (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have labels
        <div className={`menu ${align}`} role={role} aria-label={label} style={over}>
          {children(close)}
        </div>
      )}
    </div>
  );
}

const GAP_PX = 5;

/** Below the button, or above it in the lower half of the window; aligned with its right edge. */
function besideButton(button: HTMLElement): CSSProperties {
  const { top, bottom, right } = button.getBoundingClientRect();
  const isLow = bottom > innerHeight / 2;
  return {
    position: "fixed",
    left: "auto",
    right: innerWidth - right,
    ...(isLow ? { top: "auto", bottom: innerHeight - top + GAP_PX } : { top: bottom + GAP_PX }),
  };
}

export function MenuItem({ onSelect, className = "", children }: { onSelect: () => void; className?: string; children: ReactNode }) {
  return (
    <button type="button" role="menuitem" className={`menu-item ${className}`} onClick={onSelect}>
      {children}
    </button>
  );
}

function items(container: HTMLElement | null): HTMLElement[] {
  return [
    ...(container?.querySelectorAll<HTMLElement>(
      '[role="menu"] [role^="menuitem"], [role="menu"] input, [role="dialog"] :is(button, input)',
    ) ?? []),
  ];
}

function move(container: HTMLElement | null, by: number): void {
  const all = items(container);
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + by + all.length) % all.length]?.focus();
}
