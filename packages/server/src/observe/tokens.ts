/** Reads the token usage from the response of an AI provider. Each provider has its own field names. */

export interface Tokens {
  input: number | null;
  output: number | null;
  total: number | null;
}

/** Larger responses are not parsed: this is done whenever a run is shown. */
const RESPONSE_UNITS_MAX = 1_000_000;

/** `answer` is JSON text. Null if it contains no token usage. */
export function tokensIn(answer: string): Tokens | null {
  if (answer.length > RESPONSE_UNITS_MAX || !/usage/i.test(answer)) return null;
  const value: unknown = JSON.parse(answer);
  const usage = fieldOf(value, "usage") ?? fieldOf(value, "usageMetadata") ?? fieldOf(fieldOf(value, "response"), "usage");
  const count = (...names: string[]) =>
    names.map((name) => fieldOf(usage, name)).find((found) => typeof found === "number") as number | undefined;
  const input = count("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "promptTokens") ?? null;
  const output = count("completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "completionTokens") ?? null;
  const total = count("total_tokens", "totalTokenCount", "totalTokens") ?? (input !== null && output !== null ? input + output : null);
  return input === null && output === null && total === null ? null : { input, output, total };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
