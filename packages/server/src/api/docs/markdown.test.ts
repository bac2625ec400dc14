import assert from "node:assert/strict";
import { test } from "node:test";
import { readBlocks, renderBlocks } from "./markdown.ts";

const html = (markdown: string) => renderBlocks(readBlocks(markdown), (target) => `to:${target}`);

test("blocks", () => {
  assert.equal(
    html("# A `b` c\n\n## A b c\n## A b c"),
    '<h1 id="a-b-c">A <code>b</code> c</h1>\n<h2 id="a-b-c-1">A b c</h2>\n<h2 id="a-b-c-2">A b c</h2>',
  );
  assert.equal(
    html("one\ntwo\n\nthree\n- four\n  five\n- six"),
    "<p>one\ntwo</p>\n<p>three</p>\n<ul>\n<li>four\nfive</li>\n<li>six</li>\n</ul>",
  );
  assert.equal(html("1. a\n2. b"), "<ol>\n<li>a</li>\n<li>b</li>\n</ol>");
  assert.equal(
    html("```sh\n# **no** heading\n\n| no table\n```\nend"),
    '<pre tabindex="0"><code># **no** heading\n\n| no table</code></pre>\n<p>end</p>',
  );
  assert.match(html("| a | b |\n|---|---|\n| `x \\| y` | |"), /<th>a<\/th><th>b<\/th>[\s\S]*<td><code>x \| y<\/code><\/td><td><\/td>/);
  assert.equal(html("<!-- a comment -->\ntext\n<!-- another -->"), "<p>text</p>");
});

test("inline marks, also inside each other", () => {
  assert.equal(html("**a `b*` c** and *d*"), "<p><strong>a <code>b*</code> c</strong> and <em>d</em></p>");
  assert.equal(
    html("[`a` b](c.md#d) ![e](f.png)"),
    '<p><a href="to:c.md#d"><code>a</code> b</a> <img src="to:f.png" alt="e" loading="lazy"></p>',
  );
  assert.equal(html("2 * 3 * 4, `a *b* c`, shop/* and x_y_z"), "<p>2 * 3 * 4, <code>a *b* c</code>, shop/* and x_y_z</p>");
  assert.equal(html("<https://a.example/?b&c>"), '<p><a href="https://a.example/?b&amp;c">https://a.example/?b&amp;c</a></p>');
});

test("everything else is text", () => {
  assert.equal(html("<script>alert('x')</script> & <b>"), "<p>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &lt;b&gt;</p>");
  assert.equal(html('[a](b"onclick="c)'), '<p><a href="to:b&quot;onclick=&quot;c">a</a></p>');
  assert.equal(html("```\nnever closed"), '<pre tabindex="0"><code>never closed</code></pre>');
});
