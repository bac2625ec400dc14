/** Checks a file against the schema of the format. Each fault begins with `file:line:column` and names the field. */

import { nearest } from "@inlet/protocol";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { FILE_SCHEMA } from "./file-schema.ts";
import type { ParsedFile } from "./parse-file.ts";

const FAULTS_MAX = 20;

let validate: ValidateFunction | undefined;

export function checkFile(parsed: ParsedFile, faults: string[]): boolean {
  validate ??= new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false, strictRequired: false, verbose: true }).compile(
    FILE_SCHEMA,
  );
  if (validate(parsed.value)) return true;
  // Of a name that is not allowed, the error about the map says more.
  const isOwn = ({ keyword, propertyName }: ErrorObject) => keyword !== "if" && (propertyName === undefined || keyword === "propertyNames");
  const found = (validate.errors ?? []).filter(isOwn);
  const texts = found.slice(0, FAULTS_MAX).map((error) => faultText(parsed, error));
  faults.push(...texts.sort((one, other) => one.localeCompare(other, "en", { numeric: true })));
  if (found.length > FAULTS_MAX) faults.push(`${parsed.file}: has ${found.length - FAULTS_MAX} more faults`);
  return false;
}

function faultText(parsed: ParsedFile, error: ErrorObject): string {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const { params, keyword } = error;
  const name = path.length === 0 ? "the file" : path.join(".");
  const key = (params.additionalProperty ?? params.propertyName) as string | undefined;
  return `${parsed.at(path, key)}: ${name} ${sentence(keyword, error, key)}`;
}

function sentence(keyword: string, { params, message, parentSchema }: ErrorObject, key: string | undefined): string {
  switch (keyword) {
    case "additionalProperties": {
      const known = Object.keys((parentSchema?.properties ?? {}) as object);
      const near = nearest(String(key), known);
      return `has a field "${key}", which is unknown; ${near ? `did you mean "${near}"?` : `known fields: ${known.join(", ")}`}`;
    }
    case "propertyNames":
      return `has the name "${key}": use only letters, digits and . _ - /`;
    case "pattern":
      return parentSchema?.description === undefined ? `${message}` : `is not valid: ${parentSchema.description}`;
    case "required":
      return `lacks "${params.missingProperty}"`;
    case "enum":
      return `must be one of ${(params.allowedValues as string[]).join(", ")}`;
    case "type":
      return `must be ${[params.type].flat().join(" or ").replaceAll(",", " or ")}`;
    default:
      return `${message}`;
  }
}
