/** Sets the gauges of usage and quotas. */

import { type EnvironmentQuotas, QUOTAS, type UsageFigures } from "../../store/contract/index.ts";
import type { Instruments } from "./instruments.ts";

export interface EnvironmentUsage {
  name: string;
  quotas: EnvironmentQuotas;
  figures: UsageFigures;
}

export function setUsage(instruments: Instruments, environments: readonly EnvironmentUsage[]): void {
  // A quota that was removed has no series.
  instruments.usageQuota.reset();
  for (const { name, quotas, figures } of environments) {
    instruments.usageAccepted.labels(name).set(figures.accepted);
    instruments.usageDuplicates.labels(name).set(figures.duplicates);
    instruments.usageRefused.labels(name).set(figures.refused);
    instruments.usageBytes.labels(name).set(figures.bytes);
    instruments.usageRuns.labels(name).set(figures.runs);
    instruments.usageCalls.labels(name).set(figures.calls);
    instruments.usageTransform.labels(name).set(figures.transformMs / 1_000);
    for (const quota of QUOTAS) {
      const limit = quotas[quota];
      if (limit !== null) instruments.usageQuota.labels(name, quota).set(limit);
    }
  }
}
