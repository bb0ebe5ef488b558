import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { PAGES } from '../../src/web/dashboard/ui/pages.ts'
import { brokenWords } from './broken-words.ts'
import { ADDRESSES, addAddresses } from './sample.ts'
import { axeFaults, describeWithBrowser, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

const PATH = '/sending-addresses'

describeWithBrowser('the page of sending addresses', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(addAddresses, ADDRESSES)
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  test.each([
    [1440, 'light'],
    [768, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('shows the state, DNS, use and rests of each at %d px, %s', async (width, theme) => {
    const page = await board.open(PATH, { width, theme })
    const card = (address: string) => page.getByRole('region', { name: address, exact: true })
    await card('127.0.0.2').waitFor()
    // Four lines, until a row is opened.
    expect(await card('127.0.0.3').getByText('google.com').isVisible()).toBe(false)
    for (const each of await page.locator('summary').all()) await each.click()
    await card('127.0.0.3').getByText('google.com').waitFor()
    const texts = (address: string) => card(address).textContent()
    for (const part of ['out1.sender.example, resolves back to the address', 'Every node', 'None']) {
      expect(await texts('127.0.0.2')).toContain(part)
    }
    for (const part of ['Paused for 2 destinations', 'bulk', 'google.com', 'outlook-block-list', '12:15']) {
      expect(await texts('127.0.0.3')).toContain(part)
    }
    const wrong = await texts('127.0.0.5')
    for (const part of ['On a blocklist', 'zen.spamhaus.org', 'not confirmed', 'Unassigned']) {
      expect(wrong).toContain(part)
    }
    expect(await page.getByText('1 delivered in 1 attempt', { exact: true }).count()).toBe(1)
    expect(await page.getByRole('main').textContent()).not.toMatch(/\d%/) // one attempt gives no rate
    expect(await axeFaults(page)).toEqual([])
    expect(await overflow(page)).toEqual([])
    expect(await brokenWords(page)).toEqual([])
    await screenshot(page, `sending-addresses-${width}-${theme}`)
  })

  test('leads to the organization of a dedicated address', async () => {
    const page = await board.open(PATH)
    const { server } = board
    const { name } = (await server.store().organizations.get(server.organizationId))!
    await page.getByRole('region', { name: '127.0.0.4', exact: true }).locator('summary').click()
    const owner = page.getByRole('region', { name: '127.0.0.4', exact: true }).getByRole('link')
    expect(await owner.textContent()).toBe(name)
    await owner.click()
    await page.getByRole('heading', { name: 'Organizations', exact: true }).waitFor()
    await page.getByRole('main').getByText(name, { exact: true }).first().waitFor()
  })

  test('is for the operator only', async () => {
    expect(PAGES.find(({ path }) => path === PATH)?.needs).toBe('sending_addresses_list')
    const page = await board.open('/', { role: 'owner' })
    expect(await page.getByRole('link', { name: 'Sending addresses' }).count()).toBe(0)
  })
})
