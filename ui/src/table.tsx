// A table that is given its columns as data: any page can show records of its own with it.

import type { ComponentChildren } from "preact";
import { Scroll } from "./parts";

export interface Column<Row> {
  key: string;
  head: ComponentChildren;
  cell: (row: Row, index: number) => ComponentChildren;
  number?: boolean;
  wrap?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey?: (row: Row, index: number) => string | number;
  className?: string;
}

function classOf<Row>(column: Column<Row>): string | undefined {
  const names = [column.number ? "number" : "", column.wrap ? "wrap" : ""].filter(Boolean);
  return names.length > 0 ? names.join(" ") : undefined;
}

/** The head of a column as text, which a narrow screen shows before each cell; none for a head that is an element. */
function labelOf<Row>(column: Column<Row>): string | undefined {
  return typeof column.head === "string" ? column.head : undefined;
}

/** A table in a region that scrolls, of cards on a narrow screen; the cells of the first column are the headers of their rows. */
export function DataTable<Row>({ label, columns, rows, rowKey, className }: TableProps<Row>) {
  return (
    <Scroll label={label}>
      <table class={`cards ${className ?? ""}`.trimEnd()} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th scope="col" role="columnheader" class={column.number ? "number" : undefined} key={column.key}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr role="row" key={rowKey?.(row, index) ?? index}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th scope="row" role="rowheader" class={classOf(column)} key={column.key}>
                    {column.cell(row, index)}
                  </th>
                ) : (
                  <td role="cell" class={classOf(column)} data-label={labelOf(column)} key={column.key}>
                    {column.cell(row, index)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
