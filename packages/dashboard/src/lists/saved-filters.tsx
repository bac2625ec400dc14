/** Filters saved in this browser under a name. A filter is a link, so it can be shared. */

import { type FormEvent, useState, useSyncExternalStore } from "react";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { toast } from "../ui/toasts.tsx";

type Search = object;

interface SavedFilter {
  name: string;
  search: Search;
}

interface SavedFiltersProps<Filter extends Search> {
  /** The list they belong to. */
  page: "events" | "runs";
  search: Filter;
  onChoose: (search: Filter) => void;
}

const NAME_UNITS_MAX = 60;
const SAVED_MAX = 30;
const listeners = new Set<() => void>();

export function SavedFilters<Filter extends Search>({ page, search, onChoose }: SavedFiltersProps<Filter>) {
  const saved = useSaved(page);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Menu label="Saved filters" role="dialog" align="right" button={<SavedButton />}>
      {(close) => (
        <>
          {saved.length === 0 && <p className="menu-note quiet">No saved filters in this browser.</p>}
          {saved.map((filter) => (
            <div key={filter.name} className="row menu-row">
              <button
                type="button"
                className="menu-item grow"
                onClick={() => {
                  close();
                  onChoose(filter.search as Filter);
                }}
              >
                <Icon name="filter" size={14} /> <span className="cut">{filter.name}</span>
              </button>
              <button
                type="button"
                className="button bare icon small"
                aria-label={`Remove the filter ${filter.name}`}
                onClick={() =>
                  write(
                    page,
                    saved.filter((other) => other !== filter),
                  )
                }
              >
                <Icon name="x" size={14} />
              </button>
            </div>
          ))}
          <hr />
          <button type="button" className="menu-item" onClick={() => void copyLink().then(close)}>
            <Icon name="copy" /> Copy link to this list
          </button>
          {isFiltered && <SaveForm onSave={(name) => write(page, [{ name, search }, ...saved.filter((other) => other.name !== name)])} />}
        </>
      )}
    </Menu>
  );
}

function SavedButton() {
  return (
    <>
      <Icon name="filter" size={14} /> Saved
    </>
  );
}

function SaveForm({ onSave }: { onSave: (name: string) => void }) {
  const [name, setName] = useState("");
  function onSubmit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === "") return;
    onSave(name.trim());
    setName("");
    toast("ok", `Saved as ${name.trim()}`);
  }
  return (
    <form className="row menu-form" onSubmit={onSubmit}>
      <input
        className="input grow"
        aria-label="Name of the filter"
        placeholder="Save as …"
        maxLength={NAME_UNITS_MAX}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" className="button">
        Save
      </button>
    </form>
  );
}

async function copyLink(): Promise<void> {
  if (await copyText(location.href)) toast("ok", "Link copied");
  else toast("bad", "The browser did not allow copying.");
}

function useSaved(page: string): readonly SavedFilter[] {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(keyOf(page)) ?? "[]",
  );
  return read(text);
}

function keyOf(page: string): string {
  return `inlet.filters.${page}`;
}

/** The browser's storage may contain anything. */
function read(text: string): SavedFilter[] {
  try {
    const found = JSON.parse(text) as SavedFilter[];
    return found.filter(({ name, search }) => typeof name === "string" && typeof search === "object" && search !== null);
  } catch {
    return [];
  }
}

function write(page: string, filters: readonly SavedFilter[]): void {
  localStorage.setItem(keyOf(page), JSON.stringify(filters.slice(0, SAVED_MAX)));
  for (const listener of listeners) listener();
}
