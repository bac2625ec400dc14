import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "./block-text.ts";
import { readBlocks, renderBlocks } from "./markdown.ts";

const html = (markdown: string) => renderBlocks(readBlocks(markdown), (target) => `to:${target}`).trim();

test("headings have the anchors that GitHub gives them", () => {
  assert.equal(
    html("# A `b` c\n\n## A b c\n## A b c"),
    '<h1 id="a-b-c">A <code>b</code> c</h1>\n<h2 id="a-b-c-1">A b c</h2>\n<h2 id="a-b-c-2">A b c</h2>',
  );
});

test("targets of links and images are resolved, and cannot leave their attribute", () => {
  assert.equal(
    html("[`a` b](c.md#d) ![e](f.png)"),
    '<p><a href="to:c.md#d"><code>a</code> b</a> <img src="to:f.png" alt="e" loading="lazy"></p>',
  );
  assert.equal(html('[a](b"onclick="c)'), '<p><a href="to:b&quot;onclick=&quot;c">a</a></p>');
});

test("HTML is shown as text, and comments are left out", () => {
  assert.ok(!html("<script>alert('x')</script>\n\na <b onclick=c>d</b>").includes("<b"));
  assert.ok(!html("<script>alert('x')</script>").includes("<script"));
  assert.equal(html("<!-- a comment -->\n\ntext"), "<p>text</p>");
});

test("what can be wider than the page can be scrolled by keyboard", () => {
  assert.match(html("```sh\n# **no** heading\n```"), /^<pre tabindex="0"><code># \*\*no\*\* heading<\/code><\/pre>$/);
  assert.match(html("| a |\n|---|\n| `x \\| y` |"), /^<div class="table" tabindex="0"><table>[\s\S]*<td><code>x \| y<\/code><\/td>/);
});

test("the text of a page is what a reader sees", () => {
  const text = (markdown: string) => plainText(readBlocks(markdown)).trim();
  assert.equal(text("**a `b*` c** [d](e.md) *f*"), "a b* c d f");
  assert.equal(text("| a | b |\n|---|---|\n| c | `d` |"), "a b c d");
  assert.equal(text("- one `two`\n- three\n"), "one two three");
});
