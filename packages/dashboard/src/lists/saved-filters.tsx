/** Filters saved on the server under a name, for everybody who may see the environment. A filter is a link, so it can be shared. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { reload } from "../api/reload.ts";
import { type FilteredList, removeFilter, type SavedFilter, savedFiltersQuery, saveFilter } from "../api/saved-filters.ts";
import { useMayRepair } from "../api/session.ts";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { messageOf } from "../ui/states.tsx";
import { toast, withToast } from "../ui/toasts.tsx";

interface SavedFiltersProps<Filter extends object> {
  env: string;
  /** The list they belong to. */
  page: FilteredList;
  search: Filter;
  onChoose: (search: Filter) => void;
}

const NAME_UNITS_MAX = 60;

export function SavedFilters<Filter extends object>(props: SavedFiltersProps<Filter>) {
  return (
    <Menu label="Saved filters" role="dialog" align="right" button={<SavedButton />}>
      {(close) => <SavedMenu {...props} close={close} />}
    </Menu>
  );
}

/** Loaded when the menu is opened. */
function SavedMenu<Filter extends object>({ env, page, search, onChoose, close }: SavedFiltersProps<Filter> & { close: () => void }) {
  const { data: saved, error } = useQuery(savedFiltersQuery(env, page));
  const queries = useQueryClient();
  const mayRepair = useMayRepair();
  const refresh = () => reload(queries, savedFiltersQuery(env, page).queryKey);
  const choose = (filter: SavedFilter) => {
    close();
    onChoose(filter.search as Filter);
  };
  const save = (name: string) =>
    withToast(saveFilter(env, { list: page, name, search: search as Record<string, unknown> }), `Saved as ${name}`).then(refresh);
  return (
    <>
      {error ? (
        <p className="menu-note quiet">The saved filters could not be loaded: {messageOf(error)}</p>
      ) : saved === undefined ? (
        <p className="menu-note quiet">Loading…</p>
      ) : (
        saved.length === 0 && <p className="menu-note quiet">No saved filters in this environment.</p>
      )}
      {saved?.map((filter) => (
        <div key={filter.name} className="row menu-row">
          <button type="button" className="menu-item grow" title={`Saved by ${filter.savedBy}`} onClick={() => choose(filter)}>
            <Icon name="filter" size={14} /> <span className="cut">{filter.name}</span>
          </button>
          {mayRepair && (
            <button
              type="button"
              className="button bare icon small"
              aria-label={`Remove the filter ${filter.name}`}
              onClick={() => void withToast(removeFilter(env, filter), `${filter.name} removed.`).then(refresh)}
            >
              <Icon name="x" size={14} />
            </button>
          )}
        </div>
      ))}
      <hr />
      <button type="button" className="menu-item" onClick={() => void copyLink().then(close)}>
        <Icon name="copy" /> Copy link to this list
      </button>
      {mayRepair && Object.keys(search).length > 0 && <SaveForm onSave={save} />}
    </>
  );
}

function SavedButton() {
  return (
    <>
      <Icon name="filter" size={14} /> Saved
    </>
  );
}

function SaveForm({ onSave }: { onSave: (name: string) => Promise<unknown> }) {
  const [name, setName] = useState("");
  function onSubmit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === "") return;
    void onSave(name.trim());
    setName("");
  }
  return (
    <form className="row menu-form" onSubmit={onSubmit}>
      <input
        className="input grow"
        aria-label="Name of the filter"
        placeholder="Save for everybody as …"
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
