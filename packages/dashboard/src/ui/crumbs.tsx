/** Breadcrumbs: a link to the list, as it was left, and the current page. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { expectReturn, keptSearch } from "../lists/kept-position.ts";
import { Icon } from "./icon.tsx";

interface CrumbsProps {
  env: string;
  /** The list, and its title. */
  to: "/env/$env/event-types" | "/env/$env/jobs" | "/env/$env/functions" | "/env/$env/runs" | "/env/$env/webhooks";
  list: string;
  children: ReactNode;
}

export function Crumbs({ env, to, list, children }: CrumbsProps) {
  return (
    <nav className="crumbs" aria-label="Breadcrumbs">
      <Link to={to} params={{ env }} search={keptSearch(to, env)} onClick={expectReturn}>
        {list}
      </Link>
      <Icon name="chevronRight" size={14} /> {children}
    </nav>
  );
}

/** Leads from something that does not exist to the list of its kind. */
export function LeadTo({ env, to, list }: Pick<CrumbsProps, "env" | "to" | "list">) {
  return (
    <Link to={to} params={{ env }} className="button">
      Go to {list}
    </Link>
  );
}
