/** Selects a function, for filters. */

import { useQuery } from "@tanstack/react-query";
import { functionsQuery } from "../api/queries.ts";

export function FunctionFilter({ env, value, onChange }: { env: string; value: string | undefined; onChange: (id: string) => void }) {
  const { data: functions = [] } = useQuery({ ...functionsQuery(env), retry: false });
  const known = functions.some(({ id }) => id === value);
  return (
    <select className="input" aria-label="Function" value={value ?? ""} onChange={({ target }) => onChange(target.value)}>
      <option value="">Any function</option>
      {value && !known && <option value={value}>{value}</option>}
      {functions.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
