/** Number formatting. */

const WHOLE = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export function count(value: number): string {
  return WHOLE.format(value);
}

export function shortCount(value: number): string {
  return value < 10_000 ? WHOLE.format(value) : SHORT.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  if (value < 1_024 * 1_024) return `${(value / 1_024).toFixed(value < 10_240 ? 1 : 0)} KB`;
  return `${(value / 1_024 / 1_024).toFixed(1)} MB`;
}
