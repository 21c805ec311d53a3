// What several stories do.
import { settled } from './browser.mjs';

/** Signs in on the page that is shown, or on the sign-in page. */
export async function signIn(page, product, { email = product.email, password = product.password } = {}) {
  if (!page.url().includes('/sign-in')) await page.goto(`${product.url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
  await settled(page);
}

export async function go(page, product, path) {
  await page.goto(product.url + path);
  await settled(page);
}

/** Opens the account menu and switches to another organization. */
export async function switchTo(page, organization) {
  await page.getByRole('button', { name: /account menu/ }).click();
  await page.getByRole('button', { name: `Switch to ${organization}` }).click();
  await page.getByRole('button', { name: new RegExp(`^${organization}, .*account menu`) }).waitFor();
  await settled(page);
}
