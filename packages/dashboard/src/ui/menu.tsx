/** A button that opens a menu. Arrow keys move; Escape closes and restores the focus. */

import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

interface MenuProps {
  label: string;
  button: ReactNode;
  className?: string;
  align?: "left" | "right";
  /** `dialog` if it contains fields, not only items. */
  role?: "menu" | "dialog";
  children: (close: () => void) => ReactNode;
}

export function Menu({ label, button, className = "button", align = "left", role = "menu", children }: MenuProps) {
  const [open, setOpen] = useState(false);
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
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [open]);

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
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have labels
        <div className={`menu ${align}`} role={role} aria-label={label}>
          {children(close)}
        </div>
      )}
    </div>
  );
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
