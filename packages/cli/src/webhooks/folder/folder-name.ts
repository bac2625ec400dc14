/** The name of the folder a webhook gets: its own name, made fit for paths and the command line on every system. */

const UNITS_MAX = 60;

/** `Stripe (live)` becomes `stripe-live`. Letters of every script stay. */
export function folderName(name: string): string {
  const words =
    name
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  return words.join("-").slice(0, UNITS_MAX).replace(/-$/, "").toWellFormed() || "webhook";
}

/** The same, when others are taken already: the environment tells them apart, else a number. */
export function freeFolderName(name: string, environment: string, taken: ReadonlySet<string>): string {
  const short = folderName(name);
  const long = `${short}-${folderName(environment)}`;
  const free = [short, long].find((candidate) => !taken.has(candidate));
  if (free) return free;
  let number = 2;
  while (taken.has(`${long}-${number}`)) number++;
  return `${long}-${number}`;
}
