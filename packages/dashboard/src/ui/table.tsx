/** A table: column headings and rows. */

import type { ReactNode } from "react";

export interface Column {
  title: string;
  /** Aligns numbers to the right. */
  isNumber?: boolean;
  /** For screen readers only. */
  isHidden?: boolean;
  /** Fixed width, to align the columns of several tables. */
  width?: string;
}

/** The last column of rows with actions. */
export const ACTIONS: Column = { title: "Actions", isHidden: true };

interface TableProps {
  /** A string is a column with default options. */
  columns: readonly (string | Column)[];
  /** Inside a card, which already has a border. */
  isFramed?: boolean;
  /** On a phone, each row is a block, and cells have their `data-label` before them. */
  isStacked?: boolean;
  children: ReactNode;
}

export function Table({ columns, isFramed = false, isStacked = false, children }: TableProps) {
  return (
    <div className={isFramed ? "scroll-x" : "table-wrap"}>
      <table className={isStacked ? "table stacked" : "table"}>
        <thead>
          <tr>{columns.map((column) => heading(typeof column === "string" ? { title: column } : column))}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function heading({ title, isNumber = false, isHidden = false, width }: Column) {
  return (
    <th key={title} className={isNumber ? "right" : undefined} style={{ width }}>
      {isHidden ? <span className="visually-hidden">{title}</span> : title}
    </th>
  );
}
