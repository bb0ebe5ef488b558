import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Alert } from '../../src/model/alert.ts'
import { START } from '../support/server.ts'
import { brokenWords } from './broken-words.ts'
import { axeFaults, describeWithBrowser, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

/** Alerts of the operator on the overview and the health page. */

const alertOf = (change: Partial<Alert>): Alert => ({
  id: 'alr_1',
  kind: 'disk',
  subject: '',
  node: '',
  severity: 'critical',
  message: '150 MB free; new mail is rejected below 200 MB',
  advice: 'Free space, or run `postrider backup`.',
  state: 'firing',
  firstSeenAt: START,
  lastSeenAt: START,
  missingSince: null,
  raisedAt: START,
  resolvedAt: null,
  ...change,
})

describeWithBrowser('alerts in the dashboard', () => {
  let board: TestDashboard
  beforeAll(async () => {
    const channels = [
      {
        name: 'on-call',
        type: 'slack' as const,
        url: 'https://127.0.0.1:1/secret-token',
        min_severity: 'warning' as const,
      },
      { name: 'chat', type: 'discord' as const, url: 'https://127.0.0.1:1/secret-token' },
    ]
    const seed = async ({ store }: TestDashboard['server']) => {
      const { alerts } = store()
      await alerts.save(alertOf({}), null)
      await alerts.save(
        alertOf({ id: 'alr_2', kind: 'quality', subject: 'shop.example', severity: 'warning', message: '<b>8 %</b>' }),
        null,
      )
      await alerts.save(alertOf({ id: 'alr_3', kind: 'blocklist', state: 'resolved', resolvedAt: START }), null)
      await alerts.save(alertOf({ id: 'alr_4', kind: 'queue_age', state: 'pending', raisedAt: null }), null)
    }
    board = await startDashboard(seed, { alerts: { channels }, health: { look_outside: false } })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    test(`show what to do and which channels work, at ${width} px in the ${theme} theme`, async () => {
      const page = await board.open('/health', { theme, width })
      const problems = page.getByRole('region', { name: '1 critical, 1 warning' })
      await problems.getByText('Disk space is low').waitFor()
      const text = await problems.textContent()
      expect(text).toContain('Free space, or run postrider backup.')
      expect(text).toContain('<b>8 %</b>')
      expect(text).toContain('Bounces or complaints of shop.example')
      expect(text).not.toContain('Mail is overdue')
      const card = page.getByRole('region', { name: 'Alert channels' })
      await card.getByRole('button', { name: 'Send test' }).click()
      await page.getByText('Test failed: on-call, chat').first().waitFor()
      await card
        .getByText(/no connection|refused|no answer|connect/i)
        .first()
        .waitFor()
      expect(await page.content()).not.toContain('secret-token')
      await card.getByText('Resolved').first().click()
      await card.getByText('A sending address is on a blocklist').waitFor()
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toEqual([])
      await screenshot(page, `alerts-${theme}-${width}`)
    })

  test('are silenced for a week and again not, and the overview counts those that are not', async () => {
    const page = await board.open('/health', { width: 390 })
    const counts = (name: string) => page.getByRole('region', { name, exact: true })
    await counts('1 critical, 1 warning').waitFor()
    await page.getByRole('button', { name: 'Silence Disk space is low' }).click()
    await page.getByRole('button', { name: 'For a week' }).click()
    await counts('1 warning').waitFor()
    await page.getByText('1 silenced').click()
    await page.getByText(/until 28 Nov/).waitFor()
    expect(await axeFaults(page)).toEqual([])
    expect(await overflow(page)).toEqual([])
    await screenshot(page, 'alerts-silenced')
    const overview = await board.open('/')
    await overview.getByRole('link', { name: 'Bounces or complaints of shop.example' }).waitFor()
    expect(await overview.getByText('Disk space is low').count()).toBe(0)
    const silences = () => board.server.store().alerts.silences(board.server.clock.now())
    expect(await silences()).toMatchObject([{ kind: 'disk', severity: 'critical' }])
    await page.getByRole('button', { name: 'End silence of Disk space is low' }).click()
    await counts('1 critical, 1 warning').waitFor()
    expect(await silences()).toEqual([])
  })

  test('appear on the overview of the operator with the counts of the health page, and of nobody else', async () => {
    const page = await board.open('/health')
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByText('Checks complete').waitFor()
    await page.getByText('no backup has been made yet').waitFor() // which has no alert
    const counts = await page.locator('#problems').textContent()
    await page.goto(`${board.origin}/dashboard/`)
    const strip = page.getByRole('link', { name: 'Server: ' })
    expect(await strip.textContent()).toContain(`Server: ${counts}`)
    expect(await strip.getAttribute('href')).toBe('/dashboard/health')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await brokenWords(page)).toEqual([])
    const viewer = await board.open('/', { role: 'viewer' })
    await viewer.getByRole('heading', { name: 'Overview' }).waitFor()
    await viewer.locator('.skeleton-page').waitFor({ state: 'detached' })
    expect(await viewer.getByText('Disk space is low').count()).toBe(0)
  })
})
