/** Toasts: short messages about the result of an action. */

import { useSyncExternalStore } from "react";
import { Icon } from "./icon.tsx";
import { messageOf } from "./states.tsx";

interface Toast {
  id: number;
  kind: "ok" | "bad";
  text: string;
}

const SHOWN_MS = { ok: 5_000, bad: 12_000 };

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(kind: Toast["kind"], text: string): void {
  const id = ++lastId;
  change([...toasts.slice(-3), { id, kind, text }]);
  setTimeout(() => dismiss(id), SHOWN_MS[kind]);
}

/** Runs an action and shows its result. */
export async function withToast<Result>(work: Promise<Result>, done: string | ((result: Result) => string)): Promise<Result | undefined> {
  try {
    const result = await work;
    toast("ok", typeof done === "string" ? done : done(result));
    return result;
  } catch (error) {
    toast("bad", messageOf(error));
    return undefined;
  }
}

function dismiss(id: number): void {
  change(toasts.filter((one) => one.id !== id));
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <div key={id} className={`toast ${kind}`}>
          <Icon name={kind === "ok" ? "checkCircle" : "alert"} />
          <span className="grow">{text}</span>
          <button type="button" className="button bare icon small" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="x" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
