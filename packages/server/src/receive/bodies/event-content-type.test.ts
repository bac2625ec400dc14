import assert from "node:assert/strict";
import { test } from "node:test";
import { contentEncodingRefusal, contentTypeRefusal } from "./event-content-type.ts";

const refused = (header: string | undefined, body = "{}") => contentTypeRefusal(header, Buffer.from(body));

test("JSON in any guise, text, and no content type at all are read", () => {
  const types = ["application/json", "application/json; charset=utf-8", " Application/JSON ", "text/json", "text/plain;charset=UTF-8"];
  for (const type of [undefined, "", ...types, "application/cloudevents+json", "application/vnd.x+json; v=1", "model/x+json"])
    assert.equal(refused(type), null, type);
});

test("anything else is refused by its name", () => {
  for (const type of ["application/xml", "image/png", "application/jsonx", "application/x-json", "x-application/json", "json"]) {
    assert.equal(refused(type)?.code, "content_type_unsupported", type);
    assert.equal(refused(type)?.message, `Events are sent as application/json, not as ${type}.`);
  }
  assert.match(refused("IMAGE/PNG; q=1")?.message ?? "", /not as image\/png\.$/);
});

test("a form is read when it looks like JSON, which is what curl sends", () => {
  const form = "application/x-www-form-urlencoded";
  for (const body of ["{}", " \n[1]", `${" ".repeat(63)}{`]) assert.equal(refused(form, body), null, body);
  for (const body of ["a=1", "a={}", "", `${" ".repeat(64)}{`]) assert.equal(refused(form, body)?.code, "content_type_unsupported", body);
  assert.equal(refused("application/xml", "{}")?.code, "content_type_unsupported", "only a form");
});

test("a compressed body is refused by the name of its encoding", () => {
  for (const encoding of [undefined, "", "identity", " Identity "]) assert.equal(contentEncodingRefusal(encoding), null, encoding);
  for (const encoding of ["gzip", "br", "identity, gzip"]) {
    const { code, message } = contentEncodingRefusal(encoding) ?? {};
    assert.deepEqual(
      [code, message],
      ["content_type_unsupported", `Events are not read with the content encoding ${encoding}: send the body uncompressed.`],
    );
  }
});
