/** The report of a drill: each request with what was expected and what happened. Differences and repeated functions are marked. */

import type { DrillEntry, DrillFunction, DrillOutcome, JobView } from "@inlet/protocol";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { Notice } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";

export function DrillReport({ job, report }: { job: JobView; report: readonly DrillEntry[] }) {
  if (report.length === 0) return null;
  return (
    <section className="stack" aria-label="Report">
      {job.status === "completed" && <Summary report={report} />}
      <Table columns={["Result", "Kind", "Sample", "Expected", "Happened", "Functions"]} isStacked>
        {report.map((entry, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are only ever added at the end
          <tr key={at}>
            <td>
              <span className={`badge ${entry.ok ? "ok" : "bad"}`}>
                <Icon name={entry.ok ? "checkCircle" : "xCircle"} size={13} /> {entry.ok ? "As expected" : "Different"}
              </span>
            </td>
            <td data-label="Kind">{entry.kind}</td>
            <td data-label="Sample">{entry.sent.sample}</td>
            <td data-label="Expected">{outcomeText(entry.expected)}</td>
            <td data-label="Happened" className={entry.ok ? "" : "strong"}>
              {outcomeText(entry.happened)}
            </td>
            <td data-label="Functions">
              <Functions functions={entry.functions} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Summary({ report }: { report: readonly DrillEntry[] }) {
  const different = report.filter(({ ok }) => !ok).length;
  const repeated = repeatedFunctions(report);
  if (different === 0 && repeated.length === 0) {
    return (
      <Notice kind="ok" icon="checkCircle">
        {plural(report.length, "request")}, all as expected.
      </Notice>
    );
  }
  return (
    <Notice kind="bad" icon="alert">
      {plural(different, "request")} of {report.length} had another outcome than expected.
      {repeated.map(([id, runs]) => (
        <div key={id}>
          The function <code>{id}</code> ran {runs} times for one event.
        </div>
      ))}
    </Notice>
  );
}

/** Functions that would have done their work more than once, with the most runs for one event. */
function repeatedFunctions(report: readonly DrillEntry[]): [string, number][] {
  const most = new Map<string, number>();
  for (const { functions } of report) for (const { id, runs } of functions) most.set(id, Math.max(most.get(id) ?? 0, runs));
  return [...most].filter(([, runs]) => runs > 1);
}

function Functions({ functions }: { functions: readonly DrillFunction[] }) {
  if (functions.length === 0) return <span className="quiet">None</span>;
  return functions.map(({ id, runs, failed }) => (
    <div key={id} className={runs > 1 ? "strong" : ""}>
      <code>{id}</code> {runs === 1 ? "once" : `${runs} times`}
      {failed && ", failed"}
    </div>
  ));
}

function outcomeText({ status, events }: DrillOutcome): string {
  return `${status}, ${plural(events, "new event")}`;
}
