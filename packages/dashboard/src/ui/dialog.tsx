/** Dialogs, based on the browser's dialog element, which traps the focus and closes on Escape. They open with the focus in their first field. */

import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon } from "./icon.tsx";
import { messageOf, Notice } from "./states.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      focusFirst(dialog);
    }
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={`dialog${wide ? " wide" : ""}`}
      tabIndex={-1}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="button bare icon" aria-label="Close" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}

const FIELDS = ["input", "select", "textarea"].map((element) => `.dialog-body ${element}:not(:disabled)`).join();

/**
 * The browser would focus the first element, which closes the dialog. The focus goes to the first field; without one to the first
 * button below, which is Cancel; else to the dialog itself.
 */
function focusFirst(dialog: HTMLDialogElement): void {
  const field = dialog.querySelector<HTMLElement>(FIELDS);
  const first = field ?? dialog.querySelector<HTMLElement>(".dialog-foot button") ?? dialog;
  first.focus();
  // Typing replaces a default.
  if (first instanceof HTMLInputElement) first.select();
}

interface FormDialogProps extends DialogProps {
  submit: string;
  danger?: boolean;
  /** The action is not available yet. */
  disabled?: boolean;
  onSubmit: () => Promise<unknown>;
}

/** A dialog with one action. On failure, it stays open and shows the error. */
export function FormDialog({ submit, danger = false, disabled = false, onSubmit, children, ...dialog }: FormDialogProps) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  async function onForm(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await onSubmit();
    } catch (reason) {
      setError(reason);
    }
    setBusy(false);
  }
  return (
    <Dialog {...dialog}>
      <form className="stack" onSubmit={onForm}>
        {children}
        {error !== null && (
          <Notice kind="bad" icon="alert">
            {messageOf(error)}
          </Notice>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={dialog.onClose}>
            Cancel
          </button>
          <button type="submit" className={`button ${danger ? "danger" : "primary"}`} disabled={busy || disabled}>
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
