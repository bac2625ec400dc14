/** Breadcrumbs: a link to the list, and the current page. */

import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

export function Crumbs({ back, children }: { back: ReactNode; children: ReactNode }) {
  return (
    <nav className="crumbs" aria-label="Breadcrumbs">
      {back}
      <Icon name="chevronRight" size={14} /> {children}
    </nav>
  );
}
