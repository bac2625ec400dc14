/** A table of things: its headings, in the order of their columns, around the rows. */

import type { ReactNode } from "react";

export interface Column {
  title: string;
  /** Numbers stand to the right. */
  isNumber?: boolean;
  /** Read out, not shown. */
  isHidden?: boolean;
  /** Where tables stand one below the other, so that their columns do too. */
  width?: string;
}

/** The last column of rows that can be changed. */
export const ACTIONS: Column = { title: "Actions", isHidden: true };

interface TableProps {
  /** A title alone is a column without peculiarities. */
  columns: readonly (string | Column)[];
  /** Inside a card, which has a frame already. */
  isFramed?: boolean;
  children: ReactNode;
}

export function Table({ columns, isFramed = false, children }: TableProps) {
  return (
    <div className={isFramed ? "scroll-x" : "table-wrap"}>
      <table className="table">
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
