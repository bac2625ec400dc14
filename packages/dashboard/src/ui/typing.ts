/** Distinguishes shortcut keys from typed text. */

/** Whether a key was pressed in a field, a menu or a dialog, where keys have their own meaning. */
export function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("dialog, [role=menu], [role=dialog]")) return true;
  return target.matches("textarea, select, input:not([type=checkbox])");
}
