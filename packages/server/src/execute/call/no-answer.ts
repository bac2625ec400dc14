/** Why an app gave no response, as a sentence. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export function tooLate(timeoutMs: number): NoAnswer {
  return new NoAnswer(`The app did not answer within ${timeoutMs / 1_000} s.`);
}

export function tooLarge(bytesMax: number): NoAnswer {
  return new NoAnswer(`The app's answer is larger than ${bytesMax / 1024 / 1024} MiB.`);
}

export function givenUp(): NoAnswer {
  return new NoAnswer("The call was aborted: another node may be making it.");
}

export function unreachable(why: string, cause?: unknown): NoAnswer {
  return new NoAnswer(`The app cannot be reached: ${why}.`, { cause });
}
