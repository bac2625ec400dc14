/** For tests of what is counted by day (UTC), which go by the real time: all that a test sends is sent on one day. */

const DAY_MS = 86_400_000;
const NEEDED_MS = 300_000;

export async function awayFromMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < NEEDED_MS) await new Promise((resolve) => setTimeout(resolve, left));
}
