import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { addSample, pagesOf, type Sample } from './sample.ts'
import { axeFaults, describeWithBrowser, overflow, screenshot, startDashboard, type TestDashboard } from './setup.ts'

describeWithBrowser('the page of senders', () => {
  let board: TestDashboard
  let sample: Sample
  beforeAll(async () => {
    board = await startDashboard(async (server) => {
      sample = await addSample(server)
    })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    test(`shows sources, advice and TLS results at ${width} px in the ${theme} theme, for a viewer too`, async () => {
      const page = await board.open(`/domains/${sample.domain}/senders`, { width, theme, role: 'viewer' })
      await page.getByText('Google').first().waitFor()
      const text = await page.locator('main').textContent()
      for (const part of ['Keep p=none', 'This server', 'Known service', 'Unknown', '1,204', '2001:db8:1234']) {
        expect(text).toContain(part)
      }
      expect(text).toContain('240 successful and 2 failed connections')
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toEqual([])
      await screenshot(page, `senders-${theme}-${width}`)
    })

  test('opens from the page of the domain, and says what to do without reports', async () => {
    const page = await board.open(pagesOf(sample).domain!)
    await page.getByRole('link', { name: 'Who sends as you' }).click()
    await page.getByRole('heading', { name: 'Who sends as you' }).waitFor()
    await page.getByRole('button', { name: '7 days' }).click()
    await page.getByText('Google').first().waitFor()
    const { data } = await board.server.read('/v1/domains')
    const other = data.find(({ id }: { id: string }) => id !== sample.domain)
    await page.goto(`${board.origin}/dashboard/domains/${other.id}/senders`)
    await page.getByText('No reports of a-rather-long-name').waitFor()
    expect(await page.getByText('Publish the DMARC record with the rua address').count()).toBe(1)
  })
})
