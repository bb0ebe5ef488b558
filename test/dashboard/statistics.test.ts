import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/patience.ts'
import { DOMAIN, type Json, type TestServer } from '../support/server.ts'
import { axeFaultsOfThemes, describeWithBrowser, overflow, startDashboard, type TestDashboard } from './setup.ts'

/** The overview and the page of statistics show the numbers of `GET /v1/stats`, of the same range and mode. */

const DAY_MS = 86_400_000
const COUNT = 46
/** Of them the receiving server refuses this many, and defers one. The last one is suppressed. */
const REFUSED = 3

/** Mail of yesterday and today, and of the sandbox. */
async function seed(server: TestServer): Promise<void> {
  const send = async (day: string, count: number, key = server.keys.live) => {
    const messages = Array.from({ length: count }, (_, n) => ({
      from: `Shop <hello@${DOMAIN}>`,
      to:
        n < REFUSED ? `nobody@${day}${n}.remote.example` : `${n === REFUSED ? 'later' : `ann${n}`}@one.remote.example`,
      subject: 'Hello',
      text: 'Hello',
      tags: [n % 3 === 0 ? '=order' : 'account'],
    }))
    await server.ask('POST', '/v1/messages/batch', { messages }, { authorization: `Bearer ${key}` })
    const isOver = async () => (await server.read('/v1/messages?status=queued&limit=1')).data.length === 0
    await until('the batch', isOver)
  }
  await send('first', 40)
  await server.clock.leap(DAY_MS)
  await server.ask('POST', '/v1/suppressions', { email: `ann${COUNT - 1}@one.remote.example` })
  await send('second', COUNT)
  await send('test', 5, server.keys.test)
}

