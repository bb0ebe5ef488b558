import type { Locator, Page } from 'playwright-core'

/** The code editor with this label. */
export const editor = (page: Page, name: string): Locator => page.getByRole('textbox', { name, exact: true })

/** Replaces the text of a code editor in two steps: of coloured text that it replaces in one, Chromium would keep the
 *  style inline, which the page's policy forbids. */
export async function write(page: Page, name: string, text: string): Promise<void> {
  await editor(page, name).press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}
