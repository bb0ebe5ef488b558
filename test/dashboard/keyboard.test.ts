import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { describeWithBrowser, startDashboard, type TestDashboard } from './setup.ts'

/** The main tasks by keyboard alone: no test here clicks, fills or focuses by script. */

describeWithBrowser('by keyboard alone, a user', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(async (server) => {
      const { body } = await server.send({ to: 'nobody@one.remote.example', subject: 'Welcome aboard' })
      await server.ended(body.id)
    })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())
  const task = (name: string, work: (page: Page) => Promise<void>, path = '/') =>
    test(name, async () => work(await board.open(path, { expected: STREAM_ENDS })))

  task(
    'opens a bounced message, learns who will not get it again, removes the suppression and resends',
    async (page) => {
      await page.keyboard.press('g')
      await page.keyboard.press('m')
      await heading(page, 'Messages')
      await page.getByRole('link', { name: 'Welcome aboard' }).waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await heading(page, 'Welcome aboard')
      const dialog = page.getByRole('dialog', { name: 'Resend this message?' })
      await press(page, 'button', 'Resend')
      await dialog.getByText('Suppressed recipients do not get it: nobody@one.remote.example.').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await heading(page, 'Welcome aboard')
      await page.getByRole('button', { name: 'Remove suppression…' }).waitFor()
      await press(page, 'button', 'Remove suppression…')
      await press(page, 'button', 'Remove suppression')
      await page.getByText('Suppression of nobody@one.remote.example removed').waitFor()
      await press(page, 'button', 'Resend')
      await dialog.waitFor()
      expect(await dialog.textContent()).not.toContain('Suppressed recipients')
      await press(page, 'button', 'Resend')
      await page.getByText('Resent as a new message').waitFor()
    },
  )

  task('adds a domain', async (page) => {
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await heading(page, 'Domains')
    await press(page, 'button', 'Add domain')
    await reach(page, page.getByRole('dialog').getByRole('textbox').first())
    await page.keyboard.type('keys.shop.example')
    await page.keyboard.press('Enter')
    await heading(page, 'keys.shop.example')
  })

  task('creates an API key, reads it once and revokes it', async (page) => {
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await heading(page, 'API keys')
    await press(page, 'button', 'Create API key')
    await reach(page, page.getByLabel('Name', { exact: true }))
    await page.keyboard.type('by keyboard')
    await press(page, 'button', 'Create key')
    await page.getByRole('dialog', { name: 'Your new API key' }).waitFor()
    await press(page, 'button', 'Done')
    await press(page, 'button', 'Actions of by keyboard')
    const revoke = page.getByRole('button', { name: 'Revoke', exact: true })
    for (let item = 0; item < 10 && !(await isFocused(revoke)); item++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await press(page, 'button', 'Revoke')
    await page.getByText('by keyboard revoked').waitFor()
  })

  task(
    'imports suppressions: first a preview, then the import',
    async (page) => {
      await press(page, 'button', 'Import')
      const dialog = page.getByRole('dialog', { name: 'Import suppressions' })
      const file = dialog.getByLabel('File')
      await reach(page, file)
      // Chromium without a screen closes the chooser of a page that nobody watches, as a user does with Cancel.
      await file.evaluate((field) => field.addEventListener('cancel', () => field.classList.add('canceled')))
      await page.keyboard.press('Space')
      await dialog.locator('input.canceled').waitFor()
      await reach(page, file)
      const chosen = page.waitForEvent('filechooser')
      await file.isVisible() // the browser knows by now that the chooser is watched
      await page.keyboard.press('Space')
      const chooser = await chosen
      const buffer = Buffer.from('email\nann@customer.example\nbob@customer.example\n')
      await chooser.setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
      await press(page, 'button', 'Preview')
      await dialog.getByText('Preview: 2 addresses to import').waitFor()
      expect((await board.server.read('/v1/suppressions?email=ann@customer.example')).data).toEqual([])
      await press(page, 'button', 'Import 2 addresses')
      await dialog.getByText('Imported 2 addresses').waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('bob@customer.example', { exact: true }).first().waitFor()
    },
    '/suppressions',
  )

  task(
    'filters messages by a range of days and removes the filter',
    async (page) => {
      await press(page, 'button', 'Filter')
      await reach(page, page.getByLabel('First day'))
      await page.keyboard.type('11212026')
      await reach(page, page.getByLabel('Last day'))
      await page.keyboard.type('11222026')
      await page.keyboard.press('Enter')
      await page.waitForURL(/after=2026-11-21&before=2026-11-22/)
      await press(page, 'button', 'Remove filter From: 2026-11-21')
      await page.waitForURL((url) => !url.search.includes('after='))
    },
    '/messages',
  )

  test('switches the organization and signs out', async () => {
    await board.server.store().organizations.create({
      id: 'org_00000000000000000000000002',
      name: 'Bakery',
      plan: 'free',
      createdAt: board.server.clock.now(),
    })
    const page = await board.open('/', { expected: STREAM_ENDS })
    const organizations = page.getByRole('combobox', { name: 'Organization' })
    await reach(page, organizations)
    const before = await organizations.inputValue()
    const isLast = await organizations.evaluate((select: HTMLSelectElement) => select.selectedIndex > 0)
    await page.keyboard.press('Space')
    await page.keyboard.press(isLast ? 'ArrowUp' : 'ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForFunction(
      (value) => document.querySelector<HTMLSelectElement>('.switcher select')?.value !== value,
      before,
    )
    await reach(page, page.getByRole('button', { name: /^Account of/ }))
    await page.keyboard.press('Enter')
    for (let item = 0; item < 20 && !(await isFocused(page.getByRole('button', { name: 'Sign out' }))); item++)
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page
      .getByRole('heading', { name: /^Sign in/ })
      .first()
      .waitFor()
  })
})

/** Signing out ends the event streams of the user's other pages. */
const STREAM_ENDS = /ERR_INCOMPLETE_CHUNKED_ENCODING/

type Target = ReturnType<Page['locator']>

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

/** Tab stops of the longest page, with some to spare. */
const MOST_STOPS = 120

/** Presses Tab until the element has the focus. */
async function reach(page: Page, target: Target): Promise<void> {
  await target.waitFor()
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    if (await isFocused(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${target}`)
}

const isFocused = (target: Target) => target.evaluate((element) => element === document.activeElement)

/** Reaches a control by Tab and presses Enter. In an open dialog, the control of the dialog. */
async function press(page: Page, role: 'button' | 'link', name: string): Promise<void> {
  const isAsked = (await page.locator('dialog[open]').count()) > 0
  const within = isAsked ? page.getByRole('dialog') : page.locator('body')
  await reach(page, within.getByRole(role, { name, exact: true }))
  await page.keyboard.press('Enter')
}
