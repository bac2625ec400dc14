/** One row of a list of facts (`dl.facts`). */

import type { ReactNode } from "react";

interface FactProps {
  label: string;
  /** What the label means. */
  hint?: string;
  className?: string;
  children: ReactNode;
}

export function Fact({ label, hint, className, children }: FactProps) {
  return (
    <>
      <dt title={hint}>{label}</dt>
      <dd className={className}>{children}</dd>
    </>
  );
}
