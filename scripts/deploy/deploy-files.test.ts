/** The files of deploy/ agree with each other, with the settings and with the guides; tools that are installed check them too. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { settingsNames } from "../../packages/server/src/config/help.ts";
import { stopBoundMs } from "../../packages/server/src/service/stop-bound.ts";
import { ROOT, readManifest } from "../release/pack-packages.ts";
import { ageOfPins, imagePins, readPins } from "./image-pins.ts";
import { readDockerfile } from "./read-dockerfile.ts";

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const IMAGE = readDockerfile(read("deploy/image/Dockerfile"));
const CHART = "deploy/helm/inlet";
const VARIABLES = new Set(settingsNames().map(({ variable }) => variable));

/** Runs a tool on the files if this machine has it. */
function withTool(t: TestContext, command: string, ...argv: string[]): string | null {
  const { error, status, stdout, stderr } = spawnSync(command, argv, { cwd: ROOT, encoding: "utf8" });
  if (error) {
    t.diagnostic(`${command} is not installed here`);
    return null;
  }
  assert.equal(status, 0, `${command} ${argv.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

test("the image has no shell, is not root, stops by a signal, and says whether it is healthy", () => {
  const dockerfile = read("deploy/image/Dockerfile");
  const bases = new Map([...dockerfile.matchAll(/^ARG (\w+_BASE)=(\S+)$/gm)].map(([, name = "", image = ""]) => [`\${${name}}`, image]));
  assert.match(bases.get(IMAGE.from) ?? "", /^gcr\.io\/distroless\/nodejs24-debian\d+:nonroot@sha256:[0-9a-f]{64}$/);
  const used = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, from = ""]) => from);
  assert.deepEqual(used.sort(), [...bases.keys()].sort(), "every base can be replaced");
  assert.deepEqual([IMAGE.user, IMAGE.stopSignal, IMAGE.command.at(-1)], ["65532:65532", "SIGTERM", "start"]);
  assert.equal(IMAGE.volume, IMAGE.variables.INLET_DATA_DIR);
  assert.match(IMAGE.healthCheck.join(" "), /health-check\.mjs$/);
  for (const name of Object.keys(IMAGE.variables)) assert.ok(name === "NODE_ENV" || VARIABLES.has(name), name);
  const copied = [...read("deploy/image/Dockerfile").matchAll(/^COPY (?!--from)(.*) \.\/$/gm)].flatMap(([, files = ""]) =>
    files.split(" "),
  );
  const kept = [...read("deploy/image/.dockerignore").matchAll(/^!(.*)$/gm)].map(([, file = ""]) => file);
  assert.deepEqual(copied.sort(), kept.sort(), "what the Dockerfile copies is what reaches it");
});

test("every image of others is pinned by its digest, whose day is written down", () => {
  const pins = imagePins();
  assert.deepEqual(pins.map(({ image }) => image.split(/[:/]/).find((part) => /^(?:node|nginx|postgres)/.test(part))).sort(), [
    "nginx",
    "node",
    "nodejs24-debian13",
    "postgres",
  ]);
  for (const { file, image, digest, day } of pins) {
    assert.match(image, /:[\w.-]+$/, `${file}: ${image} names its version too`);
    assert.match(digest ?? "", /^sha256:[0-9a-f]{64}$/, `${file}: ${image}`);
    assert.ok(Date.parse(day ?? "") < Date.now(), `${file}: the day of its digests`);
  }
  assert.deepEqual(
    readPins("f", `FROM node:24 AS build\nFROM \${BASE}\n`).map(({ image, digest, day }) => [image, digest, day]),
    [["node:24", null, null]],
    "a base without a digest is found",
  );
  // Commands that look a digest up name the image without one.
  const uses =
    /(?:^FROM |\bimage: |docker (?:run|pull)[^\n]*? )((?:[\w.-]+\/)*(?:node|nginx|postgres|nodejs24-debian13):[\w.-]+)(?!\S*@sha256:)/gm;
  for (const file of [...globSync("docs/**/*.md", { cwd: ROOT }), "README.md", "CONTRIBUTING.md"])
    assert.deepEqual(
      [...read(file).matchAll(uses)].map(([, image]) => image),
      [],
      `${file}: images without digest`,
    );
});

test("a release says how old the digests are, and when to renew them", () => {
  const pins = [{ file: "Dockerfile", image: "node:24", digest: null, day: "2026-01-01" }];
  assert.deepEqual(ageOfPins(pins, new Date("2026-01-31T12:00:00Z")), ["Dockerfile: the digests of its images are 30 days old"]);
  assert.match(ageOfPins(pins, new Date("2026-04-01"))[0] ?? "", /90 days old\. Renew them: docs\/how-to\/containers\.md$/);
  const guide = read("docs/how-to/containers.md");
  for (const { image } of imagePins()) assert.ok(guide.includes(`docker buildx imagetools inspect ${image} `), image);
});

interface Service {
  image: string;
  environment?: Record<string, string>;
  volumes?: string[];
  tmpfs?: string[];
  networks?: string[];
  read_only?: boolean;
  stop_grace_period?: string;
}

function composeFile(file: string): {
  services: Record<string, Service>;
  networks?: Record<string, { ipam: { config: { subnet: string }[] } }>;
} {
  return parse(read(file), { merge: true });
}

function assertNode(name: string, { image, environment = {}, read_only: isReadOnly, stop_grace_period: grace }: Service): void {
  assert.deepEqual([image, isReadOnly], [`\${INLET_IMAGE:-inlet}`, true], name);
  for (const variable of Object.keys(environment)) assert.ok(VARIABLES.has(variable), `${name}: ${variable}`);
  const [delay = 0, drain = 0] = [environment.INLET_DRAIN_DELAY ?? "0s", environment.INLET_DRAIN_TIMEOUT ?? "10s"].map((text) =>
    Number.parseInt(text, 10),
  );
  assert.equal(delay, 5, `${name}: requests are accepted while the proxy notices that the node stops`);
  const boundMs = stopBoundMs({ drainDelay: delay * 1_000, drainTimeout: drain * 1_000 });
  assert.ok(Number.parseInt(grace ?? "0", 10) * 1_000 > boundMs, `${name}: Docker waits longer than the service`);
}

test("compose.yaml: one node whose store is in a volume", (t) => {
  const { services } = composeFile("deploy/compose.yaml");
  const { inlet } = services;
  assert.ok(inlet);
  assertNode("inlet", inlet);
  assert.deepEqual(inlet.volumes, [`data:${IMAGE.volume}`]);
  withCompose(t, "deploy/compose.yaml");
});

test("compose.postgres.yaml: two equal nodes, one database, a proxy that knows both and is trusted", (t) => {
  const { services, networks } = composeFile("deploy/compose.postgres.yaml");
  const { "node-1": one, "node-2": two, proxy, postgres } = services;
  assert.ok(one && two && proxy && postgres);
  assert.deepEqual(one, two);
  assertNode("node-1", one);
  assert.equal(networks?.inlet?.ipam.config[0]?.subnet, one.environment?.INLET_TRUST_PROXY, "the proxy's network is trusted");
  assert.match(one.environment?.INLET_DATABASE_URL ?? "", /^postgres:\/\/inlet:.*@postgres:5432\/inlet$/);
  const nginx = read("deploy/nginx.conf");
  const upstream = [...nginx.matchAll(/^\s+server (\S+):(\d+) /gm)].map(([, host, port]) => `${host}:${port}`);
  assert.deepEqual(
    upstream,
    ["node-1", "node-2"].map((node) => `${node}:${IMAGE.variables.INLET_PORT}`),
  );
  for (const line of nginx.split("\n").map((text) => text.trim())) assert.match(line, /^$|^#|[;{}]$/, line);
  withCompose(t, "deploy/compose.postgres.yaml");
});

function withCompose(t: TestContext, file: string): void {
  if (spawnSync("docker", ["compose", "version"]).status !== 0) return t.diagnostic("docker compose is not installed here");
  const env = { ...process.env, INLET_DATABASE_PASSWORD: "x" };
  const { status, stderr } = spawnSync("docker", ["compose", "--file", file, "config", "--quiet"], { cwd: ROOT, env, encoding: "utf8" });
  assert.ok(status === 0 || /inlet\.env/.test(stderr), stderr);
}

test("the proxy has the settings that the guide to self-hosting explains", () => {
  const guide = /^```nginx\n([\s\S]*?)^```$/m.exec(read("docs/how-to/self-hosting.md"))?.[1] ?? "";
  const directives = (text: string) =>
    new Map(
      [...text.matchAll(/^\s+((?:proxy_(?!pass)|client_)\w+(?: (?:Host|X-\S+|Connection))?) (.*);$/gm)].map(([, name = "", value = ""]) => [
        name,
        value,
      ]),
    );
  const ours = directives(read("deploy/nginx.conf"));
  for (const [name, value] of directives(guide)) if (!name.endsWith(" Host")) assert.equal(ours.get(name), value, name);
});

test("the unit is the guide's", (t) => {
  const guide = /^```systemd\n([\s\S]*?)^```$/m.exec(read("docs/how-to/self-hosting.md"))?.[1];
  assert.equal(read("deploy/inlet.service"), guide);
  withTool(t, "systemd-analyze", "verify", "deploy/inlet.service");
  const report = withTool(t, "systemd-analyze", "security", "--offline=true", "deploy/inlet.service");
  if (report !== null) assert.match(report, /Overall exposure level for inlet\.service: [01]\.\d OK/, report);
});

test("one list of public paths: the chart's, nginx's, the guide's and that of the page on security", () => {
  const paths: string[] = parse(read(`${CHART}/values.yaml`)).ingress.paths;
  assert.ok(paths.includes("/e/") && paths.includes("/fn/") && paths.includes("/v1/realtime/"));
  const security = read("docs/explanation/security.md");
  const listed = /expose only what senders, apps and subscribers need: ([^.]*?)\. Keep the rest/.exec(security)?.[1] ?? "";
  assert.deepEqual([...listed.matchAll(/`([^`]+)`/g)].map(([, path]) => path).sort(), [...paths].sort());
  const internal = [
    "/",
    "/v1/events",
    "/v1/keys",
    "/metrics",
    "/ready",
    "/login",
    "/docs/",
    "/v1/session",
    "/v1/realtimes",
    "/health/x",
    "/events",
  ];
  for (const file of ["deploy/nginx.conf", "docs/how-to/self-hosting.md"]) {
    const [, pattern = ""] = /location ~ "([^"]+)" \{/.exec(read(file)) ?? [];
    const isPublic = new RegExp(pattern);
    for (const path of paths) assert.ok(isPublic.test(path.endsWith("/") ? `${path}x` : path), `${file}: ${path}`);
    for (const path of internal) assert.ok(!isPublic.test(path), `${file}: ${path}`);
    assert.match(read(file), /location \/ \{\s+(?:allow [\d./]+;\s+)+deny all;/, `${file}: the rest is not for everyone`);
  }
});

