/** Buttons that select the time range of a page's charts. */

import { SPANS, type SpanName } from "./span-search.ts";

export function SpanButtons({ span, onChange }: { span: SpanName; onChange: (span: SpanName) => void }) {
  return (
    <div className="segments">
      {(Object.keys(SPANS) as SpanName[]).map((name) => (
        <button key={name} type="button" className="segment" aria-pressed={name === span} onClick={() => onChange(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}
