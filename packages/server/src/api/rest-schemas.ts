/**
 * How requests are checked: unknown fields and parameters are errors, never ignored. In bodies types are taken at their word;
 * query parameters are text, so there a number may be written in digits.
 */

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifyInstance } from "fastify";

const OPTIONS = { allErrors: true, removeAdditional: false, useDefaults: true, allowUnionTypes: true };
const strict = new Ajv({ ...OPTIONS, coerceTypes: false });
const fromText = new Ajv({ ...OPTIONS, coerceTypes: true });

export function registerRequestChecks(app: FastifyInstance): void {
  // A key such as __proto__ in a payload is data like any other; it is never merged into an object of ours.
  const parseJson = app.getDefaultJsonParser("ignore", "ignore");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    // Many clients send the header always, also where there is no body to send.
    if (body === "") done(null, undefined);
    else parseJson(request, body as string, done);
  });
  // Schemas of answers describe and are tested; serialising by them would drop what they do not name, and much is text already.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined;
    return (value: unknown) => {
      validate ??= (httpPart === "body" ? strict : fromText).compile(schema as object);
      return validate(value) ? { value } : { error: validate.errors as never };
    };
  });
}

/** A closed object: every property that is not listed is an error. */
export function closed<Properties extends object>(properties: Properties, required: (keyof Properties & string)[] = []) {
  return { type: "object", additionalProperties: false, properties, required } as const;
}

export const PAGE_PARAMETERS = {
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20, description: "Maximum number of items per page." },
  cursor: { type: "string", description: "`page.next` of the previous page." },
} as const;

export const ACCEPT_LIST = {
  description: "What is let through, or null for everything.",
  anyOf: [
    { type: "null" },
    closed(
      {
        mode: { type: "string", enum: ["allow", "deny"] },
        list: { type: "array", maxItems: 1000, items: { type: "string", minLength: 1, maxLength: 256 } },
      },
      ["mode", "list"],
    ),
  ],
} as const;

/** Checks values as if they came in a query: what is wrong with them, or null. Makes texts of numbers in place where texts are wanted. */
export function queryFaults(schema: object, values: Record<string, unknown>): ErrorObject[] | null {
  const validate = fromText.compile(schema);
  return validate(values) ? null : (validate.errors ?? []);
}
