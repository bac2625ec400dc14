/** The time axis of the timeline: a few round times, and the whole duration at its end. */

import { duration } from "../ui/time.tsx";
import type { Span } from "./timeline-row.tsx";

const TICKS_MAX = 6;
/** Round intervals in milliseconds; longer ones are whole days. */
const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
  7_200_000, 21_600_000, 43_200_000,
];
const DAY_MS = 86_400_000;
/** Closer to the end than this, a label would overlap the last one. */
const ROOM = 0.76;

/** The interval between grid lines: a round time, with few lines. */
export function tickOf({ from, to }: Span): number {
  const length = to - from;
  return STEPS_MS.find((ms) => length / ms <= TICKS_MAX) ?? Math.ceil(length / DAY_MS / TICKS_MAX) * DAY_MS;
}

export function TimelineScale({ span }: { span: Span }) {
  const length = span.to - span.from;
  const tick = tickOf(span);
  const ticks = Array.from({ length: Math.floor(length / tick) + 1 }, (_, n) => n * tick).filter((at) => at <= length * ROOM);
  return (
    <div className="timeline-row timeline-scale" aria-hidden="true">
      <span />
      <span className="timeline-status" />
      <span className="timeline-track">
        {ticks.map((at) => (
          <span key={at} className="timeline-tick quiet num" style={{ left: `${(at / length) * 100}%` }}>
            {at === 0 ? "0" : duration(at)}
          </span>
        ))}
        <span className="timeline-tick last quiet num">{duration(length)}</span>
      </span>
      <span />
    </div>
  );
}
