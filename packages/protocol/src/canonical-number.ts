/** JSON numbers as ECMAScript writes them, which is their form in canonical JSON. */

/** A double represents every number of up to 15 digits. */
const SURELY_EXACT_LENGTH_MAX = 15;

/** The token as written if no double is near it; with `exact` also if the nearest double is a different number. */
export function canonicalNumber(token: string, exact: boolean): string {
  const value = Number(token);
  if (!Number.isFinite(value)) return token;
  // -0 is 0.
  const text = String(value);
  if (!exact || text === token || (token.length <= SURELY_EXACT_LENGTH_MAX && !/e/i.test(token))) return text;
  return isSameNumber(token, text) ? text : token;
}

/** Of numbers of the same sign. */
function isSameNumber(a: string, b: string): boolean {
  const [left, right] = [decimal(a), decimal(b)];
  return left.digits === right.digits && (left.digits === "" || left.exponent === right.exponent);
}

/** 0.digits × 10^exponent, without zeros at either end of the digits. */
function decimal(token: string): { digits: string; exponent: number } {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const all = whole + fraction;
  const leadingZeros = /^0*/.exec(all)?.[0].length ?? 0;
  let end = all.length;
  while (end > leadingZeros && all[end - 1] === "0") end--;
  return { digits: all.slice(leadingZeros, end), exponent: Number(exponent) + whole.length - leadingZeros };
}
