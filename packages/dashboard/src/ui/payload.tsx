/** A payload as a tree or raw text, with a copy button and the page's own tools. */

import { type ReactNode, useMemo, useState } from "react";
import { formatJson, type JsonText } from "../api/json-text.ts";
import { CopyButton } from "./copy.tsx";
import { JsonTree } from "./json-tree.tsx";
import { bytes } from "./numbers.ts";

const RAW_UNITS_MAX = 100_000;

interface PayloadProps {
  text: JsonText;
  title: string;
  /** Tells it apart from others with this title. */
  label?: string;
  tools?: ReactNode;
}

export function Payload({ text, title, label = title, tools }: PayloadProps) {
  const [view, setView] = useState<"tree" | "raw">("tree");
  return (
    <section className="payload" aria-label={label}>
      <div className="payload-bar">
        <h3>{title}</h3>
        <span className="quiet small num">{bytes(new Blob([text]).size)}</span>
        <span className="grow" />
        {tools}
        <div className="segments">
          {(["tree", "raw"] as const).map((one) => (
            <button key={one} type="button" className="segment" aria-pressed={view === one} onClick={() => setView(one)}>
              {one === "tree" ? "Tree" : "Raw"}
            </button>
          ))}
        </div>
        <CopyButton text={() => formatJson(text)} label={`Copy ${title.toLowerCase()}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <div className="payload-body" tabIndex={0}>
        {view === "tree" ? <JsonTree text={text} label={label} /> : <RawText text={text} />}
      </div>
    </section>
  );
}

function RawText({ text }: { text: JsonText }) {
  const [whole, setWhole] = useState(false);
  const formatted = useMemo(() => formatJson(text), [text]);
  const cut = !whole && formatted.length > RAW_UNITS_MAX;
  return (
    <>
      <pre className="payload-raw">{cut ? formatted.slice(0, RAW_UNITS_MAX) : formatted}</pre>
      {cut && (
        <button type="button" className="json-more" onClick={() => setWhole(true)}>
          show all {bytes(formatted.length)}
        </button>
      )}
    </>
  );
}
