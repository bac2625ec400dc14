import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigInvalid, readConfig, unknownVariables } from "./config.ts";
import { settingsHelp } from "./help.ts";
import { flagOf, SETTINGS, variableOf } from "./settings.ts";

const read = (argv: string[], variables: Record<string, string> = {}) => readConfig("start", argv, variables);

function faultsOf(argv: string[], variables: Record<string, string> = {}): string[] {
  try {
    read(argv, variables);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigInvalid);
    return error.messages;
  }
}

test("defaults, and those that differ by mode", () => {
  const start = read([]);
  assert.deepEqual(
    [start.port, start.host, start.dataDir, start.dedupWindow, start.bodyLimit],
    [8288, "0.0.0.0", ".inlet", 86_400_000, 524_288],
  );
  assert.equal(readConfig("dev", [], {}).host, "127.0.0.1");
});

test("a flag is written with a space or an equals sign, and wins over the variable", () => {
  assert.equal(read(["--port", "1"], { INLET_PORT: "2" }).port, 1);
  assert.equal(read(["--port=3"]).port, 3);
  assert.equal(read([], { INLET_PORT: "2" }).port, 2);
  assert.equal(read([], { INLET_PORT: "" }).port, 8288, "an empty variable is none");
  assert.equal(read(["--data-dir=a=b"]).dataDir, "a=b");
});

test("a host may be an IPv6 address, with the brackets of a URL or without", () => {
  for (const [given, host] of [
    ["::1", "::1"],
    ["[::1]", "::1"],
    ["localhost", "localhost"],
  ] as const)
    assert.equal(read(["--host", given]).host, host);
});

test("units", () => {
  const window = (text: string) => read(["--dedup-window", text]).dedupWindow;
  assert.deepEqual(["250ms", "30s", "5m", "24h", "7d", "1.5h"].map(window), [250, 30_000, 300_000, 86_400_000, 604_800_000, 5_400_000]);
  const limit = (text: string) => read(["--body-limit", text]).bodyLimit;
  assert.deepEqual(["100b", "512kb", "4MB", "1 mb"].map(limit), [100, 524_288, 4_194_304, 1_048_576]);
  assert.equal(faultsOf(["--body-limit", "1constructor"]).length, 1);
});

test("lists: commas, or the flag several times", () => {
  assert.deepEqual(read(["--event-key", "a, b"]).eventKey, ["a", "b"]);
  assert.deepEqual(read(["--event-key", "a", "--event-key", "b"]).eventKey, ["a", "b"]);
  assert.deepEqual(read(["--trust-proxy", "10.0.0.0/8", "--trust-proxy", "::1"]).trustProxy, ["10.0.0.0/8", "::1"]);
});

test("a flag that takes one value is given once", () => {
  assert.deepEqual(faultsOf(["--data-dir", "a", "--data-dir", "b"]), ["--data-dir is given more than once"]);
});

test("spaces and line breaks around a value mean nothing", () => {
  const variables = {
    INLET_PORT: "80\r\n",
    INLET_LOG_LEVEL: "debug ",
    INLET_APP_URL: "http://a/x/ , http://b",
    INLET_TRUST_PROXY: "true\n",
  };
  const { port, logLevel, appUrl, trustProxy, databaseUrl } = read([], { ...variables, INLET_DATABASE_URL: "postgres://db/inlet\n" });
  assert.deepEqual(
    [port, logLevel, appUrl, trustProxy, databaseUrl],
    [80, "debug", ["http://a/x", "http://b"], true, "postgres://db/inlet"],
  );
});

test("a URL to which paths are appended has no query, and none has a password, which messages would repeat", () => {
  assert.equal(read(["--public-url", "https://inlet.example.com/in/"]).publicUrl, "https://inlet.example.com/in");
  for (const bad of ["https://inlet.example.com/?x=1", "https://inlet.example.com/#x"])
    assert.match(faultsOf(["--public-url", bad])[0] ?? "", /^--public-url must not contain "\?" or "#": paths are appended to it/);
  for (const flag of ["--public-url", "--app-url"])
    assert.deepEqual(faultsOf([flag, "https://me:hunter2@a.example"]), [`${flag} must not contain a user name or a password`]);
});

