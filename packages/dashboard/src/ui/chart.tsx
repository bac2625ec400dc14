/** Bars or lines over time, drawn by uPlot in the theme's colours. Dragging can select a time range. */

import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { watchColours } from "../shell/theme.tsx";
import { type AxisArea, hasRoom, timeLabels, unequal, valueLabel } from "./axis-labels.ts";
import { timeFormat, timeZone, useTimeZone } from "./time-zone.ts";
import { useWidth } from "./use-width.ts";

export interface Series {
  label: string;
  /** A custom property of the theme, such as `--accent`. */
  colour: string;
  values: readonly (number | null)[];
}

interface ChartProps {
  /** Milliseconds. */
  times: readonly number[];
  series: readonly Series[];
  height: number;
  /** Accessible description. */
  label: string;
  bars?: boolean;
  /** Without axes, for the strip above a list. */
  bare?: boolean;
  onRange?: (from: number, to: number) => void;
  /** The time axis in milliseconds, if it is not that of the points. */
  span?: { from: number; to: number };
  /** Formats values, such as durations. */
  unit?: (value: number) => string;
}

export function Chart({ times, series, height, label, bars = false, bare = false, onRange, span, unit }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const zone = useTimeZone();
  const [colours, setColours] = useState(0);
  useEffect(() => watchColours(() => setColours((before) => before + 1)), []);
  const range = useRef(onRange);
  range.current = onRange;
  const axis = useRef(span);
  axis.current = span;
  const data = useMemo(
    () => [times.map((at) => at / 1_000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
    [times, series],
  );
  const appearance = JSON.stringify(series.map(({ label: name, colour, values }) => [name, colour, values.includes(null)]));
  const plot = useRef<uPlot>(null);
  const [tip, setTip] = useState<Tip | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: recreated when the appearance changes; data is set below
  useEffect(() => {
    if (!container.current || width === 0) return;
    const created = new uPlot(options({ series, width, height, bars, bare, range, axis, unit, onTip: setTip }), data, container.current);
    plot.current = created;
    return () => created.destroy();
  }, [width, height, appearance, bars, bare, colours, zone]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: setting the data also sets the axis
  useEffect(() => plot.current?.setData(data), [data, span]);

  return (
    <div className="chart-frame">
      <div ref={container} className="chart" style={{ height, minHeight: height }} role="img" aria-label={label} />
      {tip && <ChartTip tip={tip} series={series} at={times[tip.index]} unit={unit} />}
    </div>
  );
}

interface Tip {
  index: number;
  left: number;
  /** In the right half, the tooltip is to the left of the pointer. */
  flipped: boolean;
}

interface ChartTipProps {
  tip: Tip;
  series: readonly Series[];
  at: number | undefined;
  unit: ChartProps["unit"];
}

function ChartTip({ tip: { index, left, flipped }, series, at, unit = String }: ChartTipProps) {
  if (at === undefined) return null;
  return (
    <div className={`chart-tip${flipped ? " flipped" : ""}`} style={{ left }}>
      <div className="quiet">{tipTime(at)}</div>
      {series.map(({ label, colour, values }) => (
        <div key={label} className="legend">
          <span style={{ background: `var(${colour})` }} /> {label}{" "}
          <b className="num">{values[index] === null ? "—" : unit(values[index] ?? 0)}</b>
        </div>
      ))}
    </div>
  );
}

const tipTime = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

interface PlotParts extends Required<Pick<ChartProps, "series" | "height" | "bars" | "bare">> {
  width: number;
  range: React.RefObject<ChartProps["onRange"]>;
  axis: React.RefObject<ChartProps["span"]>;
  unit: ChartProps["unit"];
  onTip: (tip: Tip | null) => void;
}

function options({ series, width, height, bars, bare, range, axis: span, unit, onTip }: PlotParts): uPlot.Options {
  const text = colourOf("--text-3");
  const grid = { stroke: colourOf("--line"), width: 1 };
  const axis = { stroke: text, grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const canChoose = range.current !== undefined;
  const valuesPx = unit ? 62 : 48;
  const area: AxisArea = { left: bare ? EDGE_PX : valuesPx, right: width - EDGE_PX, width };
  return {
    width,
    height,
    padding: bare ? [4, EDGE_PX, 0, EDGE_PX] : [10, EDGE_PX, 0, 0],
    legend: { show: false },
    ...(timeZone() === "utc" && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), "Etc/UTC") }),
    cursor: { y: false, points: { show: !bars }, drag: { x: canChoose, y: false, setScale: false } },
    scales: {
      x: { time: true, range: (plot) => rangeOf(span.current) ?? wholeRange(plot) },
      y: { range: (_plot, _min, max) => [0, Math.max(max ?? 0, 4) * 1.08] },
    },
    axes: [
      {
        ...axis,
        size: bare ? 20 : 26,
        space: 70,
        grid: { show: false },
        values: ({ scales: { x } }, ticks) =>
          timeLabels(ticks).map((label, index) => (hasRoom(area, x ?? {}, ticks[index] as number) ? label : "")),
      },
      bare ? { show: false } : { ...axis, size: valuesPx, values: (_plot, ticks) => unequal(ticks.map((tick) => valueLabel(tick, unit))) },
    ],
    series: [{}, ...series.map(({ label, colour, values }) => seriesOptions(label, colourOf(colour), bars, values.includes(null)))],
    hooks: { setCursor: [(plot) => onTip(tipOf(plot))], setSelect: [(plot) => choose(plot, range.current)] },
  };
}

function rangeOf(span: ChartProps["span"]): uPlot.Range.MinMax | null {
  return span ? [span.from / 1_000, span.to / 1_000] : null;
}

/** A bar covers the time from its point to the next, so the axis extends beyond the last point. */
function wholeRange({ data: [times] }: uPlot): uPlot.Range.MinMax {
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 1;
  return [first, last + (times.length > 1 ? last - (times.at(-2) as number) : 60)];
}

/** Between the plot and the edge of the chart. */
const EDGE_PX = 8;

/** `hasGaps`: a value between two gaps is a point, because a line needs two. */
function seriesOptions(label: string, colour: string, bars: boolean, hasGaps: boolean): uPlot.Series {
  const paths = bars ? uPlot.paths.bars?.({ size: [0.75, 40], radius: 0.2, align: 1 }) : undefined;
  return {
    label,
    stroke: colour,
    width: bars ? 0 : 1.75,
    fill: bars ? colour : `color-mix(in srgb, ${colour} 12%, transparent)`,
    points: hasGaps && !bars ? { show: true, size: 5, fill: colour } : { show: false },
    ...(paths && { paths }),
  };
}

function tipOf({ cursor: { idx, left = -1 }, over, width }: uPlot): Tip | null {
  if (idx === null || idx === undefined || left < 0) return null;
  return { index: idx, left: left + over.offsetLeft, flipped: left > width / 2 };
}

function choose(plot: uPlot, onRange: ChartProps["onRange"]): void {
  const { left, width } = plot.select;
  if (width < 4 || !onRange) return;
  onRange(Math.floor(plot.posToVal(left, "x") * 1_000), Math.ceil(plot.posToVal(left + width, "x") * 1_000));
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** Custom properties contain `light-dark(…)`, so the colour is resolved with an element. */
function colourOf(property: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
