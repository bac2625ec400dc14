/** Completion for fish: a line for each word and flag, and functions that find the current command. */

import type { CompletionNode, FlagChoice } from "./completion-tree.ts";

export function fishScript(nodes: readonly CompletionNode[]): string {
  return `# Completion of inlet for fish, made by "inlet completion fish".
function __inlet_at --description 'Whether the command so far begins with these words'
    set -l given (commandline -opc)
    set -e given[1]
    set -l count (count $argv)
    test (count $given) -ge $count; and test "$given[1..$count]" = "$argv"
end
function __inlet_just --description 'Whether the command so far is just these words'
    set -l given (commandline -opc)
    set -e given[1]
    test "$given" = "$argv"
end
complete -c inlet -f
${nodes.flatMap(nodeLines).join("\n")}
`;
}

function nodeLines({ path, words, flags }: CompletionNode): string[] {
  const just = quoted(`__inlet_just ${path}`.trimEnd());
  const at = quoted(`__inlet_at ${path}`.trimEnd());
  const isLeaf = words.length === 0;
  return [
    ...words.map(({ word, sentence }) => `complete -c inlet -n ${just} -a ${word}${sentence === "" ? "" : ` -d ${quoted(sentence)}`}`),
    ...flags.map((flag) => `complete -c inlet -n ${isLeaf ? at : just} ${flagText(flag)}`),
    ...(path === "send" ? [`complete -c inlet -n ${at} -F`] : []),
  ];
}

function flagText({ word, sentence, takesValue, values, takesFile }: FlagChoice): string {
  const value = values.length > 0 ? ` -xa ${quoted(values.join(" "))}` : takesFile ? " -rF" : takesValue ? " -x" : "";
  return `-l ${word.slice(2)}${value} -d ${quoted(sentence)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