test("a flag that takes one value is given once", () => {
  assert.deepEqual(faultsOf(["--data-dir", "a", "--port=1", "--data-dir=b"]), ["--data-dir is given more than once"]);
  assert.deepEqual(read(["--trust-proxy", "10.0.0.1", "--trust-proxy", "10.0.0.2"]).trustProxy, ["10.0.0.1", "10.0.0.2"]);
});

test("trusted proxies: all, none, or ranges", () => {
  const trust = (text: string) => read(["--trust-proxy", text]).trustProxy;
  assert.deepEqual([trust("true"), trust("false"), trust("10.0.0.0/8, ::1")], [true, false, ["10.0.0.0/8", "::1"]]);
  for (const bad of ["yes", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/8/9", "example.com"])
    assert.equal(faultsOf(["--trust-proxy", bad]).length, 1, bad);
  assert.deepEqual(faultsOf(["--trust-proxy", "yes"]), [
    '--trust-proxy must be true, false or a list of addresses and CIDR ranges such as 10.0.0.0/8, not "yes"',
  ]);
});

test("the address of traces is one of the web, and says where the id goes", () => {
  const address = "https://traces.example/explore?left={%22query%22:%22{traceId}%22}";
  assert.equal(read(["--trace-url", address]).traceUrl, address);
  assert.equal(read([]).traceUrl, null);
  for (const bad of ["https://traces.example/", "traces.example/{traceId}", "javascript:alert('{traceId}')", "https://a b/{traceId}"]) {
    assert.match(
      faultsOf(["--trace-url", bad])[0] ?? "",
      /must be an address that starts with http:\/\/ or https:\/\/ and contains \{traceId\}/,
      bad,
    );
  }
});

test("every mistake is named, with what would be right", () => {
  const faults = faultsOf(["--port", "x", "--dedup-window", "24", "--body-limit", "0kb", "--nonsense", "1", "--data-dir", " "], {
    INLET_LOG_LEVEL: "loud",
  });
  assert.deepEqual(faults, [
    "--nonsense is not a flag of this command; --help lists them",
    '--port must be a whole number from 0 to 65535, not "x"',
    '--data-dir must not be empty, not " "',
    '--dedup-window must be a duration such as "250ms", "30s" or "24h", not "24"',
    '--body-limit must be from 1b to 256mb, not "0kb"',
    'INLET_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
  ]);
});

test("a mistyped flag is told with the nearest one", () => {
  assert.deepEqual(faultsOf(["--prot", "1"]), ["--prot is not a flag of this command; did you mean --port?"]);
});

test("a secret is never repeated in a message", () => {
  const [fault] = faultsOf(["--api-key", "hunter2,"]);
  assert.equal(fault, "--api-key must not be empty");
});

test("help shows every setting with its variable", () => {
  const help = settingsHelp("start");
  for (const name of Object.keys(SETTINGS)) {
    assert.ok(help.includes(`${flagOf(name)} <`), name);
    assert.ok(help.includes(variableOf(name)), name);
  }
});

test("a variable may also begin with SERVICE_; of both, INLET_ wins, and a fault names the one that was set", () => {
  assert.equal(read([], { SERVICE_PORT: "2" }).port, 2);
  assert.equal(read([], { SERVICE_PORT: "2", INLET_PORT: "3" }).port, 3);
  assert.equal(read([], { SERVICE_PORT: "2", INLET_PORT: "" }).port, 2);
  assert.deepEqual(faultsOf([], { SERVICE_PORT: "x" }), ['SERVICE_PORT must be a whole number from 0 to 65535, not "x"']);
});

test("unknown variables of ours are told with the nearest name; those that Kubernetes makes of a Service mean nothing", () => {
  assert.deepEqual(
    unknownVariables({ INLET_PROT: "1", INLET_NONSENSE: "x", INLET_ENV: "a", SERVICE_X: "y", INLET_PORT: "1", INLET_EMPTY: "" }),
    [
      "INLET_PROT is not a variable of Inlet and has no effect; did you mean INLET_PORT?",
      "INLET_NONSENSE is not a variable of Inlet and has no effect",
    ],
  );
  const links = { INLET_PORT: "tcp://10.0.0.1:8288", INLET_SERVICE_HOST: "10.0.0.1", INLET_PORT_8288_TCP_ADDR: "10.0.0.1" };
  assert.deepEqual([read([], links).port, unknownVariables(links)], [8288, []]);
});
