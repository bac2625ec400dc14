/**
 * Reads a multipart/form-data body: text fields with their values, and for a file its name instead of its content.
 *
 * @fastify/busboy, not busboy: it has no dependencies and is maintained together with our HTTP framework. Loaded with the first such body.
 */

import { addField, type FieldLists, newFieldLists, Refusal } from "@inlet/protocol";

const PARTS_MAX = 10_000;

export type MultipartResult = { fields: FieldLists } | { refusal: Refusal };

export async function multipartFields(bytes: Buffer, contentType: string): Promise<MultipartResult> {
  try {
    return { fields: await parse(bytes, contentType) };
  } catch (error) {
    return { refusal: new Refusal("body_invalid", `The body is not valid multipart/form-data: ${(error as Error).message}`) };
  }
}

async function parse(bytes: Buffer, contentType: string): Promise<FieldLists> {
  const { Busboy } = await import("@fastify/busboy");
  const { promise, resolve, reject } = Promise.withResolvers<FieldLists>();
  const fields = newFieldLists();
  const busboy = new Busboy({
    headers: { "content-type": contentType },
    // The body is already bounded: no field can be longer than it.
    limits: { fieldNameSize: bytes.length, fieldSize: bytes.length, parts: PARTS_MAX },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
  // A part without a name is no field.
  const add = (name: string | undefined, value: string) => name !== undefined && addField(fields, name, value);
  busboy.on("field", (name, value) => add(name, value));
  busboy.on("file", (name, content, fileName) => {
    add(name, fileName ?? "");
    content.on("error", reject);
    content.resume();
  });
  busboy.on("partsLimit", () => reject(new Error(`more than ${PARTS_MAX} parts`)));
  busboy.on("error", reject);
  busboy.on("finish", () => resolve(fields));
  busboy.end(bytes);
  // All is in memory: busboy never ends if it has not by now, as with a part whose headers have no end.
  setImmediate(() => reject(new Error("a part has no end of its headers")));
  return promise;
}
