/** Reads the settings from flags and variables. The only code that reads the process environment. */

import { nearest } from "@inlet/protocol";
import { SettingFault } from "./readings.ts";
import {
  defaultOf,
  flagOf,
  isServiceLink,
  type Mode,
  SETTINGS,
  type Setting,
  type SettingName,
  VARIABLE_PREFIX,
  variableOf,
  variableValue,
} from "./settings.ts";

const NAMES = Object.keys(SETTINGS) as SettingName[];

type ValueOf<Name extends SettingName> = ReturnType<(typeof SETTINGS)[Name]["reading"]["parse"]>;

export type Config = { readonly mode: Mode } & { readonly [Name in SettingName]: ValueOf<Name> };

/** An error in flags or variables: every message says which one and what is expected. */
export class ConfigInvalid extends Error {
  readonly messages: string[];

  constructor(messages: string[]) {
    super(messages.join("\n"));
    this.name = "ConfigInvalid";
    this.messages = messages;
  }
}

export function readConfig(mode: Mode, argv: readonly string[], variables: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const flags = readFlags(argv, faults);
  const config: Record<string, unknown> = { mode };
  for (const name of NAMES) {
    const setting: Setting<unknown> = SETTINGS[name];
    const flag = flags.get(name);
    const given = variableValue(variableOf(name), variables);
    if (flag !== undefined) config[name] = parse(setting, flagOf(name), flag, faults);
    else if (given) config[name] = parse(setting, given.variable, given.value, faults);
    else config[name] = defaultOf(setting, mode);
  }
  if (faults.length > 0) throw new ConfigInvalid(faults);
  return config as Config;
}

function parse(setting: Setting<unknown>, origin: string, given: string, faults: string[]): unknown {
  try {
    // Files of variables and mounted secrets often end in a line break.
    return setting.reading.parse(given.trim());
  } catch (error) {
    if (!(error instanceof SettingFault)) throw error;
    // Secrets are not included: the message may end up in a log.
    faults.push(setting.secret || error.isSecret ? `${origin} ${error.message}` : `${origin} ${error.message}, not "${given}"`);
    return undefined;
  }
}

/** Sentences about variables that look like ours and are not known, with the nearest name. */
export function unknownVariables(variables: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...NAMES.map(variableOf), ...OTHER_VARIABLES];
  const unknown = Object.keys(variables).filter(
    (name) => name.startsWith(VARIABLE_PREFIX) && variables[name] && !known.includes(name) && !isServiceLink(name, variables[name]),
  );
  return unknown.map((name) => {
    const near = nearest(
      name.slice(VARIABLE_PREFIX.length),
      known.map((each) => each.slice(VARIABLE_PREFIX.length)),
    );
    return `${name} is not a variable of Inlet and has no effect${near ? `; did you mean ${VARIABLE_PREFIX}${near}?` : ""}`;
  });
}

/** Variables of the CLI and the SDK that are not settings of the service. */
const OTHER_VARIABLES: readonly string[] = ["BASE_URL", "ENV", "DEV", "EPHEMERAL", "SIGNING_KEY_FALLBACK"].map(
  (name) => VARIABLE_PREFIX + name,
);

/** `--port 80`, `--port=80`. Repeated flags of lists are joined with commas; no other flag may be repeated. */
function readFlags(argv: readonly string[], faults: string[]): Map<SettingName, string> {
  const flags = new Map<SettingName, string>();
  for (let i = 0; i < argv.length; i++) {
    const [flag = "", ...rest] = (argv[i] as string).split("=");
    const name = NAMES.find((candidate) => flagOf(candidate) === flag);
    if (!name) {
      faults.push(unknownFlag(flag));
      if (argv[i + 1]?.startsWith("--") === false) i++;
      continue;
    }
    const value = rest.length > 0 ? rest.join("=") : argv[++i];
    if (value === undefined) faults.push(`${flag} needs a value`);
    else if (flags.has(name) && !SETTINGS[name].reading.isList) faults.push(`${flag} is given more than once`);
    else flags.set(name, flags.has(name) ? `${flags.get(name)},${value}` : value);
  }
  return flags;
}

function unknownFlag(flag: string): string {
  const near = flag.startsWith("--")
    ? nearest(
        flag.slice(2),
        NAMES.map((name) => flagOf(name).slice(2)),
      )
    : null;
  return `${flag} is not a flag of this command${near ? `; did you mean --${near}?` : "; --help lists them"}`;
}
