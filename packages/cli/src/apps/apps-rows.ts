/** `inlet apps …` and `inlet functions …`. */

import { EXIT } from "../command-line/command-result.ts";
import { type CommandRow, command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { CHECK_FLAGS, LIMIT_FLAGS, RESUME_FLAGS } from "./apps-flags.ts";

export const APPS_ROWS: readonly CommandRow[] = [
  command({
    words: ["apps", "list"],
    sentence: "Lists apps.",
    examples: [["inlet apps list", "with the error of the last sync, if any"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).listApps(call),
  }),
  command({
    words: ["apps", "sync"],
    operands: "<url>",
    sentence: "Syncs an app: registers its functions.",
    more: "The URL is where the app serves its functions. The service must be able to reach it.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet apps sync https://shop.example.com/api/inlet", "after each deployment"],
      ["inlet apps sync https://preview-7.example.com/api/inlet --env feature/cart", "a preview, in its branch environment"],
    ],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).syncApp(call),
  }),
  command({
    words: ["apps", "check"],
    operands: "<url>",
    sentence: "Checks a new build before it is deployed: lists unfinished runs that wait in a step that the build does not have.",
    more: "Sends the stored results of each run to the build and asks what it would do next. No step runs. Code outside steps runs, as in every call.\nBuilds with an SDK that cannot answer this are not checked. The command itself must be able to reach the URL.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet apps check http://localhost:3001/api/inlet", "a build that runs beside the one in use"],
      ["INLET_SIGNING_KEY=… inlet apps check https://next.example.com/api/inlet --app shop", "in CI; see the exit code"],
    ],
    exits: [
      [0, "every run can continue"],
      [1, "runs wait in unknown steps, or an error occurred"],
      [2, "the build cannot be asked without running code"],
    ],
    usageExit: EXIT.failed,
    flags: CHECK_FLAGS,
    run: async (call) => (await import("./check/check-build.ts")).checkBuild(call),
  }),
  command({
    words: ["apps", "remove"],
    operands: "<app>",
    sentence: "Removes an app. Its functions start no new runs.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet apps remove shop", "by id or name"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).removeApp(call),
  }),
  command({
    words: ["functions", "list"],
    sentence: "Lists functions with their triggers.",
    examples: [["inlet functions list", "functions of the default environment"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).listFunctions(call),
  }),
  command({
    words: ["functions", "pause"],
    operands: "<function id>",
    sentence: "Pauses a function. New runs are created, and wait until it is resumed.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet functions pause shop-ship", "until it is resumed"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).pauseFunction(call),
  }),
  command({
    words: ["functions", "resume"],
    operands: "<function id>",
    sentence: "Resumes a paused function.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet functions resume shop-ship", "runs that waited continue"],
      ["inlet functions resume shop-ship --held cancel", "runs that waited are cancelled"],
    ],
    flags: RESUME_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).resumeFunction(call),
  }),
  command({
    words: ["functions", "limit"],
    operands: "<function id>",
    sentence: "Limits a function without a deploy. The limits take precedence over those that its app registered.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet functions limit shop-ship --concurrency 5", "five at a time"],
      ["inlet functions limit shop-ship --throttle 10/1m", "ten starts a minute"],
      ["inlet functions limit shop-ship --concurrency none", "as its app registered it"],
    ],
    flags: LIMIT_FLAGS,
    run: async (call) => (await import("./limit-function.ts")).limitFunction(call),
  }),
];
