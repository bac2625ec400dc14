/** JSON numbers as ECMAScript writes them, which is their form in canonical JSON. */

/** The token as written if it is no number or no double is near it; with `exact` also if the nearest double is a different number. */
export function canonicalNumber(token: string, exact: boolean): string {
  const nearest = Number(token);
  if (!Number.isFinite(nearest)) return token;
  // -0 is 0.
  const text = String(nearest);
  return exact && significantDigits(token) !== significantDigits(text) ? token : text;
}

/** Without zeros at either end. A number and the double nearest to it are the same if these are. */
function significantDigits(token: string): string {
  const digits = token.replace(/e.*/i, "").replaceAll(/\D/g, "").replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
