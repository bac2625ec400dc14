/** Suggests the known word closest to a mistyped one. */

/** Null if none is close. */
export function nearest(given: string, known: readonly string[]): string | null {
  const allowed = Math.max(1, Math.floor(given.length / 3));
  const ranked = known
    .map((word) => ({ word, distance: word.startsWith(given) && given.length > 1 ? 0 : editDistance(given, word) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= allowed ? best.word : null;
}

/** The edit distance: letters added, removed, changed or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const options = [(row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + (isSame ? 0 : 1)];
      if (isSwap) options.push((before[j - 2] as number) + 1);
      next.push(Math.min(...options));
    }
    [before, row] = [row, next];
  }
  return row[to.length] as number;
}
