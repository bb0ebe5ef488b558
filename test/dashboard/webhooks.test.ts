import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { TestHouse } from '../support/house.ts'
import { axeFaults, hasBrowser, LIMIT_MS, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

/** Webhooks: made, told, looked into, replayed. */

describe.skipIf(!hasBrowser)('the dashboard', () => {
  let board: TestDashboard
  let house: TestHouse
  beforeAll(async () => {
    board = await startDashboard()
    house = board.house
  }, LIMIT_MS)
  afterAll(() => board?.close(), LIMIT_MS)

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const journey = (name: string, walk: () => Promise<void>) => test(name, walk, LIMIT_MS)

  journey('makes a webhook, shows its secret once, tries it, and tells of every answer', async () => {
    const page = await board.open('/webhooks', { expected: /400/ })
    await press(page, 'Create webhook')
    const dialog = page.getByRole('dialog', { name: 'Create a webhook' })
    await dialog.getByLabel('URL').fill('https://10.0.0.1/hook')
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await dialog.locator('.fault').waitFor()
    await dialog.getByLabel('URL').fill(`${house.receiver.url}-two`)
    await dialog.getByLabel(/^message.opened/).uncheck()
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    const secret = page.getByRole('dialog', { name: 'Signing secret' })
    expect(await secret.locator('[data-value]').textContent()).toMatch(/^whsec_/)
    expect(await axeFaults(page)).toEqual([])
    await press(page, 'I have it')

    await page.getByRole('link', { name: `${house.receiver.url}-two` }).click()
    await heading(page, `${house.receiver.url}-two`)
    await page.getByText('Nothing was told yet').waitFor()
    house.receiver.script({ status: 500, body: 'out of order <b>here</b>' })
    await press(page, 'Send test event')
    await page.getByLabel('Event', { exact: true }).selectOption('message.clicked')
    await press(page, 'Send')
    const details = page.getByRole('button', { name: /^Details/ })
    await details.click()
    const shown = page.getByRole('dialog', { name: 'message.clicked' })
    await shown.getByText('out of order <b>here</b>').waitFor()
    await shown.getByText('"test": true').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'webhook-delivery')
    house.receiver.script(204)
    await press(page, 'Try again now')
    await page.getByRole('cell', { name: '204, 2 tries' }).waitFor()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('failed')
    await page.getByText('None like that').waitFor()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('')

    const { body } = await house.send()
    await house.ended(body.id)
    await page.getByRole('cell', { name: 'message.delivered' }).waitFor()
    await house.clock.advance(1_000)
    const before = house.receiver.requests.length
    await press(page, 'Send past events again')
    await page.getByLabel('From').fill('2020-01-01T00:00')
    await press(page, 'Send again')
    await press(page, 'Yes, send again')
    await page.getByText(/out again$/).waitFor()
    await house.receiver.received(before + 1)

    await press(page, 'New secret')
    await press(page, 'Make a new secret')
    await secret.getByText('signed with the old one too').waitFor()
    await press(page, 'I have it')
    await press(page, 'Pause')
    await page.locator('.chip', { hasText: 'paused' }).waitFor()
    expect(await page.getByRole('button', { name: 'Send test event' }).isDisabled()).toBe(true)
    await press(page, 'Resume')
    await page.locator('.chip', { hasText: 'active' }).waitFor()
    await press(page, 'Change')
    await page.getByLabel('Description').fill('the second one')
    await press(page, 'Save')
    await page.getByText('the second one').waitFor()

    for (const theme of ['light', 'dark'] as const) {
      await page.getByRole('combobox', { name: 'Colours' }).selectOption(theme)
      expect(await axeFaults(page)).toEqual([])
    }
    await screenshot(page, 'webhook')
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await overflow(page)).toEqual([])
    await press(page, 'Delete')
    await press(page, 'Delete webhook')
    await heading(page, 'Webhooks')
    expect(await overflow(page)).toEqual([])
    expect(await page.getByRole('link', { name: '-two' }).count()).toBe(0)
  })
})
