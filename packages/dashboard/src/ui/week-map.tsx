/** A heat map of the hours of a week: a row for each day, a column for each hour. `label` is its accessible description. */

export const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;
const HOURS = 24;
const CELL = 11;
const GAP = 2;
const LABELS_WIDTH = 30;
const LABELS_HEIGHT = 14;
/** An hour without activity is still drawn. */
const OPACITY_MIN = 0.07;

/** `values`: 168, from Monday 00:00 on. */
export function WeekMap({ values, label }: { values: readonly number[]; label: string }) {
  const max = Math.max(...values) || 1;
  const width = LABELS_WIDTH + HOURS * (CELL + GAP);
  const height = LABELS_HEIGHT + DAYS.length * (CELL + GAP);
  return (
    <svg className="week-map" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      {[0, 6, 12, 18].map((hour) => (
        <text key={hour} x={LABELS_WIDTH + hour * (CELL + GAP)} y={LABELS_HEIGHT - 4}>
          {String(hour).padStart(2, "0")}
        </text>
      ))}
      {DAYS.map((day, row) => (
        <text key={day} x={0} y={LABELS_HEIGHT + row * (CELL + GAP) + CELL - 2}>
          {day}
        </text>
      ))}
      {values.map((value, hour) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: an hour of the week is its index
          key={hour}
          x={LABELS_WIDTH + (hour % HOURS) * (CELL + GAP)}
          y={LABELS_HEIGHT + Math.floor(hour / HOURS) * (CELL + GAP)}
          width={CELL}
          height={CELL}
          rx={2}
          opacity={Math.max(OPACITY_MIN, value / max)}
        />
      ))}
    </svg>
  );
}
