import assert from "node:assert/strict";
import { test } from "node:test";
import { changelogFaults, findVersionFaults } from "./check-versions.ts";

test("every package has one version, and the changelog begins with it", () => {
  assert.deepEqual(findVersionFaults(), []);
});

test("a changelog lists versions with dates, newest first, and what no version has above them", () => {
  const changelog = (...titles: string[]) => titles.map((title) => `## ${title}\n\n### Fixed\n\n- something\n`).join("\n");
  const older = "0.2.0 - 2026-01-02";
  assert.deepEqual(changelogFaults(changelog("Unreleased", "0.10.0 - 2026-01-02", older), "0.10.0"), []);
  assert.deepEqual(changelogFaults(changelog("0.3.0 - 2026-01-02", older), "0.3.0"), []);
  const faults: [string[], RegExp][] = [
    [["Unreleased", older], /begins with version 0\.2\.0, not 0\.3\.0/],
    [["Unreleased"], /begins with version none/],
    [["0.3.0 - 2026-01-02", "Unreleased", older], /"Unreleased" is not a version with a date/],
    [["0.3.0 - 2026-13-02", older], /"0\.3\.0 - 2026-13-02" is not a version/],
    [["0.3.0", older], /"0\.3\.0" is not a version/],
    [["0.3.0 - 2026-01-01", older], /"0\.3\.0 - 2026-01-01" stands above "0\.2\.0 - 2026-01-02", which is not older/],
    [["0.3.0 - 2026-01-03", "0.3.0 - 2026-01-02"], /which is not older/],
  ];
  for (const [titles, fault] of faults) assert.match(changelogFaults(changelog(...titles), "0.3.0").join("\n"), fault, titles.join(", "));
  assert.match(changelogFaults(`${changelog("0.3.0 - 2026-01-03")}### News\n`, "0.3.0").join("\n"), /"News" is none of Added/);
});
