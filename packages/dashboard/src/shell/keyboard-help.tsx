/** The keyboard shortcuts, opened by `?`. */

import { Dialog } from "../ui/dialog.tsx";

const SHORTCUTS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [["Ctrl K"], "Go to a page, function, event type or environment, or run an action"],
  [["/"], "Find an event, run, job, request or dedup id, or text in payloads"],
  [["j", "↓"], "Next row of a list"],
  [["k", "↑"], "Previous row of a list"],
  [["Enter"], "Open the row"],
  [["x"], "Select the run"],
  [["Esc"], "Close the open panel or dialog"],
  [["?"], "Show this help"],
];

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="facts">
        {SHORTCUTS.map(([keys, meaning]) => (
          <div key={meaning} className="shortcut">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