test("the chart's values keep to their schema, which refuses what does not exist", () => {
  const schema = JSON.parse(read(`${CHART}/values.schema.json`));
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const values: Record<string, Record<string, unknown>> = parse(read(`${CHART}/values.yaml`));
  assert.ok(validate(structuredClone(values)), JSON.stringify(validate.errors));
  interface Described {
    properties?: Record<string, Described>;
  }
  // Below a value of free form, nothing is described.
  const described = (path: string) =>
    path.split(".").reduce<Described | undefined>((part, name) => (part && !part.properties ? part : part?.properties?.[name]), schema);
  for (const path of leaves(values)) assert.ok(described(path), `values.schema.json does not describe ${path}`);
  for (const wrong of [
    { postgress: { enabled: true } },
    { replica: 3 },
    { image: { ...values.image, digest: "latest" } },
    { replicas: 0 },
    { ingress: { ...values.ingress, hosts: [] } },
    { autoscaling: { ...values.autoscaling, kind: "on" } },
    { settings: { EVENT_RETENTION: "90d" } },
    { publicUrl: "inlet.example.com" },
  ])
    assert.ok(!validate({ ...values, ...wrong }), JSON.stringify(wrong));
  assert.match(read(`${CHART}/templates/NOTES.txt`), /\(not \.Values\.trustProxy\)[\s\S]*WARNING: trustProxy is not set/);
  assert.match(
    read(`${CHART}/templates/nodes.yaml`),
    /terminationGracePeriodSeconds: {{ add \.Values\.drainDelaySeconds \(mul 2 \.Values\.drainSeconds\) 35 }}/,
    "longer than a stop may take",
  );
  assert.match(read(`${CHART}/templates/autoscaling.yaml`), /name: inlet_queue_age_seconds[\s\S]*max\(inlet_queue_age_seconds\{/);
});

test("the chart: its values are used, what it uses is a value, and it runs the image as it is made", () => {
  assert.equal(parse(read(`${CHART}/values.yaml`)).drainDelaySeconds, 5);
  const { version, appVersion } = parse(read(`${CHART}/Chart.yaml`));
  assert.deepEqual([version, appVersion], [readManifest("packages/cli").version, readManifest("packages/cli").version]);
  const templates = globSync("templates/*", { cwd: join(ROOT, CHART) }).map((file) => read(join(CHART, file)));
  const text = templates.join("\n");
  const used = new Set([...text.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path = ""]) => path));
  const values = parse(read(`${CHART}/values.yaml`));
  for (const path of used) assert.notEqual(valueAt(values, path), undefined, `values.yaml has no ${path}`);
  for (const path of leaves(values))
    assert.ok(
      [...used].some((name) => path === name || path.startsWith(`${name}.`)),
      `${path} is not used`,
    );
  assert.equal(text.split("{{").length, text.split("}}").length);
  assert.ok(text.includes(`runAsUser: ${IMAGE.user.split(":")[0]}`) && text.includes(`mountPath: ${IMAGE.volume}`));
  for (const [, name = ""] of text.matchAll(/- name: (INLET_\w+)/g)) assert.ok(VARIABLES.has(name), name);
  for (const path of ["/health", "/ready"]) assert.ok(text.includes(`path: ${path}`), path);
  assert.ok(
    text.includes(`- name: http\n              containerPort: ${IMAGE.variables.INLET_PORT}\n`),
    "the port that the image listens on",
  );
  for (const [, port] of text.matchAll(/\bhttpGet:\s+path: \S+\s+port: (\S+)/g)) assert.equal(port, "http");
  const ofPostgres = /if \.Values\.postgres\.enabled \}\}[^{]*?- name: INLET_DATABASE_URL\s+valueFrom:\s+secretKeyRef:(?!\s+optional)/;
  assert.match(text, ofPostgres, "a secret without the URL stops the pod, not a store in a volume that is deleted with it");
});

