/** Bounds how many connections one caller uses at the same time. */

/** The results in the order of the items. After a failure, work on no further item begins. */
export async function fewAtOnce<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = [...items.entries()].reverse();
  async function workOn(): Promise<void> {
    for (let next = rest.pop(); next; next = rest.pop()) {
      const [position, item] = next;
      results[position] = await work(item);
    }
  }
  try {
    await Promise.all(Array.from({ length: max }, workOn));
  } finally {
    rest.length = 0;
  }
  return results;
}
