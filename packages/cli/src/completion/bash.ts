/** Completion for bash, which does not support descriptions. */

import type { CompletionNode } from "./completion-tree.ts";
import { type Dialect, walkWords } from "./walk-words.ts";

const BASH: Dialect = {
  words: { name: "COMP_WORDS", first: 1, current: "COMP_CWORD" },
  quoted: (text) => `"${text}"`,
  // Without values, bash completes files or nothing.
  offerValues: ({ values }) => (values.length > 0 ? `${reply(values)}; ` : ""),
  offerNode: ({ words, flags }) => reply([...words, ...flags].map(({ word }) => word)),
};

export function bashScript(nodes: readonly CompletionNode[]): string {
  return `# Completion of inlet for bash, made by "inlet completion bash".
_inlet() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" next i
  COMPREPLY=()
${walkWords(nodes, BASH)}
}
complete -o default -F _inlet inlet
`;
}

function reply(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$cur"))`;
}
