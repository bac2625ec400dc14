/** Why an app gave no response, as a sentence. */
export class NoResponse extends Error {
  override readonly name = "NoResponse";
}

export const RESPONSE_BYTES_MAX = 8 * 1024 * 1024;

export function tooLate(timeoutMs: number): NoResponse {
  return new NoResponse(`The app did not answer within ${timeoutMs / 1_000} s.`);
}

export function tooLarge(bytesMax: number): NoResponse {
  return new NoResponse(`The app's response is larger than ${bytesMax / 1024 / 1024} MiB.`);
}

export function givenUp(): NoResponse {
  return new NoResponse("The call was aborted: another node may be making it.");
}

export function unreachable(why: string, cause?: unknown): NoResponse {
  return new NoResponse(`The app cannot be reached: ${why}.`, { cause });
}
