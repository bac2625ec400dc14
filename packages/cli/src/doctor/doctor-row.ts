/** `inlet doctor`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { DOCTOR_FLAGS } from "./doctor-flags.ts";

export const DOCTOR: CommandRow = command({
  words: ["doctor"],
  sentence: "Checks settings, data folder, port, service, nodes, clock, keys and apps, and suggests fixes.",
  more: "Changes nothing, except with --app: an app whose SDK cannot list its functions (such as @inlet/sdk) registers itself with the service it is configured for, as in a sync. The list shows which findings are about this machine (settings, folder, port) and which about the service at --url. With --app, only the app is checked.",
  examples: [
    ["inlet doctor", "this machine, and the service on it"],
    ["inlet doctor --data --data-dir /var/lib/inlet", "and read the whole database"],
    ["inlet doctor --url https://inlet.example.com --json", "a deployed service, for a script"],
    ["inlet doctor --app http://localhost:3000/api/inngest", "an app with Inngest's SDK: what would differ on Inlet"],
  ],
  exits: [
    [0, "no problems found; warnings do not count"],
    [1, "at least one problem found"],
    [2, "invalid flags"],
  ],
  flags: DOCTOR_FLAGS,
  run: async (call) => (await import("./doctor.ts")).doctor(call),
});
