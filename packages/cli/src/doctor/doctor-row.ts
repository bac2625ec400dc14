/** `inlet doctor`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { DOCTOR_FLAGS } from "./doctor-flags.ts";

export const DOCTOR: CommandRow = command({
  words: ["doctor"],
  sentence: "Checks settings, data folder, port, service, its nodes, clock, keys and apps, and says what to do.",
  more: "Changes nothing. What belongs to this machine (settings, folder, port) and to the service at --url is told apart in the list.",
  examples: [
    ["inlet doctor", "this machine, and the service on it"],
    ["inlet doctor --url https://inlet.example.com --json", "a deployed service, for a script"],
  ],
  exits: [
    [0, "no problem was found; warnings do not count"],
    [1, "at least one problem was found"],
    [2, "a mistake in the flags"],
  ],
  flags: DOCTOR_FLAGS,
  run: async (call) => (await import("./doctor.ts")).doctor(call),
});
