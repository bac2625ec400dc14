/** A text of a run's call that can be long: it scrolls, and is copied with one click. */

import { CopyButton } from "../ui/copy.tsx";

interface CallTextProps {
  title: string;
  text: string;
  note?: string;
  /** What the button copies. */
  copied?: string;
}

export function CallText({ title, text, note = "", copied = title.toLowerCase() }: CallTextProps) {
  return (
    <section className="stack tight" aria-label={title}>
      <div className="row">
        <h3>{title}</h3>
        <span className="quiet small grow">{note}</span>
        <CopyButton text={text} label={`Copy ${copied}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <pre className="logs call-text" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
