import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { inboundMessage, storedMail } from '../support/inbound.ts'
import { until } from '../support/patience.ts'
import { DOMAIN, type Json, type TestServer } from '../support/server.ts'
import { VERIFIED } from '../support/verified.ts'
import { describeWithBrowser, startDashboard, type TestDashboard } from './setup.ts'

/** Page, filters and scroll position of every list: after opening a record, Back, a reload and with a shared link. */

/** More than a page has: 50 messages, 25 rows of the other lists. */
const MESSAGES = 52
const COUNT = 30

let webhookId: string

async function seed(server: TestServer): Promise<void> {
  const { organizationId, clock } = server
  const store = server.store()
  const at = clock.now() + 1 // after the first organization, which stays the selected one
  const mintId = createMintId({ now: () => at, sleep: async () => {} }, systemRandom)
  const each = async (work: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < COUNT; n++) await work(n)
  }
  const post = async (path: string, body: Json, headers?: Record<string, string>) => {
    const answer = await server.ask('POST', path, body, headers)
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  const mail = (n: number) => ({
    from: `hello@${DOMAIN}`,
    to: `customer.${n}@customer.example`,
    subject: `Order ${n}`,
    text: '.',
    scheduled_at: new Date(clock.now() + 86_400_000),
  })
  const messages = Array.from({ length: MESSAGES }, (_, n) => mail(n))
  await post('/v1/messages/batch', { messages })
  const sandbox = { authorization: `Bearer ${server.keys.test}` }
  await post('/v1/messages/batch', { messages }, sandbox)
  const { data: domains } = await server.read('/v1/domains')
  await each((n) => post('/v1/domains', { name: `shop-${n}.example` }))
  await each((n) => post('/v1/suppressions', { email: `gone.${n}@customer.example` }))
  await each((n) => post('/v1/templates', { name: `Order ${n}`, text: '.' }))
  await each(async (n) => {
    await post('/v1/recipients/erase', { email: `erased.${n}@customer.example` })
    while (await store.erasures.step(clock.now(), () => false));
  })
  await each((n) =>
    post('/v1/api-keys', { name: `Shop ${n}`, domain_id: domains[0].id, mode: 'live', permissions: ['send'] }),
  )
  const { body: webhook } = await post('/v1/webhooks', { url: server.receiver.url, events: ['message.delivered'] })
  webhookId = webhook.id
  await each(() => post(`/v1/webhooks/${webhookId}/test`, { type: 'message.delivered' }))
  await each((n) => post('/v1/webhooks', { url: `${server.receiver.url}/${n}`, events: ['message.opened'] }))
  await each(async (n) => {
    const about = { id: mintId('inb'), organizationId, domainId: domains[0].id, routeId: null, receivedAt: clock.now() }
    const message = inboundMessage({ ...about, action: 'store', subject: `Question ${n}` })
    await store.inbound.accept({ ...storedMail(), taken: [{ message, deliveryId: null, forward: null }] })
  })
  const user = { isOperator: false, createdAt: clock.now(), disabledAt: null, lastSeenAt: null, ...VERIFIED }
  await each(async (n) => {
    const named = { id: mintId('usr'), name: `User ${n}`, email: `user.${n}@sender.example` }
    await store.users.create({ ...user, ...named, roles: { [organizationId]: 'viewer' } }, null)
    await store.organizations.create({ id: mintId('org'), name: `Shop ${n}`, plan: 'free', createdAt: at })
  })
}

