/** Sweeper: forgets places among the runs of functions whose runs have ended. Most are gone by then, with the next that was given. */

import type { PlaceStore } from "../../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ForgetPlacesParts extends SweeperSettings {
  store: Pick<PlaceStore, "placeForgetMany">;
}

export function forgetPlaces({ store, ...parts }: ForgetPlacesParts): Sweeper {
  return new Sweeper({ ...parts, what: "places of ended runs", removeSome: (limit) => store.placeForgetMany({ limit }) });
}
