/** The transform editor, next to the tester. The draft is tested as the user types and takes effect when it is saved. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "../api/client.ts";
import { lastRequestQuery, providersQuery, versionsQuery, webhookQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { LazyEditor } from "../editor/lazy-editor.tsx";
import { Icon } from "../ui/icon.tsx";
import { withToast } from "../ui/toasts.tsx";
import { BacktestButton } from "./backtest.tsx";
import { canonicalHeaders, fromFixture, fromRecord, sampleRequest, type TestRequest } from "./test-request.ts";
import { Tester } from "./tester.tsx";
import { useDraftTest } from "./use-draft-test.ts";
import { useKnownFields } from "./use-known-fields.ts";

export function TransformTab({ webhook }: { webhook: Webhook }) {
  const [typed, setTyped] = useTyped(webhook);
  const draft = typed ?? webhook.transform;
  const [request, setRequest] = useFirstRequest(webhook);
  const draftTest = useDraftTest(webhook.id, draft, request);
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();
  const known = useKnownFields(webhook.environment, draft);
  const isChanged = draft !== webhook.transform;

  async function save() {
    const saved = await withToast(
      call<Webhook>(`/webhooks/${encodeURIComponent(webhook.id)}`, { method: "PUT", body: { transform: draft } }),
      ({ version }) => `Saved as version ${version}, which is now current.`,
    );
    if (!saved) return;
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    await reload(queries, versionsQuery(webhook.id).queryKey);
  }

  const error = draftTest.data?.error ?? null;
  return (
    <div className="transform-tab">
      <section className="card editor-card" aria-label="Transform">
        <div className="card-head">
          <h2 className="grow">
            Transform <span className="quiet">{isChanged ? "draft, not saved" : `version ${webhook.version}`}</span>
          </h2>
          {isChanged && (
            <button type="button" className="button small bare" onClick={() => setTyped(null)}>
              Discard
            </button>
          )}
          <BacktestButton webhook={webhook} draft={draft} />
          {mayChange && (
            <button type="button" className="button small primary" disabled={!isChanged} onClick={() => void save()}>
              <Icon name="check" size={14} /> Save
            </button>
          )}
        </div>
        <LazyEditor
          value={draft}
          onChange={setTyped}
          label="Transform, JavaScript"
          readOnly={!mayChange}
          faults={error ? [error] : []}
          sample={{ ...sampleOf(request), known }}
        />
        <p className="quiet small editor-foot">
          <code>transform(evt, headers, queryParams, raw)</code> returns an event with <code>name</code> and <code>data</code>;{" "}
          <code>id</code> and <code>ts</code> are optional.
        </p>
      </section>
      <Tester webhook={webhook} request={request} onRequest={setRequest} draftTest={draftTest} />
    </div>
  );
}

/**
 * What the user typed and has not saved. It survives navigation, reloads and the end of a session, but not closing the tab. Null: nothing, so
 * that the editor follows the saved transform when a new version is deployed.
 */
function useTyped({ id, transform }: Webhook): [string | null, (typed: string | null) => void] {
  const storedAs = `inlet.draft.${id}`;
  const [typed, setTyped] = useState(() => sessionStorage.getItem(storedAs));
  useEffect(() => {
    if (typed === transform) setTyped(null);
    else if (typed === null) sessionStorage.removeItem(storedAs);
    else sessionStorage.setItem(storedAs, typed);
  }, [typed, transform, storedAs]);
  return [typed, setTyped];
}

/** Starts with the newest accepted request; if none is recorded, with an example of the provider whose starter transform it has. */
function useFirstRequest({ id, transform }: Webhook): [TestRequest, (request: TestRequest) => void] {
  const { data: records } = useQuery(lastRequestQuery(id));
  const { data: providers } = useQuery(providersQuery);
  const example = providers?.find((provider) => provider.transform === transform)?.fixtures[0];
  const [chosen, setChosen] = useState<TestRequest | null>(null);
  const [newest, setNewest] = useState<TestRequest | null>(null);
  useEffect(() => {
    const record = records?.find(({ body, outcome }) => body && outcome === "accepted") ?? records?.find(({ body }) => body);
    // Only once: a new request must not replace text that the user is editing.
    if (record) setNewest((before) => before ?? fromRecord(record));
  }, [records]);
  return [chosen ?? newest ?? (example ? fromFixture(example) : sampleRequest), setChosen];
}

function sampleOf({ body, headers, query }: TestRequest) {
  const values = (text: string) => Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, [value]]));
  return { evt: parsedOr(body), headers: canonicalHeaders(headers), queryParams: values(query) };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
