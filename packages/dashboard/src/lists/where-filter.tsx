/** A filter by an expression over payload fields, such as `data.amount > 100`. */

import { TypedFilter } from "./typed-filter.tsx";

export function WhereFilter({ value, onChange }: { value: string | undefined; onChange: (where: string) => void }) {
  return (
    <TypedFilter label="Expression over the payload" placeholder="where, e.g. data.total > 100" value={value} onChange={onChange} isLong />
  );
}
