/** The databases that hold the environments: list, and a form to add one. Shown to people whose role holds everywhere. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { databasesQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useIsPostgres, useIsUnrestricted } from "../api/session.ts";
import type { Database } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Icon } from "../ui/icon.tsx";
import { bytes } from "../ui/numbers.ts";
import { ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { toast } from "../ui/toasts.tsx";

/** The database that the service was started with. */
export const DIRECTORY = "directory";

/** None while they are unknown, and for people who may not see them. */
export function useDatabases(): Database[] {
  return useQuery({ ...databasesQuery, enabled: useIsUnrestricted() }).data ?? [];
}

export function DatabasesSection({ mayChange }: { mayChange: boolean }) {
  const isUnrestricted = useIsUnrestricted();
  const { data, error, refetch } = useQuery({ ...databasesQuery, enabled: isUnrestricted });
  const [isAdding, setAdding] = useState(false);
  const isPostgres = useIsPostgres();
  if (!isUnrestricted) return null;
  const away = data?.filter(({ reachable }) => !reachable) ?? [];
  return (
    <section className="stack" aria-label="Databases">
      <div className="row">
        <h2 className="grow">Databases</h2>
        {mayChange && isPostgres && (
          <button type="button" className="button small" onClick={() => setAdding(true)}>
            <Icon name="plus" /> Add database
          </button>
        )}
      </div>
      {away.map(({ name, environments }) => (
        <Notice key={name} kind="bad" icon="alert">
          {name} cannot be reached. {environments.length > 0 ? `Requests for ${environments.join(", ")} are refused until it can.` : ""}
        </Notice>
      ))}
      {isUnavailable(error, data) ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <DatabaseTable databases={data} />
      ) : (
        <SkeletonRows rows={1} />
      )}
      {data?.length === 1 && (
        <p className="quiet small">
          {isPostgres
            ? "All environments are on one database. Add another to place some of them on it."
            : "All environments are in the embedded database. Placing some of them on a database of their own needs PostgreSQL as the store."}
        </p>
      )}
      {isAdding && <AddDatabase onClose={() => setAdding(false)} />}
    </section>
  );
}

function DatabaseTable({ databases }: { databases: Database[] }) {
  return (
    <Table columns={["Name", "State", "Size", "Environments"]} isStacked>
      {databases.map(({ name, reachable, bytes: size, environments }) => (
        <tr key={name}>
          <td className="strong">{name}</td>
          <td data-label="State">
            <span className={reachable ? "badge ok" : "badge bad"}>
              <Icon name={reachable ? "checkCircle" : "xCircle"} size={13} /> {reachable ? "Reachable" : "Unreachable"}
            </span>
          </td>
          <td data-label="Size" className="second num">
            {size === null ? "unknown" : bytes(size)}
          </td>
          <td data-label="Environments" className="second long">
            {environments.length === 0 ? "none yet" : environments.join(", ")}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function AddDatabase({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const queries = useQueryClient();
  async function add() {
    await call("/databases", { method: "POST", body: { name: name.trim(), url: url.trim() } });
    await reload(queries, ["databases"]);
    toast("ok", `${name.trim()} added. Environments can be placed on it.`);
    onClose();
  }
  return (
    <FormDialog title="Add a database" submit="Add" onClose={onClose} onSubmit={add}>
      <TextField label="Name" className="mono" required value={name} placeholder="eu" hint="Letters, digits and . _ -" onChange={setName} />
      <TextField
        label="URL"
        className="mono"
        type="password"
        autoComplete="off"
        required
        value={url}
        placeholder="postgres://user:password@host:5432/database"
        hint="An empty PostgreSQL database that every node can reach. Encrypted at rest, and never shown again."
        onChange={setUrl}
      />
    </FormDialog>
  );
}

interface DatabaseFieldProps {
  label: string;
  databases: Database[];
  value: string;
  onChange: (name: string) => void;
}

export function DatabaseField({ databases, ...field }: DatabaseFieldProps) {
  const options = databases.map(({ name, reachable }) => ({
    value: name,
    text: reachable ? name : `${name} (unreachable)`,
    disabled: !reachable,
  }));
  return <SelectField {...field} options={options} />;
}
