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

/** A table in a region that scrolls; the cells of the first column are the headers of their rows. */
export function DataTable<Row>({ label, columns, rows, rowKey, className }: TableProps<Row>) {
  return (
    <Scroll label={label}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={column.number ? "number" : undefined} key={column.key}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={rowKey?.(row, index) ?? index}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th scope="row" class={classOf(column)} key={column.key}>
                    {column.cell(row, index)}
                  </th>
                ) : (
                  <td class={classOf(column)} key={column.key}>
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
