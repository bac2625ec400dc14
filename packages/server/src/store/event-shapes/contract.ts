/**
 * Inferred shapes of events, by environment and name: JSON text that the catalogue writes and reads. They are computed in the background
 * from a sample of the events, and stored together with the sequence number reached, so each event is counted once.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { StoredEvent } from "../events/contract.ts";

export interface EventShape {
  environmentId: EnvironmentId;
  name: string;
  shape: string;
}

export interface EventSampleParams {
  after: number;
  limit: number;
  dataLengthMax: number;
  /** If more events than this would be left, the newest are read instead, and those before them are skipped. Absent: none is skipped. */
  behindMax?: number;
}

export interface EventSample {
  events: StoredEvent[];
  reached: number;
  last: number;
}

export interface EventShapeStore {
  /** The sequence number up to which events were examined. */
  eventShapeProgress(): Promise<number>;
  /**
   * Events committed after a sequence number, of every environment, oldest first; those with more than `dataLengthMax` characters of
   * data are left out. `reached` is where to continue, `last` the highest number in use.
   */
  eventSample(params: EventSampleParams): Promise<EventSample>;
  /** The shapes that exist, in no particular order. */
  eventShapeGetMany(params: { keys: readonly Pick<EventShape, "environmentId" | "name">[] }): Promise<EventShape[]>;
  /** How many names of an environment have a shape. */
  eventShapeCount(params: { environmentId: EnvironmentId }): Promise<number>;
  /** Returns false, and writes nothing, if another node has already examined events after `from`. */
  eventShapePut(params: { from: number; reached: number; shapes: readonly EventShape[] }): Promise<boolean>;
}
