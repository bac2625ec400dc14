/** Whether a parsed JSON value is nested deeper than a limit. Without recursion: nesting costs no stack. */

export function isDeeperThan(value: unknown, depthMax: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((item) => typeof item === "object" && item !== null) as object[];
    if (containers.length > 0 && depth >= depthMax) return true;
    level = containers.flatMap((container) => Object.values(container));
  }
  return false;
}
