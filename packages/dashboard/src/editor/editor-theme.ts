/** The CodeMirror theme in the dashboard's colours. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The page's content security policy allows only style elements with its nonce. */
export function styleNonce(): Extension {
  return EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "");
}

const colours = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "12.5px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.65" },
  ".cm-content": { caretColor: "var(--text)", padding: "10px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(rgb(15 23 42 / 4%), rgb(255 255 255 / 4%))" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "light-dark(#cfe9e5, #1d4a47) !important" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-parameter-doc": { padding: "8px 12px", maxWidth: "420px", lineHeight: "1.5" },
  ".cm-changedLine": { backgroundColor: "var(--ok-soft) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important" },
  ".cm-changedText": { background: "light-dark(#b5e4c9, #1f5236) !important" },
  ".cm-deletedText": { background: "light-dark(#f7c6c2, #6a2a25) !important" },
});

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--json-word)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--json-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--json-number)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--json-key)" },
  { tag: [tags.comment], color: "var(--text-3)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--text)", fontWeight: "600" },
  { tag: [tags.invalid], color: "var(--bad)" },
]);

export const editorTheme: Extension = [colours, syntaxHighlighting(highlight)];
