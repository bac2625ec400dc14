/** The labels of a chart's axes. Consecutive equal labels are shown once. */

import { timeFormat } from "./time-zone.ts";

const clock = timeFormat({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = timeFormat({ month: "short", day: "numeric" });

/** The time of day, or the date at the start of a day. */
export function timeLabels(ticks: readonly number[]): string[] {
  return ticks.map((tick, index) => {
    const at = tick * 1_000;
    const before = (ticks[index - 1] ?? tick - 1) * 1_000;
    if (day(before) !== day(at)) return day(at);
    return index > 0 && clock(before) === clock(at) ? "" : clock(at);
  });
}

/** Where the time axis is in the chart, in pixels. */
export interface AxisArea {
  left: number;
  right: number;
  /** Of the whole chart. */
  width: number;
}

/** The width of the widest label, `15 Nov`. */
const LABEL_PX = 40;

/** Labels are centred below their ticks. Labels that would overflow at an edge are omitted. */
export function hasRoom({ left, right, width }: AxisArea, { min, max }: { min?: number; max?: number }, tick: number): boolean {
  if (min === undefined || max === undefined || max <= min) return true;
  const at = left + ((tick - min) / (max - min)) * (right - left);
  return at >= LABEL_PX / 2 && at <= width - LABEL_PX / 2;
}

export function valueLabel(tick: number, unit: ((value: number) => string) | undefined): string {
  if (unit) return unit(tick);
  return Number.isInteger(tick) ? short(tick) : "";
}

/** Of consecutive equal labels, such as `1.2K` for 1,150 and 1,200, only the first is shown. */
export function unequal(labels: readonly string[]): string[] {
  return labels.map((label, index) => (index > 0 && labels[index - 1] === label ? "" : label));
}

function short(value: number): string {
  return Intl.NumberFormat(undefined, { notation: "compact" }).format(value);
}
