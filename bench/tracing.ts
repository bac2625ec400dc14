/**
 * What exporting traces costs those who send events: a service without it, one that samples as it does by default, one that exports every
 * trace and one that exports a tenth, to a collector on loopback. All are driven in turn, several rounds; the ratio of a round counts, and the
 * median of the rounds.
 */

import { join } from "node:path";
import { SHAPES, type Shape } from "./ingest.ts";
import { type DriveResult, drive, type Server, startCollector, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const SHARE_GOAL = 0.9;

const SIDES: Readonly<Record<string, Record<string, string> | null>> = {
  off: null,
  default: {},
  "all traces": { OTEL_TRACES_SAMPLER: "parentbased_always_on" },
  "a tenth": { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" },
};

export async function benchTracing({ seconds, rounds }: { seconds: number; rounds: number }): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const collector = await startCollector();
    const services = new Map<string, Server>();
    try {
      for (const [name, variables] of Object.entries(SIDES)) {
        const env = variables && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables };
        services.set(name, await startInlet(join(folder, name.replaceAll(" ", "-")), [], undefined, env ?? {}));
      }
      const rows: Row[] = [];
      for (const shape of SHAPES) rows.push(...(await measureShape(shape, services, seconds, rounds)));
      return rows;
    } finally {
      for (const service of services.values()) await service.stop();
      await collector.stop();
    }
  });
}

async function measureShape(shape: Shape, services: ReadonlyMap<string, Server>, seconds: number, rounds: number): Promise<Row[]> {
  const measured: Map<string, DriveResult>[] = [];
  for (let round = 0; round < rounds; round++) {
    const results = new Map<string, DriveResult>();
    // Nobody is always first after a pause of the machine.
    const turn = round % 2 === 0 ? [...services] : [...services].toReversed();
    for (const [name, service] of turn) results.set(name, await drive(service, shape.connections, shape.body, seconds));
    measured.push(results);
  }
  const of = (name: string, pick: (side: DriveResult, off: DriveResult) => number) =>
    median(measured.map((results) => pick(results.get(name) as DriveResult, results.get("off") as DriveResult)));
  return [...services.keys()].flatMap((name): Row[] => {
    const what = (figure: string) => `${shape.label}: ${name}: ${figure}`;
    const rate = { what: what("accepted"), value: of(name, ({ perSecond }) => perSecond * shape.eventsPerRequest), unit: "events/s" };
    const cpu = { what: what("CPU per request"), value: of(name, ({ cpuPerRequest }) => cpuPerRequest * 1e6), unit: "µs" };
    if (name === "off") return [rate, cpu];
    const share = of(name, (side, off) => side.perSecond / off.perSecond);
    const against = { what: what("against off"), value: share, unit: "×" };
    return [rate, cpu, name === "default" ? { ...against, goal: `≥ ${SHARE_GOAL}`, met: share >= SHARE_GOAL } : against];
  });
}
