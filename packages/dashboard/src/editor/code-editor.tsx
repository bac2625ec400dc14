/** The transform editor, based on CodeMirror. Loaded on demand. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { editorTheme, styleNonce } from "./editor-theme.ts";
import { completeTransform, describeParameter, type TransformSample } from "./transform-completions.ts";

export interface EditorFault {
  message: string;
  line?: number;
  column?: number;
}

/** Marks the transaction that shows a new `value`. */
const isNewValue = Annotation.define<true>();

interface CodeEditorProps {
  value: string;
  /** Called for what the user changes, not for a new `value`. */
  onChange: (value: string) => void;
  label: string;
  faults?: readonly EditorFault[];
  /** A sample request for completing field names. */
  sample?: TransformSample;
  readOnly?: boolean;
}

export function CodeEditor({ value, onChange, label, faults = [], sample, readOnly = false }: CodeEditorProps) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const samples = useRef(sample);
  samples.current = sample;

  // biome-ignore lint/correctness/useExhaustiveDependencies: created once; changes are dispatched below
  useEffect(() => {
    if (!container.current) return;
    const editor = new EditorView({
      parent: container.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          ...editingExtensions(label, readOnly),
          autocompletion({ override: [(context) => completeTransform(context, samples.current)] }),
          hoverTooltip((shown, position) => describeParameter(shown, position)),
          EditorView.updateListener.of(({ docChanged, transactions, state }) => {
            const isTyped = docChanged && !transactions.some((transaction) => transaction.annotation(isNewValue));
            if (isTyped) changed.current(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const shown = view.current;
    if (!shown || shown.state.doc.toString() === value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value }, annotations: isNewValue.of(true) });
  }, [value]);

  useEffect(() => {
    const shown = view.current;
    if (shown)
      shown.dispatch(
        setDiagnostics(
          shown.state,
          faults.flatMap((fault) => diagnosticOf(shown.state, fault)),
        ),
      );
  }, [faults]);

  return <div ref={container} className="editor" />;
}

function editingExtensions(label: string, readOnly: boolean) {
  return [
    styleNonce(),
    lineNumbers(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    javascript(),
    editorTheme,
    EditorView.lineWrapping,
    EditorState.tabSize.of(2),
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
    // Escape, then Tab leaves the editor, as CodeMirror's accessibility guide recommends.
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
  ];
}

/** Marks the line from the fault's column. A fault without a line has no marker. */
function diagnosticOf({ doc }: EditorState, { line, column, message }: EditorFault): Diagnostic[] {
  if (line === undefined || line < 1 || line > doc.lines) return [];
  const { from, to } = doc.line(line);
  const start = Math.min(from + Math.max(0, (column ?? 1) - 1), to);
  return [{ from: start, to: Math.max(to, start), severity: "error", message }];
}
