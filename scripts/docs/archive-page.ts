/** The reference of archived files: their names and columns. */

import { COLUMNS, type Column } from "../../packages/server/src/archive/files/columns.ts";

const TYPES: Readonly<Record<Column["type"], string>> = {
  text: "`BYTE_ARRAY` (UTF8)",
  json: "`BYTE_ARRAY` (UTF8), JSON text",
  integer: "`INT64`",
  time: "`INT64` (TIMESTAMP_MILLIS, UTC)",
  flag: "`BOOLEAN`",
};

export function archivePage(generated: string): string {
  const tables = Object.entries(COLUMNS).map(([table, columns]) => `## ${table}\n\n${tableOf(columns)}`);
  return `${generated}

# Archived files

With \`--archive\`, the rows of partitions are kept as Parquet files (see [archive old events](../how-to/archive.md)):
\`<environment>/<table>/<day>.parquet\`, with the tables \`events\`, \`runs\` and \`steps\`. The day is that of \`received_at\` for events, and that of the
run's creation for runs and their steps, in UTC. In the folder of an environment, \`/\` is written as \`~\`, and a \`.\` at the beginning of the name as
\`@\`: the events of \`feature/x\` are in \`feature~x/events/\`.

Files are compressed with Snappy and have row groups of at most 1,000 rows. JSON is text, exactly as it was sent or returned: numbers are not
rounded, and keys keep their order. Characters that UTF-8 cannot hold (lone surrogates), U+0000 and U+FDD0 are written as U+FDD0 followed by
their code in four hexadecimal digits. New columns may be added; columns keep their name and type.

${tables.join("\n\n")}
`;
}

function tableOf(columns: readonly Column[]): string {
  const rows = columns.map(
    ({ name, type, nullable, sentence }) => `| \`${name}\` | ${TYPES[type]} | ${nullable ? "yes" : ""} | ${sentence} |`,
  );
  return ["| column | type | null | |", "|---|---|---|---|", ...rows].join("\n");
}
