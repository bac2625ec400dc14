/** Libraries that many services never need, loaded with their first use: a service holds in memory what its functions ask for. */

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export function whenNeeded<Library>(name: string): () => Library {
  let library: Library | undefined;
  return () => (library ??= require(name) as Library);
}