test("the chart keeps the figures, which need no key, inside the cluster", () => {
  const [api = "", figures = ""] = read(`${CHART}/templates/service.yaml`).split("\n---\n");
  assert.match(api, /type: \{\{ \.Values\.service\.type \}\}/);
  assert.doesNotMatch(api, /name: metrics/);
  assert.match(figures, /type: ClusterIP[\s\S]*name: metrics/);
});

test("the guide names the variables, files, values and version that there are, and its keys stay out of git", () => {
  const guide = read("docs/how-to/containers.md");
  const composed = ["deploy/compose.yaml", "deploy/compose.postgres.yaml"].map(read).join("\n");
  const variables = new Set([...composed.matchAll(/\$\{(INLET_\w+)/g)].map(([, name = ""]) => name));
  const explained = [...guide.matchAll(/^\| `(INLET_\w+)`/gm)].map(([, name = ""]) => name);
  assert.deepEqual(explained.sort(), [...variables].sort());
  for (const [, file = ""] of guide.matchAll(/\b(deploy\/[\w./-]+[\w])/g))
    assert.ok(file === "deploy/inlet.env" || existsSync(join(ROOT, file)), file);
  const values = parse(read(`${CHART}/values.yaml`));
  for (const [, path = "", name = ""] of guide.matchAll(/--set (?:settings\.(INLET_\w+)|([\w.]+))=/g))
    assert.ok(path ? VARIABLES.has(path) : valueAt(values, name) !== undefined, path || name);
  for (const [, tag] of guide.matchAll(/registry\.example\.com\/inlet:(\S+)/g)) assert.equal(tag, readManifest("packages/cli").version);
  assert.match(read(".gitignore"), /^deploy\/inlet\.env$/m);
});

test("the chart renders, where helm is installed", (t) => {
  const options = "metrics.enabled=true,metrics.serviceMonitor.enabled=true,autoscaling.kind=hpa,networkPolicy.enabled=true";
  const everything = `postgres.enabled=true,replicas=3,ingress.enabled=true,internalIngress.enabled=true,${options}`;
  const kindsOf = {
    "": ["Service", "StatefulSet"],
    "postgres.enabled=true,replicas=3,ingress.enabled=true": ["Deployment", "Ingress", "PodDisruptionBudget", "Service"],
    [everything]: [
      "Deployment",
      "HorizontalPodAutoscaler",
      "Ingress",
      "Ingress",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
      "Service",
      "ServiceMonitor",
    ],
    "postgres.enabled=true,autoscaling.kind=keda": ["Deployment", "PodDisruptionBudget", "ScaledObject", "Service"],
  };
  for (const [set, expected] of Object.entries(kindsOf)) {
    const flags = set ? ["--set", set] : [];
    const rendered = withTool(t, process.env.HELM ?? "helm", "template", "inlet", CHART, ...flags);
    if (rendered === null) return;
    const kinds = parseAllDocuments(rendered).map((document) => document.toJS()?.kind);
    assert.deepEqual(kinds.filter(Boolean).sort(), expected, set);
  }
  withTool(t, process.env.HELM ?? "helm", "lint", "--strict", CHART);
  const refused = spawnSync(process.env.HELM ?? "helm", ["template", "inlet", CHART, "--set", "replicas=2"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.match(refused.stderr, /replicas above 1 need PostgreSQL/);
  const misspelt = spawnSync(process.env.HELM ?? "helm", ["template", "inlet", CHART, "--set", "postgress.enabled=true"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.match(misspelt.stderr, /additional properties 'postgress' not allowed|Additional property postgress is not allowed/);
  const settings = "settings.INLET_EVENTS_MAX=1000000,settings.INLET_RATIO=0.5,settings.INLET_MCP=off";
  const numbers = withTool(t, process.env.HELM ?? "helm", "template", "inlet", CHART, "--set", settings) ?? "";
  for (const value of ["1000000", "0.5", "off"]) assert.ok(numbers.includes(`value: "${value}"`), value);
  assert.match(notes(t, "ingress.enabled=true"), /WARNING: trustProxy is not set[\s\S]*WARNING: publicUrl is not set/);
  assert.doesNotMatch(notes(t, "ingress.enabled=true,trustProxy=10.0.0.0/8,publicUrl=https://inlet.example.com"), /WARNING/);
});

/** `helm template` leaves NOTES.txt out, so a copy of the chart renders it as a document. */
function notes(t: TestContext, set: string): string {
  const chart = mkdtempSync(join(tmpdir(), "inlet-chart-"));
  t.after(() => rmSync(chart, { recursive: true }));
  cpSync(join(ROOT, CHART), chart, { recursive: true });
  const text = read(`${CHART}/templates/NOTES.txt`).replaceAll(/^/gm, "  ");
  writeFileSync(join(chart, "templates/notes.yaml"), `notes: |\n${text}`);
  return withTool(t, process.env.HELM ?? "helm", "template", "inlet", chart, "--show-only", "templates/notes.yaml", "--set", set) ?? "";
}

function valueAt(values: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], values);
}

function leaves(values: Record<string, unknown>, prefix = ""): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const isBranch = typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
    return isBranch ? leaves(value as Record<string, unknown>, `${prefix}${name}.`) : [`${prefix}${name}`];
  });
}
