/** The name of the error of an attempt that had no response. */
export const NO_RESPONSE = "NoResponse";

/** Why there was no response, as a sentence. */
export class NoResponse extends Error {
  override readonly name = NO_RESPONSE;
}

/** What a request is sent to; sentences name it. */
export type Peer = "app" | "server" | "provider";

export const RESPONSE_BYTES_MAX = 8 * 1024 * 1024;

export function tooLate(peer: Peer, timeoutMs: number): NoResponse {
  return new NoResponse(`The ${peer} did not answer within ${timeoutMs / 1_000} s.`);
}

export function tooLarge(peer: Peer, bytesMax: number): NoResponse {
  return new NoResponse(`The ${peer}'s response is larger than ${bytesMax / 1024 / 1024} MiB.`);
}

export function givenUp(): NoResponse {
  return new NoResponse("The call was aborted: another node may be making it.");
}

export function unreachable(peer: Peer, why: string, cause?: unknown): NoResponse {
  return new NoResponse(`The ${peer} cannot be reached: ${why}.`, { cause });
}
