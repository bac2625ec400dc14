/** Where a page stands: the list it belongs to, as the way back, and itself. */

import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

export function Crumbs({ back, children }: { back: ReactNode; children: ReactNode }) {
  return (
    <nav className="crumbs" aria-label="Way back">
      {back}
      <Icon name="chevronRight" size={14} /> {children}
    </nav>
  );
}
