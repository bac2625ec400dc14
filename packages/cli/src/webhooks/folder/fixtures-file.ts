/** fixtures.json: requests and their expected events, in the same format as the provider library. */

import { FieldChecks } from "./check-fields.ts";
import type { Fixture } from "./entry.ts";
import { parseJson } from "./parse-json.ts";

export function readFixturesFile(file: string, text: string, faults: string[]): Fixture[] {
  const value = parseJson(file, text, faults);
  if (value === undefined) return [];
  const check = new FieldChecks(file, faults);
  if (!Array.isArray(value)) {
    check.fault("the fixtures must be a list");
    return [];
  }
  value.forEach((fixture, i) => {
    checkFixture(check, fixture, `fixture ${i + 1}`);
  });
  return value;
}

function checkFixture(check: FieldChecks, value: unknown, name: string): void {
  const fixture = check.object(value, name, ["title", "request", "event"]);
  if (!fixture) return;
  check.text(fixture.title, `${name}: title`);
  check.object(fixture.event, `${name}: event`, Object.keys(fixture.event ?? {}));
  const request = check.object(fixture.request, `${name}: request`, ["headers", "query", "json", "text"]);
  if (!request) return;
  const headers = check.object(request.headers, `${name}: request.headers`, Object.keys(request.headers ?? {}));
  const wrong = Object.entries(headers ?? {}).find(([, header]) => typeof header !== "string");
  if (wrong) check.fault(`${name}: request.headers["${wrong[0]}"] must be a string`);
  if (request.query !== undefined && typeof request.query !== "string") check.fault(`${name}: request.query must be a string`);
  if (request.text !== undefined && typeof request.text !== "string") check.fault(`${name}: request.text must be a string`);
  if (request.text !== undefined && request.json !== undefined) check.fault(`${name}: request has json or text, not both`);
}
