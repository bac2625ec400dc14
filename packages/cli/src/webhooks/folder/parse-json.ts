/** Parses a hand-written JSON file. Errors start with `file:line:column`, which editors and CI turn into a link. */

export function parseJson(file: string, text: string, faults: string[]): unknown {
  // Some editors on Windows add a byte order mark, which JSON does not allow.
  const json = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(json);
  } catch (error) {
    const { message } = error as SyntaxError;
    const { line, column } = lineAndColumn(json, message);
    faults.push(`${file}:${line}:${column}: ${sentence(message)}`);
    return undefined;
  }
}

function lineAndColumn(json: string, message: string): { line: number; column: number } {
  const before = json.slice(0, positionOf(json, message)).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function positionOf(json: string, message: string): number {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  if (!UNEXPECTED_TOKEN.test(message)) return json.length;
  // V8 does not report the position of an unexpected token. It is the last character of the shortest prefix with this error.
  let [without, having] = [0, json.length];
  while (having - without > 1) {
    const middle = (without + having) >> 1;
    if (UNEXPECTED_TOKEN.test(faultOf(json.slice(0, middle)))) having = middle;
    else without = middle;
  }
  return having - 1;
}

const UNEXPECTED_TOKEN = /^Unexpected token/;

function faultOf(json: string): string {
  try {
    JSON.parse(json);
    return "";
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

/** Removes the position and the excerpt from V8's message. */
function sentence(message: string): string {
  const short = message
    .replace(/(?: in JSON)? at position .*$/s, "")
    .replace(/, (?:\.\.\.)?".* is not valid JSON$/s, "")
    .replace(/ of JSON input$/, "");
  return `${short} (not valid JSON)`;
}
