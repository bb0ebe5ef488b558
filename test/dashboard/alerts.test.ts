import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Alert } from '../../src/model/alert.ts'
import { START } from '../support/server.ts'
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
      const card = page.getByRole('region', { name: '2 alerts' })
      await card.getByText('Disk space is low').waitFor()
      const text = await card.textContent()
      expect(text).toContain('Free space, or run postrider backup.')
      expect(text).toContain('<b>8 %</b>')
      expect(text).not.toContain('Due mail waits')
      await card.getByRole('button', { name: 'Send test' }).click()
      await page.getByText('Test failed: on-call, chat').first().waitFor()
      await card
        .getByText(/no connection|refused|no answer|connect/i)
        .first()
        .waitFor()
      expect(await page.content()).not.toContain('secret-token')
      await card.getByText('Resolved').first().click()
      await card.getByText('Blocklist entry').waitFor()
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toEqual([])
      await screenshot(page, `alerts-${theme}-${width}`)
    })

  test('appear on the overview of the operator, and of nobody else', async () => {
    const page = await board.open('/')
    await page.getByRole('alert').filter({ hasText: 'Disk space is low' }).waitFor()
    const viewer = await board.open('/', { role: 'viewer' })
    await viewer.getByRole('heading', { name: 'Overview' }).waitFor()
    await viewer.locator('.skeleton-page').waitFor({ state: 'detached' })
    expect(await viewer.getByText('Disk space is low').count()).toBe(0)
  })
})
