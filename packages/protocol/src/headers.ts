/** Request headers that the service understands, each with the alias that published SDKs send. */

export const ENVIRONMENT_HEADER = "x-service-env";
export const ENVIRONMENT_HEADER_ALIAS = "x-inngest-env";
/** Names the run that sends an event from a step. */
export const RUN_HEADER = "x-service-run";
/** Headers by which SDKs identify themselves. */
export const SDK_HEADERS = ["x-service-sdk", "x-inngest-sdk"] as const;
export const EVENT_ID_SEED_HEADER = "x-inngest-event-id-seed";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The environment that a request names, or null. The service's own header takes precedence over the alias; an empty one names nothing. */
export function environmentNamed(headers: Headers): string | null {
  return single(headers[ENVIRONMENT_HEADER]) || single(headers[ENVIRONMENT_HEADER_ALIAS]) || null;
}

/** A header that must not be repeated: the first value is used. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
