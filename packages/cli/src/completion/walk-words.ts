/**
 * What scripts of bash and zsh have in common: a loop over the words so far finds the place in the tree of commands, then what may
 * follow a flag is offered, else what may follow the place.
 */

import type { FlagChoice, Place } from "./completion-tree.ts";

export interface Dialect {
  /** The array of words, the index of the first after `inlet`, and that of the word to complete. */
  words: { name: string; first: number; current: string };
  quoted(text: string): string;
  /** Offers the values of a flag; empty: there is nothing to suggest. */
  offerValues(flag: FlagChoice): string;
  offerPlace(place: Place): string;
}

export function walkWords(places: readonly Place[], { words, quoted, offerValues, offerPlace }: Dialect): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const afterFlag = places.flatMap(({ path, flags }) =>
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
${places.map((place) => `    ${quoted(place.path)}) ${offerPlace(place)} ;;`).join("\n")}
  esac`;
}
