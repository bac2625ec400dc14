/** How many approvals are open, in the navigation. Nothing while there is none. */

import { useQuery } from "@tanstack/react-query";
import { openApprovalsQuery } from "../api/approvals.ts";
import { count } from "../ui/numbers.ts";

export function OpenApprovals({ env }: { env: string }) {
  const { data: open = 0 } = useQuery(openApprovalsQuery(env));
  if (open === 0) return null;
  return (
    <span className="nav-count num">
      {count(open)}
      <span className="visually-hidden"> open</span>
    </span>
  );
}
