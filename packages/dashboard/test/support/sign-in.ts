/** Signs in with an API key. Only the fields of the sign-in page are used: until it is shown, that of the page before may have such a name. */

import type { Page } from "playwright-core";

export async function signIn(page: Page, key: string): Promise<void> {
  const form = page.locator(".sign-in-card");
  await form.getByLabel("API key").fill(key);
  await form.getByRole("button", { name: "Sign in" }).click();
}
