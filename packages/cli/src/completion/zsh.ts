/** Completion for zsh, with descriptions. */

import type { Choice, CompletionNode } from "./completion-tree.ts";
import { type Dialect, walkWords } from "./walk-words.ts";

const ZSH: Dialect = {
  words: { name: "words", first: 2, current: "CURRENT" },
  quoted,
  offerValues: ({ values, takesFile }) => (values.length > 0 ? `compadd -- ${values.join(" ")}; ` : takesFile ? "_files; " : ""),
  offerNode: ({ words, flags }) => `commands=(${words.map(described).join(" ")}); flags=(${flags.map(described).join(" ")})`,
};

export function zshScript(nodes: readonly CompletionNode[]): string {
  return `#compdef inlet
# Completion of inlet for zsh, made by "inlet completion zsh".
_inlet() {
  local at="" next prev="\${words[CURRENT-1]}" i
  local -a commands flags
${walkWords(nodes, ZSH)}
  _describe command commands
  _describe flag flags
  [[ "$PREFIX" == -* ]] || _files
}
if [ "\${funcstack[1]}" = "_inlet" ]; then _inlet "$@"; else compdef _inlet inlet; fi
`;
}

function described({ word, sentence }: Choice): string {
  return quoted(sentence === "" ? word : `${word}:${sentence}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
