/** The command table as a completion tree: what can follow each sequence of words. */

import type { CommandGroup, CommandRow } from "../command-line/command-row.ts";

export interface Choice {
  word: string;
  sentence: string;
}

export interface FlagChoice extends Choice {
  takesValue: boolean;
  /** The possible values, if there are few. */
  values: readonly string[];
  takesFile: boolean;
}

export interface CompletionNode {
  /** `events list`; the empty string after `inlet` itself. */
  path: string;
  words: Choice[];
  flags: FlagChoice[];
}

const FILES: ReadonlySet<string> = new Set(["file", "folder"]);
const HELP: FlagChoice = { word: "--help", sentence: "Show help.", takesValue: false, values: [], takesFile: false };

export function completionTree(rows: readonly CommandRow[], groups: readonly CommandGroup[]): CompletionNode[] {
  const first = rows.map(({ words, sentence }) => {
    const word = words[0] as string;
    return { word, sentence: groups.find((group) => group.word === word)?.sentence ?? sentence };
  });
  const inGroups = groups.map(({ word }) => ({
    path: word,
    words: rows.filter(({ words }) => words[0] === word).map(({ words, sentence }) => ({ word: words[1] as string, sentence })),
    flags: [HELP],
  }));
  const root = { path: "", words: [...new Map(first.map((choice) => [choice.word, choice])).values()], flags: [HELP] };
  return [root, ...inGroups, ...rows.map(nodeOf)];
}

function nodeOf({ words, nameChoices = [], flags }: CommandRow): CompletionNode {
  const known = Object.entries(flags).map(([name, { type, sentence, placeholder = "", choices = [] }]) => ({
    word: `--${name}`,
    sentence,
    takesValue: type === "string",
    values: choices,
    takesFile: FILES.has(placeholder),
  }));
  return { path: words.join(" "), words: nameChoices.map((word) => ({ word, sentence: "" })), flags: [...known, HELP] };
}
