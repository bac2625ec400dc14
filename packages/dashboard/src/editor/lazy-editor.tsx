/** The editor and its diff, loaded on demand, with a placeholder of the same size. */

import { type ComponentProps, lazy, Suspense } from "react";
import { loadPart } from "../ui/load-part.ts";

const Editor = lazy(() => loadPart(() => import("./code-editor.tsx")).then(({ CodeEditor }) => ({ default: CodeEditor })));
const Diff = lazy(() => loadPart(() => import("./code-diff.tsx")).then(({ CodeDiff }) => ({ default: CodeDiff })));

export function LazyEditor(props: ComponentProps<typeof Editor>) {
  return (
    <Suspense fallback={<div className="editor quiet small editor-loading">Loading the editor…</div>}>
      <Editor {...props} />
    </Suspense>
  );
}

export function LazyDiff(props: ComponentProps<typeof Diff>) {
  return (
    <Suspense fallback={<div className="editor quiet small editor-loading">Loading the editor…</div>}>
      <Diff {...props} />
    </Suspense>
  );
}
