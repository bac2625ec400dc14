/** The sub-commands of `inlet webhooks` and their flags, once. Parsing and help come from here. */

export interface Flag {
  type: "string" | "boolean";
  /** What stands in the value's place in help. */
  placeholder?: string;
  /** The variable that is read when the flag is not given. */
  variable?: string;
  fallback?: string;
  sentence: string;
}

export const FLAGS = {
  dir: { type: "string", placeholder: "folder", fallback: "webhooks", sentence: "The folder of the webhooks." },
  from: { type: "string", placeholder: "provider", sentence: "The provider to start from; --list shows them." },
  list: { type: "boolean", sentence: "List the providers there are, and write nothing." },
  force: { type: "boolean", sentence: "Overwrite local files that differ with what the server has." },
  prune: { type: "boolean", sentence: "Also delete webhooks that are not in the folder, in the environments its entries name." },
  "skip-tests": { type: "boolean", sentence: "Do not run the fixtures first." },
  url: {
    type: "string",
    placeholder: "url",
    variable: "SERVICE_BASE_URL",
    fallback: "http://localhost:8288",
    sentence: "Where the service is.",
  },
  "api-key": { type: "string", placeholder: "key", variable: "SERVICE_API_KEY", sentence: "API key; a dev server needs none." },
  env: {
    type: "string",
    placeholder: "name",
    variable: "SERVICE_ENV",
    sentence: 'Environment of webhooks whose file names none; else it is the server\'s default one. "branch" is what all branches share.',
  },
  json: { type: "boolean", sentence: "Print one JSON document instead of text." },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

export interface CommandRow {
  usage: string;
  sentence: string;
  /** What a person should know beyond the sentence. */
  more: string;
  flags: readonly FlagName[];
  /** How many names may follow. */
  namesMax: number;
  examples: readonly (readonly [command: string, meaning: string])[];
  exits: readonly (readonly [code: number, meaning: string])[];
}

const SERVER_FLAGS = ["dir", "url", "api-key", "env", "json"] as const;

export const COMMANDS = {
  new: {
    usage: "new [name] [--from <provider>]",
    sentence: "Writes a new webhook into the folder, started from a provider's transform and fixtures.",
    more: "Nothing is sent to the server. The name is the provider's unless given; without --from it starts from a generic transform.\nAn environment given by --env is written into the file. A folder that exists is never overwritten.",
    flags: ["dir", "from", "list", "env", "json"],
    namesMax: 1,
    examples: [
      ["inlet webhooks new --from stripe", "writes webhooks/stripe/"],
      ['inlet webhooks new "Shop EU" --from shopify --env staging', "writes webhooks/shop-eu/, for staging"],
      ["inlet webhooks new --list", "lists the providers"],
    ],
    exits: [
      [0, "written"],
      [1, "nothing was written"],
    ],
  },
  test: {
    usage: "test [name …]",
    sentence: "Runs the fixtures of the folder in the service's own sandbox, offline.",
    more: "Each fixture is a request and the event it becomes. Also finds transforms that do not parse. Names of folders choose some of them.",
    flags: ["dir", "json"],
    namesMax: Number.POSITIVE_INFINITY,
    examples: [
      ["inlet webhooks test", "runs all fixtures"],
      ["inlet webhooks test stripe", "only those of webhooks/stripe/"],
    ],
    exits: [
      [0, "every fixture passed"],
      [1, "a fixture failed, or something else went wrong"],
    ],
  },
  pull: {
    usage: "pull",
    sentence: "Writes the server's webhooks into the folder.",
    more: "What the folder does not have is written. Files that differ are shown and left as they are, unless --force is given.\nFixtures, and entries the server does not know, are never touched.",
    flags: [...SERVER_FLAGS, "force"],
    namesMax: 0,
    examples: [
      ["inlet webhooks pull", "the default environment, and those the folder's entries name"],
      ["inlet webhooks pull --env staging --force", "staging too, and the server's version wins"],
    ],
    exits: [
      [0, "the folder has what the server has"],
      [1, "something went wrong"],
      [2, "local files differ and were left as they are"],
    ],
  },
  plan: {
    usage: "plan",
    sentence: "Prints what apply would change, and changes nothing.",
    more: "Shows what would be created and changed, field by field, and with --prune what would be deleted.",
    flags: [...SERVER_FLAGS, "prune"],
    namesMax: 0,
    examples: [
      ["inlet webhooks plan", "against http://localhost:8288"],
      ["SERVICE_API_KEY=… inlet webhooks plan --url https://inlet.example.com", "in CI: the exit code tells"],
    ],
    exits: [
      [0, "nothing would change"],
      [1, "something went wrong"],
      [2, "something would change"],
    ],
  },
  apply: {
    usage: "apply",
    sentence: "Makes the server have what the folder says.",
    more: "The fixtures are run first; one that fails stops it before anything is sent. A new webhook's URL is printed, and its id recorded\nin its webhook.json.",
    flags: [...SERVER_FLAGS, "prune", "skip-tests"],
    namesMax: 0,
    examples: [
      ["inlet webhooks apply", "against http://localhost:8288"],
      ["SERVICE_API_KEY=… inlet webhooks apply --prune --url https://inlet.example.com", "in CI, where the folder is the whole truth"],
    ],
    exits: [
      [0, "the server has what the folder says"],
      [1, "something went wrong; what was done until then is printed"],
    ],
  },
} as const satisfies Record<string, CommandRow>;

export type CommandName = keyof typeof COMMANDS;
