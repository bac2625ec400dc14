/** The palette, opened by Ctrl-K: type to find a page, function, event type, environment or action, or to find an id. */

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { messageOf } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";
import { matching, type PaletteEntry, useFind, usePaletteEntries } from "./palette-entries.ts";

interface PaletteProps {
  env: string;
  onClose: () => void;
  onHelp: () => void;
}

export function Palette({ env, onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const find = useFind(env);
  const shown = matching(usePaletteEntries(env, onHelp), text, (wanted) => {
    void find(wanted).catch((error) => toast("bad", messageOf(error)));
  });
  const chosen = shown[Math.min(at, shown.length - 1)];
  const choose = (entry: PaletteEntry | undefined) => {
    onClose();
    entry?.act();
  };
  function onKeyDown(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setAt((before) => Math.max(0, Math.min(shown.length - 1, before + by)));
    else if (event.key === "Enter") choose(chosen);
    else return;
    event.preventDefault();
  }
  return (
    <Dialog title="Command palette" onClose={onClose}>
      <input
        className="input palette-input"
        role="combobox"
        aria-label="Page, function, event type, environment, action or id"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={chosen ? `palette ${chosen.id}`.replaceAll(" ", "-") : undefined}
        placeholder="Page, function, event type, environment, action or id"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" className="palette-list" role="listbox" aria-label="Matches">
        {shown.map((entry) => (
          <PaletteRow key={entry.id} entry={entry} isChosen={entry === chosen} onChoose={() => choose(entry)} />
        ))}
      </div>
    </Dialog>
  );
}

function PaletteRow({ entry, isChosen, onChoose }: { entry: PaletteEntry; isChosen: boolean; onChoose: () => void }) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    <div
      ref={row}
      id={`palette ${entry.id}`.replaceAll(" ", "-")}
      role="option"
      aria-selected={isChosen}
      className="menu-item"
      onClick={onChoose}
    >
      <Icon name={entry.icon} />
      <span className="cut grow">{entry.label}</span>
      <span className="quiet small">{entry.kind}</span>
    </div>
  );
}
