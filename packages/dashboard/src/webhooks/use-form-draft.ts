/**
 * The fields of a form: what the user changed, and for the rest what is saved. So a change that is saved elsewhere, by another form or another
 * user, leaves what was typed. It is not undone by the next save, as long as that sends only what was changed: what is saved may be known
 * here from an earlier load.
 */

import { useState } from "react";

interface FormDraft<Fields> {
  draft: Fields;
  /** The fields that the user changed. */
  changed: Partial<Fields>;
  change(changes: Partial<Fields>): void;
  /** When the form was saved. */
  reset(): void;
}

export function useFormDraft<Fields extends object>(saved: Fields): FormDraft<Fields> {
  const [changed, setChanged] = useState<Partial<Fields>>({});
  return {
    draft: { ...saved, ...changed },
    changed,
    change: (changes) => setChanged((before) => ({ ...before, ...changes })),
    reset: () => setChanged({}),
  };
}
