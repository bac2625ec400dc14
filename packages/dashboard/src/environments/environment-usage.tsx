/** What an environment uses, beside its quotas, with a forecast. Whoever manages the installation changes the quotas here. */

import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import { QUOTAS, type Quota, type UsedEnvironment } from "../api/types.ts";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { bytes, count } from "../ui/numbers.ts";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { plainTime } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";
import { type Forecast, forecastDay, forecastStored, type UsageDay } from "./usage-forecast.ts";

const REFRESH_MS = 10_000;

const WORDS: Readonly<Record<Quota, { label: string; shown: (value: number) => string; beyond: string }>> = {
  eventsPerSecond: { label: "Events per second", shown: count, beyond: "Events beyond it are refused." },
  eventsPerDay: { label: "Events per day (UTC)", shown: count, beyond: "Events beyond it are refused." },
  bytesPerDay: { label: "Bytes per day (UTC)", shown: bytes, beyond: "Requests beyond it are refused." },
  callsAtOnce: { label: "Calls to apps at once", shown: count, beyond: "Further calls wait." },
  storedBytes: { label: "Stored bytes", shown: bytes, beyond: "The oldest events, runs and requests are removed." },
};

const usageQuery = (name: string) =>
  queryOptions({
    queryKey: ["environments", name, "usage"],
    queryFn: async () => {
      const path = `/environments/${encodeURIComponent(name)}`;
      const [environment, days] = await Promise.all([
        call<UsedEnvironment>(path),
        call<UsageDay[]>("/usage", { env: name, query: { from: Date.now() - 7 * 86_400_000 } }),
      ]);
      return { environment, days };
    },
    refetchInterval: REFRESH_MS,
  });

export function EnvironmentUsage({ name, mayChange, onClose }: { name: string; mayChange: boolean; onClose: () => void }) {
  const { data, error, refetch } = useQuery(usageQuery(name));
  const title = `Usage of ${name}`;
  if (data && mayChange) return <QuotasForm title={title} {...data} onClose={onClose} />;
  return (
    <Dialog title={title} onClose={onClose}>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={5} />}
      {data && QUOTAS.map((quota) => <QuotaRow key={quota} quota={quota} {...data} />)}
    </Dialog>
  );
}

interface UsageData {
  environment: UsedEnvironment;
  days: UsageDay[];
}

function QuotasForm({ title, environment, days, onClose }: UsageData & { title: string; onClose: () => void }) {
  const { name, quotas } = environment;
  const [limits, setLimits] = useState(() => Object.fromEntries(QUOTAS.map((quota) => [quota, String(quotas[quota] ?? "")])));
  const queries = useQueryClient();
  async function save() {
    const given = QUOTAS.map((quota) => [quota, limits[quota]?.trim() ? Number(limits[quota]) : null]);
    await call(`/environments/${encodeURIComponent(name)}`, { method: "PUT", body: { quotas: Object.fromEntries(given) } });
    await reload(queries, ["environments"]);
    toast("ok", `Quotas of ${name} saved.`);
    onClose();
  }
  return (
    <FormDialog title={title} submit="Save" onClose={onClose} onSubmit={save}>
      {QUOTAS.map((quota) => (
        <div key={quota} className="stack">
          <QuotaRow quota={quota} environment={environment} days={days} />
          <label className="field">
            <span className="visually-hidden">Quota: {WORDS[quota].label}</span>
            <input
              className="input"
              inputMode="numeric"
              pattern="[1-9][0-9]*"
              placeholder="no quota"
              value={limits[quota]}
              onChange={({ target }) => setLimits({ ...limits, [quota]: target.value })}
            />
          </label>
        </div>
      ))}
    </FormDialog>
  );
}

function QuotaRow({ quota, environment: { usage, quotas }, days }: UsageData & { quota: Quota }) {
  const { label, shown, beyond } = WORDS[quota];
  const limit = quotas[quota];
  const used = usage[quota];
  const forecast = forecastText(forecastOf(quota, days, used, limit), shown);
  const remarks = [forecast, limit === null ? "" : beyond].filter(Boolean);
  return (
    <div className="stack">
      <p>
        <span className="strong">{label}</span>{" "}
        <span className="second num">
          {shown(used)} {limit === null ? "used, no quota" : `of ${shown(limit)} used`}
        </span>
      </p>
      {limit !== null && <progress aria-label={`${label} used`} value={Math.min(used, limit)} max={limit} />}
      {remarks.length > 0 && <p className="quiet small">{remarks.join(" ")}</p>}
    </div>
  );
}

function forecastOf(quota: Quota, days: UsageDay[], used: number, limit: number | null): Forecast | null {
  if (quota === "eventsPerDay") return forecastDay(days, "eventsAccepted", limit, Date.now());
  if (quota === "bytesPerDay") return forecastDay(days, "bytes", limit, Date.now());
  return quota === "storedBytes" ? forecastStored(days, used, limit, Date.now()) : null;
}

function forecastText(forecast: Forecast | null, shown: (value: number) => string): string {
  if (!forecast) return "";
  const { perDay, reachedAt } = forecast;
  const average = perDay === null ? "" : `${shown(Math.round(perDay))} a day in the last days.`;
  if (reachedAt === null) return average;
  return `${average} ${reachedAt <= Date.now() ? "Reached." : `Reached about ${plainTime(reachedAt)} at this rate.`}`.trim();
}
