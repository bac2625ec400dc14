/** The folder name of a webhook: its name, made safe for paths and command lines on every system. */

const UNITS_MAX = 60;

/** `Stripe (live)` becomes `stripe-live`. Letters of all scripts are preserved. */
export function folderName(name: string): string {
  const words =
    name
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  return words.join("-").slice(0, UNITS_MAX).replace(/-$/, "").toWellFormed() || "webhook";
}

/** A unique folder name: adds the environment or a number if the name is taken. */
export function freeFolderName(name: string, environment: string, taken: ReadonlySet<string>): string {
  const short = folderName(name);
  const long = `${short}-${folderName(environment)}`;
  const free = [short, long].find((candidate) => !taken.has(candidate));
  if (free) return free;
  let number = 2;
  while (taken.has(`${long}-${number}`)) number++;
  return `${long}-${number}`;
}
