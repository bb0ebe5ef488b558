import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { START } from '../support/server.ts'
import { MAIL_FROM } from '../support/user-mail.ts'
import { axeFaults, describeWithBrowser, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

/** Canary messages on the health page. */

describeWithBrowser('canary messages in the dashboard', () => {
  let board: TestDashboard
  beforeAll(async () => {
    const seed = async ({ store }: TestDashboard['server']) => {
      for (const [mailbox, at, result, seconds] of [
        ['self', 1, 'inbox', 2],
        ['self', 2, 'inbox', 3],
        ['seed', 1, 'inbox', 40],
        ['seed', 2, 'spam', 400],
        ['seed', 3, 'unchecked', null],
      ] as const) {
        const sentAt = START - 3_600_000 + at * 900_000
        const arrivedAt = seconds === null ? null : sentAt + seconds * 1000
        const id = `cnr_${mailbox}${at}`
        const detail = seconds === null ? 'login failed: <b>no</b>' : null
        await store().canaries.add({ id, mailbox, dueAt: sentAt, sentAt, result, arrivedAt, detail })
      }
    }
    const mailboxes = [{ name: 'seed', address: 'seed@mailbox.example', host: '127.0.0.1', password_file: '/nowhere' }]
    board = await startDashboard(seed, {
      users: { mail_from: MAIL_FROM },
      smtp: { inbound: { listen: '127.0.0.1:0' } },
      canary: { every_minutes: 1440, mailboxes },
      health: { look_outside: false },
    })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    test(`show the last result and the time to arrive, at ${width} px in the ${theme} theme`, async () => {
      const page = await board.open('/health', { theme, width })
      const card = page.getByRole('region', { name: 'Canary messages' })
      await card.getByText('Not checked', { exact: true }).first().waitFor()
      await card.getByRole('img', { name: '1 of the last 3 in the inbox' }).waitFor()
      await card.getByText('Time to arrive').first().click()
      const text = await card.textContent()
      expect(text).toContain('login failed: <b>no</b>')
      expect(text).toContain('This server: 3 s')
      await card.locator('.segments, [role=radiogroup], fieldset').getByText('seed').click()
      await card.getByRole('button', { name: 'View as table' }).click()
      expect(await card.getByRole('table').textContent()).toContain('400 s')
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toEqual([])
      await screenshot(page, `canary-${theme}-${width}`)
    })
})
