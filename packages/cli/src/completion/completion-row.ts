/** `inlet completion`. */

import { type CommandRow, command } from "../command-line/command-row.ts";

export const COMPLETION: CommandRow = command({
  words: ["completion"],
  operands: "<bash|zsh|fish>",
  sentence: "Prints a shell completion script for commands and flags.",
  namesMin: 1,
  namesMax: 1,
  nameChoices: ["bash", "zsh", "fish"],
  examples: [
    ["inlet completion bash > ~/.local/share/bash-completion/completions/inlet", "bash; takes effect in new shells"],
    ['inlet completion zsh > "$HOME/.zsh/completions/_inlet"', "zsh, in a folder of $fpath"],
    ["inlet completion fish > ~/.config/fish/completions/inlet.fish", "fish"],
  ],
  exits: [
    [0, "printed"],
    [2, "unsupported shell"],
  ],
  flags: {},
  run: async (call) => (await import("./print-completion.ts")).printCompletion(call),
});
