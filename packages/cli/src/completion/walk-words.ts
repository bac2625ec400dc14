/**
 * The common part of the bash and zsh scripts: a loop over the words finds the node of the completion tree, then
 * offers the values of a flag, or the words and flags that can follow.
 */

import type { CompletionNode, FlagChoice } from "./completion-tree.ts";

export interface Dialect {
  /** The array of words, the index of the first word after `inlet`, and the index of the word to complete. */
  words: { name: string; first: number; current: string };
  quoted(text: string): string;
  /** Offers the values of a flag; empty if there are none. */
  offerValues(flag: FlagChoice): string;
  offerNode(node: CompletionNode): string;
}

export function walkWords(nodes: readonly CompletionNode[], { words, quoted, offerValues, offerNode }: Dialect): string {
  const paths = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const afterFlag = nodes.flatMap(({ path, flags }) =>
    flags.filter(({ takesValue }) => takesValue).map((flag) => `    ${quoted(`${path} ${flag.word}`)}) ${offerValues(flag)}return ;;`),
  );
  return `  for ((i = ${words.first}; i < ${words.current}; i++)); do
    next="\${at:+$at }\${${words.name}[i]}"
    case "$next" in
      ${paths.join("|")}) at="$next" ;;
      *) break ;;
    esac
  done
  case "$at $prev" in
${afterFlag.join("\n")}
  esac
  case "$at" in
${nodes.map((node) => `    ${quoted(node.path)}) ${offerNode(node)} ;;`).join("\n")}
  esac`;
}
