/** React: `useRealtime` follows the messages of a realtime channel while a component is shown. */

export type { RealtimeState } from "./react/follow-realtime.ts";
export { type UseRealtimeOptions, useRealtime } from "./react/use-realtime.ts";
