/** Every kind of body a provider may send, and what the transform gets of it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { type RequestBody, type RequestBodyParams, readRequestBody } from "./request-body.ts";

const LIMIT = 524_288;

async function read(body: string | Buffer, contentType?: string, more: Partial<RequestBodyParams> = {}): Promise<RequestBody> {
  const result = await readRequestBody({ bytes: Buffer.from(body), contentType, bytesMax: LIMIT, ...more });
  assert.ok(result.ok, JSON.stringify(result));
  return result.body;
}

async function refused(body: string | Buffer, contentType?: string, more: Partial<RequestBodyParams> = {}): Promise<[string, string]> {
  const result = await readRequestBody({ bytes: Buffer.from(body), contentType, bytesMax: LIMIT, ...more });
  assert.ok(!result.ok, JSON.stringify(result));
  return [result.refusal.code, result.refusal.message];
}

describe("JSON", () => {
  it("is passed on as text, under every JSON type", async () => {
    const text = ` {"n":12345678901234567890, "e":1e400,"s":"\\u0041"}\r\n`;
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "Application/JSON",
      "application/vnd.api+json",
      "text/json",
      "application/cloudevents+json",
    ]) {
      assert.deepEqual(await read(text, type), { evtJson: text, raw: text }, type);
    }
  });

  it("is not guessed from the body", async () => {
    for (const type of [undefined, "", "text/plain", "text/plain; charset=utf-8", "application/octet-stream", "nonsense"]) {
      assert.deepEqual(await read(`{"a":1}`, type), { evtJson: "{}", raw: `{"a":1}` }, type);
    }
  });

  it("keeps a byte order mark in raw", async () => {
    assert.equal((await read("\uFEFF{}", "application/json")).raw, "\uFEFF{}");
  });
});

describe("an empty body", () => {
  it("is an empty object under every type", async () => {
    for (const type of [
      undefined,
      "application/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/xml",
    ]) {
      assert.deepEqual(await read("", type), { evtJson: "{}", raw: "" }, type);
    }
  });
});

describe("other types", () => {
  it("have their text in raw", async () => {
    for (const type of ["text/xml", "application/xml", "text/csv", "image/svg+xml"]) {
      assert.deepEqual(await read("<a>ł</a>\r\n", type), { evtJson: "{}", raw: "<a>ł</a>\r\n" });
    }
  });
});

describe("a form", () => {
  const form = async (body: string) => JSON.parse((await read(body, "application/x-www-form-urlencoded")).evtJson);

  it("is an object of arrays of strings", async () => {
    assert.deepEqual(await form("a=1&a=2&b=&c&d=x+y%20z%2B&%C5%82=%F0%9F%98%80"), {
      a: ["1", "2"],
      b: [""],
      c: [""],
      d: ["x y z+"],
      ł: ["😀"],
    });
  });

  it("keeps odd names", async () => {
    assert.deepEqual(await form("?a=1&a[]=2&a[b]=3&=4"), { "?a": ["1"], "a[]": ["2"], "a[b]": ["3"], "": ["4"] });
  });

  it("keeps __proto__, constructor and toString as plain names", async () => {
    const { evtJson, raw } = await read(
      "__proto__=1&constructor=2&toString=3&hasOwnProperty=4&__proto__=5",
      "application/x-www-form-urlencoded",
    );
    assert.equal(evtJson, `{"__proto__":["1","5"],"constructor":["2"],"toString":["3"],"hasOwnProperty":["4"]}`);
    assert.match(raw, /^__proto__=1/);
  });

  it("survives broken escapes", async () => {
    assert.deepEqual(await form("a=%&b=%zz&c=%C5"), { a: ["%"], b: ["%zz"], c: ["\ufffd"] });
  });
});

describe("multipart", () => {
  const type = "multipart/form-data; boundary=XX";
  const part = (headers: string, content: string) => `--XX\r\n${headers}\r\n\r\n${content}\r\n`;
  const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value);
  const file = (name: string, fileName: string, content: string) =>
    part(`Content-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: application/octet-stream`, content);
  const end = "--XX--\r\n";

  it("has fields as arrays, and a file as its name", async () => {
    const body = `${field("a", "1")}${file("f", "photo ł.png", "\u0000\u0001")}${field("a", "zwei\r\nlines")}${file("f", "b.txt", "text")}${field("__proto__", "x")}${end}`;
    const { evtJson, raw } = await read(body, type);
    assert.equal(evtJson, `{"a":["1","zwei\\r\\nlines"],"f":["photo ł.png","b.txt"],"__proto__":["x"]}`);
    assert.equal(raw, body);
  });

  it("reads what a browser's FormData sends", async () => {
    const data = new FormData();
    data.append("subject", "Grüße 😀");
    data.append("subject", "again");
    data.append("attachment", new Blob([Uint8Array.of(0xff, 0xfe, 0)]), "bin.dat");
    const request = new Request("http://localhost/", { method: "POST", body: data });
    const bytes = Buffer.from(await request.arrayBuffer());
    const body = await read(bytes, request.headers.get("content-type") ?? "");
    assert.deepEqual(JSON.parse(body.evtJson), { subject: ["Grüße 😀", "again"], attachment: ["bin.dat"] });
    assert.deepEqual(Buffer.from(body.rawBase64 ?? "", "base64"), bytes);
  });

  it("takes long names and values whole", async () => {
    const name = "n".repeat(5_000);
    const value = "v".repeat(400_000);
    assert.deepEqual(JSON.parse((await read(`${field(name, value)}${end}`, type)).evtJson), { [name]: [value] });
  });

  it("takes a part of octets without a file name for a field", async () => {
    const body = `${part('Content-Disposition: form-data; name="a"\r\nContent-Type: application/octet-stream', "x")}${end}`;
    assert.deepEqual(JSON.parse((await read(body, type)).evtJson), { a: ["x"] });
  });

  it("has no part without a name", async () => {
    const parts = [part("Content-Disposition: form-data", "x"), part('Content-Disposition: form-data; filename="f"', "x"), field("", "y")];
    assert.equal((await read(`${parts.join("")}${field("a", "1")}${end}`, type)).evtJson, `{"":["y"],"a":["1"]}`);
  });

  it("is refused when it is none", async () => {
    assert.equal((await refused("a=1", "multipart/form-data"))[0], "body_invalid");
    assert.equal((await refused(field("a", "1"), type))[0], "body_invalid");
    assert.equal(
      (await refused(`--XX\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nhalf a file`, type))[0],
      "body_invalid",
    );
    for (const odd of ["foo", "", 'Content-Disposition: form-data; name="a"', "f".repeat(500_000)])
      assert.match((await refused(`${field("a", "1")}--XX\r\n${odd}\r\n${end}`, type))[1], /no end of its headers/, odd.slice(0, 20));
    const parts = Array.from({ length: 10_001 }, () => field("a", "")).join("");
    assert.match((await refused(parts + end, type, { bytesMax: 10_000_000 }))[1], /more than 10000 parts/);
  });
});

describe("a body of any kind", () => {
  const pieces = [
    "--XX",
    "--",
    "\r\n",
    "\r\n\r\n",
    "Content-Disposition: form-data",
    '; name="a"',
    '; filename="b"',
    "Content-Type: x",
    "v",
    "\u0000",
  ];

  it("comes to an end, in whatever order its pieces come", async () => {
    const pick = () => pieces[Math.trunc(Math.random() * pieces.length)];
    for (let n = 0; n < 2_000; n++) {
      const body = `--XX\r\n${Array.from({ length: 1 + (n % 20) }, pick).join("")}${n % 2 ? "\r\n--XX--\r\n" : ""}`;
      const ending = readRequestBody({ bytes: Buffer.from(body), contentType: "multipart/form-data; boundary=XX", bytesMax: 1_000 });
      const never = new Promise<null>((resolve) => setTimeout(resolve, 10_000, null).unref());
      assert.ok(await Promise.race([ending, never]), JSON.stringify(body));
    }
  });
});

describe("text that is not UTF-8", () => {
  it("is read as well as can be, with the bytes beside it", async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]);
    assert.deepEqual(await read(bytes, "application/json"), {
      evtJson: `{"a":"\ufffd"}`,
      raw: `{"a":"\ufffd"}`,
      rawBase64: bytes.toString("base64"),
    });
  });

  it("is read in the charset it names, when that is known", async () => {
    const latin = Buffer.from(`{"a":"\xe9"}`, "latin1");
    assert.deepEqual(await read(latin, "application/json; charset=ISO-8859-1"), {
      evtJson: `{"a":"é"}`,
      raw: `{"a":"é"}`,
      rawBase64: latin.toString("base64"),
    });
    const utf16 = Buffer.from(`{"a":"ł"}`, "utf16le");
    assert.equal((await read(utf16, `application/json; charset="utf-16le"`)).evtJson, `{"a":"ł"}`);
    assert.deepEqual(await read("plain", "text/plain; charset=us-ascii"), { evtJson: "{}", raw: "plain" });
    assert.deepEqual(await read("ł", "text/plain; charset=klingon"), { evtJson: "{}", raw: "ł" });
  });
});

describe("content encodings", () => {
  const text = `{"text":"${"ł".repeat(1_000)}"}`;
  const encoded = {
    gzip: gzipSync(text),
    "x-gzip": gzipSync(text),
    deflate: deflateSync(text),
    br: brotliCompressSync(text),
    "gzip, br": brotliCompressSync(gzipSync(text)),
    "identity, GZIP": gzipSync(text),
    "": Buffer.from(text),
  };
  for (const [contentEncoding, bytes] of Object.entries(encoded)) {
    it(`"${contentEncoding}" is undone`, async () => {
      assert.deepEqual(await read(bytes, "application/json", { contentEncoding }), { evtJson: text, raw: text });
    });
  }

  it("deflate without its header is understood", async () => {
    assert.equal((await read(deflateRawSync(text), "application/json", { contentEncoding: "deflate" })).raw, text);
  });

  it("a bomb stops at the limit, long before it is unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    assert.ok(bomb.length < LIMIT);
    const before = process.memoryUsage().arrayBuffers;
    const [code, message] = await refused(bomb, "application/json", { contentEncoding: "gzip" });
    assert.equal(code, "body_too_large");
    assert.match(message, new RegExp(`524288 bytes: ${bomb.length} bytes of gzip decode to more`));
    assert.ok(process.memoryUsage().arrayBuffers - before < 50_000_000);
    const twice = brotliCompressSync(gzipSync(Buffer.alloc(50_000_000)));
    assert.equal((await refused(twice, "application/json", { contentEncoding: "gzip, br" }))[0], "body_too_large");
  });

  it("what is exactly as large as the limit passes, one byte more does not", async () => {
    const zeros = Buffer.alloc(1_000, "a");
    assert.equal((await read(gzipSync(zeros), "text/plain", { contentEncoding: "gzip", bytesMax: 1_000 })).raw.length, 1_000);
    assert.equal((await refused(gzipSync(zeros), "text/plain", { contentEncoding: "gzip", bytesMax: 999 }))[0], "body_too_large");
    assert.match((await refused(zeros, "text/plain", { bytesMax: 999 }))[1], /999 bytes: it has 1000 bytes/);
  });

  it("what is broken, cut off or unknown is refused", async () => {
    assert.equal((await refused("not gzip", "application/json", { contentEncoding: "gzip" }))[0], "body_invalid");
    assert.equal((await refused(encoded.gzip.subarray(0, 20), "application/json", { contentEncoding: "gzip" }))[0], "body_invalid");
    assert.equal((await refused("x", "application/json", { contentEncoding: "compress" }))[0], "content_type_unsupported");
    assert.equal((await refused("x", "application/json", { contentEncoding: "constructor" }))[0], "content_type_unsupported");
    assert.equal((await refused("x", "application/json", { contentEncoding: "gzip, gzip, gzip" }))[0], "content_type_unsupported");
  });
});