describeWithBrowser('a list of the dashboard', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(seed)
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  const LISTS: Record<string, () => string> = {
    messages: () => '/messages',
    domains: () => '/domains',
    'api-keys': () => '/api-keys',
    webhooks: () => '/webhooks',
    deliveries: () => `/webhooks/${webhookId}`,
    templates: () => '/templates',
    suppressions: () => '/suppressions',
    erasures: () => '/erasures',
    inbound: () => '/inbound',
    organizations: () => '/organizations',
    users: () => '/users',
    'audit-log': () => '/settings?tab=audit-log',
    sandbox: () => '/sandbox',
  }
  for (const [name, path] of Object.entries(LISTS))
    test(`${name} keeps its page after Back, after a reload and in a shared link`, async () => {
      const page = await open(path())
      const first = await firstRow(page)
      await page.getByRole('button', { name: /^(Older|Search older)/ }).click()
      await until('the second page', async () => (await firstRow(page)) !== first)
      expect(page.url()).toContain('page=')
      const second = await firstRow(page)
      await page.reload()
      await rows(page).first().waitFor()
      expect(await firstRow(page)).toBe(second)
      const shared = await open(page.url().slice(`${board.origin}/dashboard`.length))
      expect(await firstRow(shared)).toBe(second)

      await page.evaluate(() => window.scrollTo(0, 300))
      const at = await page.evaluate(() => window.scrollY)
      await page.keyboard.press('g')
      await page.keyboard.press(name === 'messages' ? 'd' : 'm')
      await page.getByRole('heading', { level: 1, name: name === 'messages' ? 'Domains' : 'Messages' }).waitFor()
      await rows(page).first().waitFor()
      await page.goBack()
      await until('the list', async () => (await firstRow(page)) === second)
      await until('its position', () => page.evaluate((y) => Math.abs(window.scrollY - y) <= 1, at))

      await page.getByRole('button', { name: 'Newer' }).click()
      await until('the first page', async () => (await firstRow(page)) === first)
      expect(page.url()).not.toContain('page=')
    })

  test('returns from a record to the same rows and position, by Back and by Escape', async () => {
    const page = await open('/messages?status=scheduled')
    for (const back of [() => page.goBack(), () => page.keyboard.press('Escape')]) {
      await page.evaluate(() => window.scrollTo(0, 900))
      await page.waitForFunction(() => window.scrollY === 900)
      const link = page.getByRole('link', { name: 'Order 25' })
      await link.hover()
      const at = await page.evaluate(() => window.scrollY)
      await link.click()
      await page.getByRole('heading', { level: 1, name: 'Order 25' }).waitFor()
      expect(await page.evaluate(() => window.scrollY)).toBe(0)
      await back()
      await page.locator('tbody a:focus', { hasText: 'Order 25' }).waitFor()
      await until('the position', () => page.evaluate((y) => window.scrollY === y, at))
      expect(page.url()).toEndWith('?status=scheduled')
    }
  })

  test('returns to the position of a page that is reloaded', async () => {
    const page = await open('/messages')
    await page.evaluate(() => window.scrollTo(0, 700))
    await page.waitForFunction(() => window.scrollY === 700 && window.history.state?.scroll === 700)
    await page.reload()
    await until('the position', () => page.evaluate(() => window.scrollY === 700))
  })

  test('returns to the filters and the search before the last ones by Back, with the text in the field', async () => {
    const page = await open('/messages')
    const status = page.getByRole('combobox', { name: 'Status' })
    await status.selectOption('scheduled')
    await page.waitForURL(/status=scheduled$/)
    await page.getByRole('searchbox').pressSequentially('order 7', { delay: 120 })
    await page.waitForURL(/q=order\+7/)
    await until('the row', async () => (await rows(page).count()) === 1)
    await page.goBack()
    await page.waitForURL(/messages\?status=scheduled$/)
    await until('an empty field', async () => (await page.getByRole('searchbox').inputValue()) === '')
    await page.goBack()
    await page.waitForURL(/messages$/)
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('.filters select')?.value === '')
    await page.goForward()
    await page.waitForURL(/status=scheduled$/)
  })

  test('forgets its page when a filter, the mode or the address says so', async () => {
    const page = await open('/messages', /400/)
    await page.getByRole('button', { name: /^Older/ }).click()
    await page.waitForURL(/page=/)
    await page.getByRole('combobox', { name: 'Status' }).selectOption('scheduled')
    await page.waitForURL(/messages\?status=scheduled$/)
    await page.getByRole('button', { name: /^Older/ }).click()
    await page.waitForURL(/page=/)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.waitForURL(/messages\?status=scheduled$/)
    await page.goto(`${board.origin}/dashboard/messages?page=nonsense`)
    await page.waitForURL(/messages$/)
    await rows(page).first().waitFor()
  })

  test('says that a search has not reached the oldest rows, and goes on', async () => {
    const page = await open('/messages')
    const { next_cursor } = await board.server.read('/v1/messages?limit=30')
    let asked = 0
    await page.route('**/v1/messages?*q=nothing*', (route) => {
      asked++
      const isEnd = route.request().url().includes('cursor') && asked > 5
      return route.fulfill({ json: { data: [], has_more: !isEnd, next_cursor: isEnd ? null : next_cursor } })
    })
    await page.getByRole('searchbox').fill('nothing')
    await page.getByText('Nothing found among the newest').waitFor()
    expect(asked).toBe(5)
    await page.getByRole('button', { name: 'Search older' }).click()
    await page.getByText('No messages match').waitFor()
  })

  /** None while they are those of an earlier page, whose links already name this one. */
  const rows = (page: Page) => page.locator('main [data-row]:not(.old *)')
  /** Where the first row leads, or what it says: its numbers may arrive later. */
  const firstRow = (page: Page) =>
    rows(page)
      .first()
      .evaluate((row) => row.querySelector('a')?.href ?? row.getAttribute('href') ?? row.textContent)
  const open = async (path: string, expected?: RegExp) => {
    const page = await board.open(path, { height: 700, ...(expected && { expected }) })
    await rows(page).first().waitFor()
    return page
  }
})
