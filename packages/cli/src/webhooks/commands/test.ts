/** `inlet webhooks test`: runs the fixtures of the folder offline. */

import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { styleText } from "../../command-line/terminal-text.ts";
import { diffLine, indented } from "../../plan/step-lines.ts";
import { eventDiff } from "../fixtures/event-diff.ts";
import { type EntryReport, type FixtureReport, hasFailed, runFixtures } from "../fixtures/run-fixtures.ts";
import type { Entry } from "../folder/entry.ts";
import { readFolder } from "../folder/read-folder.ts";
import type { TEST_FLAGS } from "../webhooks-flags.ts";

export async function testWebhooks({ names, options: { dir } }: Call<typeof TEST_FLAGS>): Promise<CommandResult> {
  const entries = chosen(readFolder(dir), names, dir);
  return fixturesResult(await runFixtures(entries));
}

export function fixturesResult(reports: readonly EntryReport[]): CommandResult {
  const all = reports.flatMap(({ fixtures }) => fixtures);
  const passed = all.filter(({ outcome }) => outcome === "passed").length;
  const broken = reports.filter(({ fault }) => fault !== null).length;
  const sums = [
    `${passed} passed`,
    `${all.length - passed} failed`,
    ...(broken > 0 ? [`${broken} not run: the transform cannot be used`] : []),
  ];
  return {
    exitCode: reports.some(hasFailed) ? EXIT.failed : EXIT.ok,
    text: [...reports.flatMap(entryLines), "", `Fixtures: ${sums.join(", ")}.`].join("\n"),
    json: { passed, failed: all.length - passed, webhooks: reports.map((report) => ({ ...report, ok: !hasFailed(report) })) },
  };
}

/** Names are folder names. A path, as completed by a shell, works too. */
function chosen(entries: Entry[], names: readonly string[], dir: string): Entry[] {
  if (names.length === 0) return entries;
  return names.map((name) => {
    const entry = entries.find(({ slug, files }) => [slug, files.folder].includes(name.replace(/[\\/]+$/, "")));
    if (!entry) throw new CommandFault(`There is no webhook "${name}" in ${dir}. Webhooks: ${entries.map(({ slug }) => slug).join(", ")}.`);
    return entry;
  });
}

function entryLines({ slug, fault, fixtures }: EntryReport): string[] {
  if (fault !== null) return [slug, `  ${failedMark()} ${fault}`];
  if (fixtures.length === 0) return [slug, "  no fixtures; the transform parses"];
  return [slug, ...fixtures.flatMap(fixtureLines)];
}

function fixtureLines(fixture: FixtureReport): string[] {
  if (fixture.outcome === "passed") return [`  ${styleText("green", "passed")} ${fixture.title}`];
  const reason =
    fixture.outcome === "refused"
      ? [`${fixture.code}: ${fixture.message}`]
      : ["- expected, + returned", ...eventDiff(fixture.expected, fixture.actual).map(diffLine)];
  return [`  ${failedMark()} ${fixture.title}`, ...indented(6, [...reason, ...fixture.logs.map((line) => `console: ${line}`)])];
}

function failedMark(): string {
  return styleText("red", "failed");
}
