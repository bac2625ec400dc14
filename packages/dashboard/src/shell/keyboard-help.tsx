/** The keyboard shortcuts, opened by `?`. */

import { Dialog } from "../ui/dialog.tsx";
import { PAGES } from "./navigation.ts";

const SHORTCUTS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [["Ctrl K"], "Go to a page, function, event type or environment, or run an action"],
  [["/"], "Find an event, run, job, request or dedup id, or text in payloads"],
  [["j", "↓"], "Next row of a list; next event, if one is open"],
  [["k", "↑"], "Previous row of a list; previous event, if one is open"],
  [["Enter"], "Open the row"],
  [["x"], "Select the run"],
  [["Esc"], "Close the open panel or dialog"],
  [["?"], "Show this help"],
  ...PAGES.map(({ key, label }) => [[`g ${key}`], `Go to ${label}`] as const),
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
