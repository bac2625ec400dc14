/** Completion for bash, which knows words but no descriptions. */

import type { Place } from "./completion-tree.ts";

export function bashScript(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  return `# Completion of inlet for bash, made by "inlet completion bash".
_inlet() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" next i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
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
}
complete -o default -F _inlet inlet
`;
}

/** After a flag with a value come its values, a file (bash's default), or nothing to suggest. */
function valueCases({ path, flags }: Place): string[] {
  return flags
    .filter(({ takesValue }) => takesValue)
    .map(({ word, values }) => {
      const reply = values.length > 0 ? `COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$cur")); ` : "";
      return `    "${path} ${word}") ${reply}return ;;`;
    });
}

function placeCase({ path, words, flags }: Place): string {
  const all = [...words, ...flags].map(({ word }) => word).join(" ");
  return `    "${path}") COMPREPLY=($(compgen -W "${all}" -- "$cur")) ;;`;
}
