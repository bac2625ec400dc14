/** A chart in a card, with title and legend. */

import { lazy, Suspense } from "react";
import type { Series } from "./chart.tsx";
import { loadPart } from "./load-part.ts";

const Chart = lazy(() => loadPart(() => import("./chart.tsx")).then(({ Chart: component }) => ({ default: component })));

const HEIGHT_PX = 170;

interface ChartCardProps {
  title: string;
  times: number[];
  series: Series[];
  label: string;
  bars?: boolean;
  /** Shown while there is no data. */
  empty?: string;
  onRange?: (from: number, to: number) => void;
  /** The time axis, if it is not that of the points. */
  span?: { from: number; to: number };
  unit?: (value: number) => string;
}

export function ChartCard({ title, times, series, label, bars = false, empty, onRange, span, unit }: ChartCardProps) {
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2 className="grow">{title}</h2>
        <span className="row">
          {series.map((one) => (
            <span key={one.label} className="legend small second">
              <span style={{ background: `var(${one.colour})` }} /> {one.label}
            </span>
          ))}
        </span>
      </div>
      <div className="chart-body">
        {empty && times.length < 2 ? (
          <p className="quiet chart-empty" style={{ height: HEIGHT_PX }}>
            {empty}
          </p>
        ) : (
          <Suspense fallback={<div style={{ height: HEIGHT_PX }} />}>
            <Chart
              times={times}
              series={series}
              height={HEIGHT_PX}
              bars={bars}
              label={`${title}: ${label}`}
              {...(onRange && { onRange })}
              {...(span && { span })}
              {...(unit && { unit })}
            />
          </Suspense>
        )}
      </div>
    </section>
  );
}
