/** The transform editor, next to the tester. The draft is tested as the user types and takes effect when it is saved. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Dispatch, type SetStateAction, useEffect, useState } from "react";
import { call } from "../api/client.ts";
import { lastRequestQuery, providersQuery, versionsQuery, webhookQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayChangeIngestion, useMayRepairWebhooks } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { LazyEditor } from "../editor/lazy-editor.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { withToast } from "../ui/toasts.tsx";
import { BacktestButton } from "./backtest.tsx";
import { canonicalHeaders, fromFixture, fromRecord, sampleRequest, type TestRequest } from "./test-request.ts";
import { Tester } from "./tester.tsx";
import { useDraftTest } from "./use-draft-test.ts";
import { useKnownFields } from "./use-known-fields.ts";

export function TransformTab({ webhook }: { webhook: Webhook }) {
  const [typed, setTyped] = useTyped(webhook);
  const [replacing, setReplacing] = useState(false);
  const draft = typed?.text ?? webhook.transform;
  const base = typed?.version ?? webhook.version;
  const isOutdated = base !== webhook.version;
  const [request, setRequest] = useFirstRequest(webhook);
  const mayTest = useMayRepairWebhooks();
  const draftTest = useDraftTest(webhook.id, draft, request, mayTest);
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();
  const known = useKnownFields(webhook.environment, draft);
  const isChanged = draft !== webhook.transform;

  async function save() {
    setReplacing(false);
    const saved = await withToast(
      call<Webhook>(`/webhooks/${encodeURIComponent(webhook.id)}`, { method: "PUT", body: { transform: draft } }),
      ({ version }) => `Saved as version ${version}, which is now current.`,
    );
    if (!saved) return;
    // What was typed meanwhile goes on from there.
    setTyped((newer) => newer && { ...newer, version: saved.version });
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    await reload(queries, versionsQuery(webhook.id).queryKey);
  }

  /** Another page may have saved a version since this one read it. */
  async function saveUnlessOutdated() {
    const current = await queries.fetchQuery({ ...webhookQuery(webhook.id), staleTime: 0 }).catch(() => webhook);
    if (current.version === base) await save();
    else setReplacing(true);
  }

  const error = draftTest.data?.error ?? null;
  return (
    <div className="transform-tab">
      <section className="card editor-card" aria-label="Transform">
        <div className="card-head">
          <h2 className="grow">
            Transform{" "}
            <span className="quiet">
              {isChanged ? `draft${isOutdated ? ` of version ${base}` : ""}, not saved` : `version ${webhook.version}`}
            </span>
          </h2>
          {isChanged && (
            <button type="button" className="button small bare" onClick={() => setTyped(null)}>
              Discard
            </button>
          )}
          {mayTest && <BacktestButton webhook={webhook} draft={draft} />}
          {mayChange && (
            <button type="button" className="button small primary" disabled={!isChanged} onClick={() => void saveUnlessOutdated()}>
              <Icon name="check" size={14} /> Save
            </button>
          )}
        </div>
        <LazyEditor
          value={draft}
          onChange={(text) => setTyped({ text, version: base })}
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
      {mayTest && <Tester webhook={webhook} request={request} onRequest={setRequest} draftTest={draftTest} />}
      {replacing && (
        <FormDialog title={`Replace version ${webhook.version}?`} submit="Save" danger onClose={() => setReplacing(false)} onSubmit={save}>
          <p className="second">
            Your draft began with version {base}. Version {webhook.version} became current since then; its changes are not in your draft.
          </p>
        </FormDialog>
      )}
    </div>
  );
}

/** What the user typed and has not saved. */
interface Typed {
  text: string;
  /** The version that was current when the user began. */
  version: number;
}

/**
 * It survives navigation, reloads and the end of a session, but not closing the tab. Null: nothing, so that the editor follows the saved
 * transform when a new version is deployed.
 */
function useTyped({ id, transform }: Webhook): [Typed | null, Dispatch<SetStateAction<Typed | null>>] {
  const storedAs = `inlet.typed.${id}`;
  const [typed, setTyped] = useState<Typed | null>(() => JSON.parse(sessionStorage.getItem(storedAs) ?? "null"));
  useEffect(() => {
    if (typed?.text === transform) setTyped(null);
    else if (typed === null) sessionStorage.removeItem(storedAs);
    else sessionStorage.setItem(storedAs, JSON.stringify(typed));
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
