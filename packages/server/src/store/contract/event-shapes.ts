/**
 * Shapes of events as they were seen, by environment and name: JSON text that the catalogue makes and reads. They are made behind the
 * events, from a sample of them, together with the number up to which events were looked at: each is counted once.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { StoredEvent } from "./events.ts";

export interface EventShape {
  environmentId: EnvironmentId;
  name: string;
  shape: string;
}

export interface EventShapeStore {
  /** Up to which sequence number events were looked at. */
  eventShapeProgress(): Promise<number>;
  /**
   * Events committed after a sequence number, of every environment, oldest first; those with more than `dataLengthMax` characters of
   * data are left out. `reached` is where to go on, `last` the highest number in use.
   */
  eventSample(params: {
    after: number;
    limit: number;
    dataLengthMax: number;
  }): Promise<{ events: StoredEvent[]; reached: number; last: number }>;
  /** Those there are, in no particular order. */
  eventShapeGetMany(params: { keys: readonly Pick<EventShape, "environmentId" | "name">[] }): Promise<EventShape[]>;
  /** How many names of an environment have one. */
  eventShapeCount(params: { environmentId: EnvironmentId }): Promise<number>;
  /** False, and nothing is written, when another node has looked at events after `from` meanwhile. */
  eventShapePut(params: { from: number; reached: number; shapes: readonly EventShape[] }): Promise<boolean>;
}
