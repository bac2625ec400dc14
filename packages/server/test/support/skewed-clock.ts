/** Loaded before everything else (`node --import`), this makes the clock of a process wrong by SKEW_MS, as a machine's may be. */

const skewMs = Number(process.env.SKEW_MS);
const Right = Date;

class SkewedDate extends Right {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(Right.now() + skewMs);
    else super(...(parts as [number]));
  }

  static override now(): number {
    return Right.now() + skewMs;
  }
}

globalThis.Date = SkewedDate as DateConstructor;
