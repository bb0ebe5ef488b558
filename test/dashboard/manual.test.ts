import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { TOPICS } from '../../src/web/manual/contents.ts'
import {
  axeFaults,
  axeFaultsOfThemes,
  chooseTheme,
  describeWithBrowser,
  overflow,
  screenshot,
  startDashboard,
  type TestDashboard,
} from './setup.ts'

/** The manual at `/manual/`, in a browser. */
describeWithBrowser('the manual', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard()
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  const WIDTHS = [360, 768, 1280]
  test(`has no fault that axe finds in both themes, and fits ${WIDTHS.join(', ')} pixels`, async () => {
    const page = await board.blank()
    for (const path of ['', 'tls', 'delivery-results', 'configuration-reference', 'dashboard']) {
      await page.goto(`${board.origin}/manual/${path}`)
      await page.locator('article h1').waitFor()
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        expect([path, width, await overflow(page)]).toEqual([path, width, []])
        if (path === 'dashboard') await screenshot(page, `manual-${width}`)
      }
      // The narrow page has buttons of its own.
      for (const width of [WIDTHS[0]!, WIDTHS.at(-1)!]) {
        await page.setViewportSize({ width, height: 900 })
        expect([path, width, await axeFaultsOfThemes(page)]).toEqual([path, width, []])
      }
    }
  })

  test('opens every page from its contents, without errors and with a heading of its own', async () => {
    const page = await board.blank()
    await page.goto(`${board.origin}/manual/`)
    const links = await page
      .locator('main dt a')
      .evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href))
    expect(links).toEqual(TOPICS.map((topic) => `${board.origin}/manual/${topic}`))
    const titles = new Set<string | null>()
    for (const link of links) {
      await page.goto(link, { waitUntil: 'domcontentloaded' })
      titles.add(await page.locator('article h1').textContent())
    }
    expect(titles.size).toBe(links.length)
  })

  test('searches all pages by keyboard and opens the section that matches', async () => {
    const page = await board.blank()
    await page.goto(`${board.origin}/manual/`)
    await page.keyboard.press('/')
    await page.keyboard.type('release held mail')
    const results = page.getByRole('region', { name: 'Search results' })
    await results.getByRole('status').getByText('match “release held mail”').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await results.getByRole('link', { name: 'Backup and restore: Release held mail' }).click()
    await page.getByRole('heading', { level: 1, name: 'Backup and restore' }).waitFor()
    expect(page.url()).toBe(`${board.origin}/manual/backup#release-held-mail`)
    await page.getByRole('searchbox').fill('zzz')
    await results.getByText('No sections match “zzz”.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { level: 1, name: 'Backup and restore' }).waitFor()
  })

  test('is readable without JavaScript, with all links and no search', async () => {
    const page = await board.blank({ hasJavaScript: false })
    await page.goto(`${board.origin}/manual/keys`)
    await page.getByRole('heading', { level: 1, name: 'Keys and permissions' }).waitFor()
    expect(await page.getByRole('searchbox').count()).toBe(0)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Upgrade' }).click()
    await page.getByRole('heading', { level: 1, name: 'Upgrade' }).waitFor()
  })

  test('uses the theme chosen in the dashboard, which links to it', async () => {
    const page = await board.open('/')
    await chooseTheme(page, 'dark')
    await page.getByRole('button', { name: /^Account of / }).click()
    expect(await page.getByRole('link', { name: 'Manual' }).getAttribute('href')).toBe('/manual/')
    await page.goto(`${board.origin}/manual/`)
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Postrider API' }).waitFor()
    await page.getByRole('link', { name: 'Manual' }).click()
    await page.getByRole('heading', { level: 1, name: 'Postrider manual' }).waitFor()
  })
})
