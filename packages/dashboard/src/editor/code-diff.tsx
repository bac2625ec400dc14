/** Two versions of a transform, as one text with what went and what came. */

import { javascript } from "@codemirror/lang-javascript";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { editorTheme, styleNonce } from "./editor-theme.ts";

export function CodeDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return;
    const view = new EditorView({
      parent: place.current,
      doc: after,
      extensions: [
        styleNonce(),
        lineNumbers(),
        javascript(),
        editorTheme,
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
      ],
    });
    return () => view.destroy();
  }, [before, after, label]);
  return <div ref={place} className="editor" />;
}
