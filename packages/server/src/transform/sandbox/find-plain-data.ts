/** Finds out where plain data begin in the engine's memory, and whether they are read rightly there: see plain-json.ts. */

import { type Guest, READ_AS } from "./guest.ts";
import { PlainJson } from "./plain-json.ts";

/** Something of everything that is read: kinds of values, of keys and of texts, a deleted property, an array that became shorter. */
const SAMPLE = `(function () {
  const sample = {
    plain: "text", escaped: "\\"\\\\\\n\\u0001/", latin: "\\u00e9\\u007f", wide: "\\u0142\\u20ac\\ud83d\\ude00\\ud800", "a \\u0142 key": 1, "": 2,
    numbers: [0, 7, -1, 2147483647, -2147483648, 4294967296, 1.5, -0, 1e21, 1e-7, 5e-324, NaN, -Infinity],
    others: [true, false, null, undefined], gone: 1, none: undefined, empty: [{}, []], without: Object.create(null),
    longer: "a" + "b".repeat(300), shorter: [1, 2, 3],
  };
  delete sample.gone;
  sample.shorter.length = 1;
  return sample;
})()`;

/** Called before any user code has run. Null when the engine keeps its data in another way than we know. */
export function findPlainData(guest: Guest, bytesMax: number): PlainJson | null {
  const addressOf = (source: string) => guest.objectAt(guest.evaluate(source, "inlet", READ_AS.script));
  const plainJson = new PlainJson(
    {
      runtime: guest.runtimeAt,
      objectPrototype: addressOf("Object.prototype"),
      arrayPrototype: addressOf("Array.prototype"),
      withToJson: addressOf("({ toJSON: 1 })"),
    },
    bytesMax,
  );
  const sample = guest.evaluate(SAMPLE, "inlet", READ_AS.script);
  const expected = guest.text(guest.stringifyJson(sample), bytesMax);
  return expected !== null && guest.plainJson(plainJson, sample)?.json === expected ? plainJson : null;
}
