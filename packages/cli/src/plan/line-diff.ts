/** A line diff of two texts. */

export interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

const CONTEXT_LINES = 3;
/** The limit of cells in the table for the longest common subsequence. Beyond it, the middle is shown as replaced. */
const CELLS_MAX = 4_000_000;

/** The lines that differ, with context. A gap is marked with the number of the next line. Empty if the texts are equal. */
export function lineDiff(from: string, to: string): string[] {
  const lines = allLines(from.split("\n"), to.split("\n"));
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - CONTEXT_LINES), i + CONTEXT_LINES + 1).some(({ sign }) => sign !== " "));
  const shown: string[] = [];
  let number = 1;
  lines.forEach(({ sign, text }, i) => {
    if (near[i] && !near[i - 1]) shown.push(`@@ line ${number} @@`);
    if (near[i]) shown.push(`${sign} ${text}`.trimEnd());
    if (sign !== "-") number++;
  });
  return shown;
}

export function allLines(from: readonly string[], to: readonly string[]): DiffLine[] {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from[start] === to[start]) start++;
  let end = 0;
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const stays = (text: string): DiffLine => ({ sign: " ", text });
  return [
    ...from.slice(0, start).map(stays),
    ...middle(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...from.slice(from.length - end).map(stays),
  ];
}

function middle(from: readonly string[], to: readonly string[]): DiffLine[] {
  const goes = (text: string): DiffLine => ({ sign: "-", text });
  const comes = (text: string): DiffLine => ({ sign: "+", text });
  if (from.length * to.length > CELLS_MAX) return [...from.map(goes), ...to.map(comes)];
  const common = commonLengths(from, to);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < from.length && j < to.length) {
    if (from[i] === to[j]) {
      lines.push({ sign: " ", text: from[i] as string });
      i++;
      j++;
    } else if (common(i + 1, j) >= common(i, j + 1)) lines.push(goes(from[i++] as string));
    else lines.push(comes(to[j++] as string));
  }
  return [...lines, ...from.slice(i).map(goes), ...to.slice(j).map(comes)];
}

/** The length of the longest common subsequence of one text from line i and the other from line j. */
function commonLengths(from: readonly string[], to: readonly string[]): (i: number, j: number) => number {
  const width = to.length + 1;
  const table = new Uint32Array((from.length + 1) * width);
  const at = (i: number, j: number) => table[i * width + j] as number;
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      table[i * width + j] = from[i] === to[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}