describeWithBrowser('statistics in the dashboard', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(seed)
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  /** The answer that the page has shown: the API's to the same question. */
  const statsOf = (hours: number, query: string): Promise<Json> => {
    const before = Math.floor(board.server.clock.now() / 3_600_000 + 1) * 3_600_000
    const time = (at: number) => new Date(at).toISOString()
    const range = `from=${time(before - hours * 3_600_000)}&to=${time(before)}&interval=hour`
    return board.server.read(`/v1/stats?${range}&mode=live&${query}`)
  }

  const tile = (page: Page, name: string) => page.locator('.tile').filter({ hasText: name }).textContent()
  const cells = (page: Page, by: string) =>
    page
      .getByRole('table', { name: `Recipients by ${by}` })
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent?.trim())))
  const percent = (rate: number, digits = 1) => `${(rate * 100).toFixed(digits)}%`
  const row = (group: Json) => [group.name, String(group.accepted), group.delivery_rate, group.bounce_rate]

  test('every number of the overview is one of the API', async () => {
    const page = await board.open('/')
    await page.locator('.plot canvas').waitFor()
    const { totals, data, groups: domains } = await statsOf(24, 'group_by=domain')
    expect([totals.accepted, totals.bounced, totals.suppressed]).toEqual([COUNT, REFUSED, 1])
    const verdict = await page.locator('.verdict').textContent()
    expect(verdict).toContain(`${percent(totals.delivery_rate)} of ${totals.delivered + totals.bounced} delivered`)
    expect(await tile(page, 'Sent')).toMatch(new RegExp(`^Sent${totals.accepted}\\D.*\\D1 suppressed$`))
    expect(await tile(page, 'Delivered')).toContain(`${percent(totals.delivery_rate)}${totals.delivered}`)
    expect(await tile(page, 'Bounced')).toContain(`${percent(totals.bounce_rate)}${totals.bounced}`)
    expect(await tile(page, 'Spam reports')).toContain(`${percent(totals.complaint_rate, 2)}${totals.complained}`)
    expect(await tile(page, 'Opened')).toContain(`${percent(totals.open_rate)}${totals.unique_opened}`)
    expect(await tile(page, 'Replied')).toBe(`Replied${totals.replied}`)
    const deferred = await board.server.read('/v1/messages?status=deferred&limit=100')
    expect(await tile(page, 'Waiting now')).toContain(`Waiting now${deferred.data.length}`)
    // One of the day waits; all others have an outcome that a tile shows.
    expect(totals.delivered + totals.bounced + totals.suppressed).toBe(totals.accepted - 1)
    const shown = (all: Json[]) => all.map(row).map(([name, sent, ...rates]) => [name, sent, ...rates.map(Number)])
    const { groups: providers } = await statsOf(24, 'group_by=provider')
    for (const [by, groups] of [
      ['provider', providers],
      ['domain', domains],
    ] as const)
      expect((await cells(page, by)).map(([name, sent]) => [name, sent?.split(' ')[0]])).toEqual(
        shown(groups).map(([name, sent]) => [name, sent]),
      )
    const [, , delivered, bounced] = (await cells(page, 'domain'))[0] ?? []
    expect([delivered, bounced]).toEqual([percent(domains[0].delivery_rate), percent(domains[0].bounce_rate)])

    await page.getByRole('button', { name: 'View as table' }).click()
    const rows = page.getByRole('table', { name: 'Recipients over time' }).locator('tbody tr')
    const counted = await rows.evaluateAll((all) =>
      all.map((each) => [...each.querySelectorAll('td')].slice(0, 2).map((cell) => Number(cell.textContent))),
    )
    expect(counted).toEqual(data.map(({ delivered, bounced }: Json) => [delivered, bounced]))
  })

  test('the page of statistics shows the same numbers, compares them, and has every choice in its URL', async () => {
    const page = await board.open('/?range=7d')
    await page.getByRole('table', { name: 'Recipients by domain' }).waitFor()
    const names = ['Sent', 'Delivered', 'Bounced', 'Spam reports']
    const onOverview = await Promise.all(names.map((name) => tile(page, name)))
    await page.getByRole('link', { name: 'All' }).last().click()
    await page.getByRole('heading', { name: 'Statistics' }).waitFor()
    await page.getByRole('table', { name: 'Recipients by domain' }).waitFor()
    expect(await Promise.all(names.map((name) => tile(page, name)))).toEqual(onOverview)

    await page.getByRole('button', { name: 'Tag', exact: true }).click()
    await page.getByRole('link', { name: 'account' }).click()
    await page.getByRole('table', { name: 'Recipients by domain' }).waitFor()
    const { totals } = await statsOf(168, 'tag=account')
    expect(await tile(page, 'Sent')).toContain(`Sent${totals.accepted}`)
    await page.getByRole('button', { name: /^Bounced/ }).click()
    await page.getByLabel('Compare with the period before').uncheck()
    await page.getByText('Period before', { exact: true }).waitFor({ state: 'detached' })
    const query = new URL(page.url()).searchParams
    expect(Object.fromEntries(query)).toMatchObject({ range: '7d', tag: 'account', show: 'bounced', compare: 'none' })
    await page.reload()
    await page.getByRole('button', { name: 'Remove filter Tag: account' }).waitFor()
    expect(await tile(page, 'Sent')).toContain(`Sent${totals.accepted}`)
    expect(await page.getByRole('button', { name: /^Bounced/ }).getAttribute('aria-pressed')).toBe('true')
    expect(await axeFaultsOfThemes(page)).toEqual([])
  })

  test('a range of chosen days, and a CSV file whose names are no formulas', async () => {
    const day = new Date(board.server.clock.now()).toISOString().slice(0, 10)
    const page = await board.open(`/statistics?range=custom&from=${day}&to=${day}&by=tag`, { width: 390 })
    await page.getByRole('table', { name: 'Recipients by tag' }).waitFor()
    expect(await page.getByLabel('From').inputValue()).toBe(day)
    expect(await tile(page, 'Sent')).toContain(`Sent${COUNT}`)
    expect(await overflow(page)).toEqual([])
    const edge = (element: Element) => Math.round(element.getBoundingClientRect().right)
    const group = await page.getByRole('group', { name: 'Group by' }).evaluate(edge)
    expect(group).toBeLessThanOrEqual(await page.getByRole('table', { name: 'Recipients by tag' }).evaluate(edge))
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    expect(file.suggestedFilename()).toBe(`statistics-by-tag-${day}-to-${day}.csv`)
    const lines = (await Bun.file(await file.path()).text()).split('\r\n')
    expect(lines[0]).toStartWith('tag,accepted,delivered,deferred,')
    expect(lines[1]).toStartWith('account,30,')
    expect(lines[2]).toStartWith("'=order,16,")
  })

  test('a range of more than a hundred days is grouped by domain or stream', async () => {
    const end = board.server.clock.now()
    const [from, to] = [end - 120 * DAY_MS, end].map((at) => new Date(at).toISOString().slice(0, 10))
    const page = await board.open(`/statistics?range=custom&from=${from}&to=${to}&by=provider`)
    await page.getByRole('table', { name: 'Recipients by domain' }).waitFor()
    const names = await page.getByRole('group', { name: 'Group by' }).getByRole('button').allTextContents()
    expect(names).toEqual(['Domain', 'Stream'])
  })

  test('test mode shows the numbers of test mail, and rates of few messages nowhere', async () => {
    const page = await board.open('/?by=tag')
    const tags = page.getByRole('table', { name: 'Recipients by tag' })
    await tags.waitFor()
    const held = Promise.withResolvers<void>()
    await page.route(/group_by=tag.*mode=test/, (route) => held.promise.then(() => route.continue()))
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('Test messages of').waitFor()
    await page.getByRole('progressbar', { name: 'Loading overview' }).waitFor()
    expect(await tags.count()).toBe(0) // not that of live mail
    held.resolve()
    await page.locator('.verdict').getByText('too few for a rate').waitFor()
    expect(await tile(page, 'Sent')).toContain('Sent5')
    expect(await page.locator('.tiles').textContent()).not.toContain('%')
    expect(await tags.textContent()).not.toContain('%')
  })
})
