import type { ConsolePage } from './console-page.ts'

/** Types the name and the password of a member at the sign-in of the console. */
export async function typeSignIn(
  { page }: Pick<ConsolePage, 'page'>,
  { name, password }: { name: string; password: string },
): Promise<void> {
  await page.fill('input[autocomplete=username]', name)
  await page.fill('input[type=password]', password)
  await page.click('button[type=submit]')
}
