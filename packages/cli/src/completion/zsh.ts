/** Completion for zsh, with descriptions. */

import type { Choice, Place } from "./completion-tree.ts";

export function zshScript(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `#compdef inlet
# Completion of inlet for zsh, made by "inlet completion zsh".
_inlet() {
  local at="" next prev="\${words[CURRENT-1]}" i
  local -a commands flags
  for ((i = 2; i < CURRENT; i++)); do
    next="\${at:+$at }\${words[i]}"
    case "$next" in
      ${paths.join("|")}) at="$next" ;;
      *) break ;;
    esac
  done
  case "$at $prev" in
${places.flatMap(valueCases).join("\n")}
  esac
  case "$at" in
${places.map(placeCase).join("\n")}
  esac
  _describe command commands
  _describe flag flags
  [[ "$PREFIX" == -* ]] || _files
}
if [ "\${funcstack[1]}" = "_inlet" ]; then _inlet "$@"; else compdef _inlet inlet; fi
`;
}

function valueCases({ path, flags }: Place): string[] {
  return flags
    .filter(({ takesValue }) => takesValue)
    .map(({ word, values, takesFile }) => {
      const reply = values.length > 0 ? `compadd -- ${values.join(" ")}; ` : takesFile ? "_files; " : "";
      return `    ${quoted(`${path} ${word}`)}) ${reply}return ;;`;
    });
}

function placeCase({ path, words, flags }: Place): string {
  return `    ${quoted(path)}) commands=(${words.map(described).join(" ")}); flags=(${flags.map(described).join(" ")}) ;;`;
}

function described({ word, sentence }: Choice): string {
  return quoted(sentence === "" ? word : `${word}:${sentence}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
