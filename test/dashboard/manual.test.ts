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

  const WIDTHS = [360, 768, 1440]
  test(`has no fault that axe finds in both themes, and fits ${WIDTHS.join(', ')} pixels`, async () => {
    const page = await board.blank()
    for (const path of ['', 'tls', 'sending', 'delivery-results', 'configuration-reference', 'dashboard']) {
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

  test('shows the pages beside the open one in its navigation', async () => {
    const page = await board.blank()
    await page.goto(`${board.origin}/manual/sending`)
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true })
    await pages.getByRole('link', { name: 'Errors', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Errors', exact: true }).waitFor()
  })

  test('searches all pages by keyboard and opens the section that matches', async () => {
    const page = await board.blank()
    await page.goto(`${board.origin}/manual/`)
    await page.keyboard.press('/')
    await page.keyboard.type('release held mail')
    const results = page.getByRole('region', { name: 'Search results' })
    await results.getByRole('status').getByText('Results for “release held mail”').waitFor()
    expect(await axeFaults(page)).toEqual([])
    const first = results.getByRole('listitem').first()
    await first.getByRole('heading', { name: 'Backup and restore' }).waitFor()
    await first.getByRole('link', { name: 'Release held mail' }).click()
    await page.getByRole('heading', { level: 1, name: 'Backup and restore' }).waitFor()
    expect(page.url()).toBe(`${board.origin}/manual/backup#release-held-mail`)
    await page.getByRole('searchbox').fill('zzz')
    await results.getByText('Nothing matches “zzz”.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { level: 1, name: 'Backup and restore' }).waitFor()
  })

  test('finds operations of the API, and moves through the results with the arrow keys', async () => {
    const page = await board.blank()
    await page.goto(`${board.origin}/manual/keys`)
    await page.keyboard.press('/')
    await page.keyboard.type('list suppressions')
    const links = page.locator('#results a')
    await links.nth(1).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await links.nth(1).evaluate((link) => link === document.activeElement)).toBe(true)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await page.getByRole('searchbox').evaluate((field) => field === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'List suppressions' }).waitFor()
    expect(page.url()).toBe(`${board.origin}/docs#suppressions_list`)
  })

  test('says that a page does not exist, and names the nearest ones', async () => {
    const page = await board.blank({ expected: /404/ })
    await page.goto(`${board.origin}/manual/webhoks`)
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    const nearest = page.locator('#nearest a')
    await nearest.nth(2).waitFor()
    expect([await nearest.count(), await nearest.first().getAttribute('href')]).toEqual([3, '/manual/webhooks'])
    expect(await axeFaultsOfThemes(page)).toEqual([])
  })

  test('copies code, and shows it in the language that was chosen anywhere', async () => {
    const page = await board.blank()
    await page.goto(`${board.origin}/manual/sending`)
    const box = (name: string) => page.getByRole('tabpanel', { name })
    await box('curl').first().waitFor()
    await page.getByRole('tab', { name: 'Python' }).first().click()
    await box('Python').first().getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const shown = await box('Python').first().locator('pre').textContent()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(shown!)
    await page.keyboard.press('Tab')
    await page.goto(`${board.origin}/docs#domains_list`)
    await page.getByRole('tab', { name: 'Python', selected: true }).waitFor()
    await page.getByRole('tab', { name: 'PHP' }).click()
    await page.goto(`${board.origin}/manual/sending`)
    await page.getByRole('tab', { name: 'PHP', selected: true }).first().focus()
    await page.keyboard.press('ArrowLeft')
    await box('Python').first().waitFor()
  })

  test('opens the navigation of a phone, also without JavaScript', async () => {
    const page = await board.blank({ width: 390, hasJavaScript: false })
    await page.goto(`${board.origin}/manual/keys`)
    const link = page.getByRole('link', { name: 'Dashboard', exact: true })
    expect(await link.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await link.waitFor()
    await page.keyboard.press('Escape')
    await link.waitFor({ state: 'hidden' })
  })

  test('prints the page alone, with whole lines of code', async () => {
    const page = await board.blank({ isFresh: true })
    await page.goto(`${board.origin}/manual/webhooks`)
    await page.emulateMedia({ media: 'print' })
    for (const part of ['#navigation', 'header.top', '.outline', '.turn', '.code-box button']) {
      expect([part, await page.locator(part).first().isVisible()]).toEqual([part, false])
    }
    await page.setViewportSize({ width: 720, height: 1000 })
    expect(await overflow(page)).toEqual([])
    const cut = await page
      .locator('pre')
      .evaluateAll((all) => all.filter((pre) => pre.scrollWidth > pre.clientWidth).length)
    expect(cut).toBe(0)
  })

  test('is readable without JavaScript, with all links and no search', async () => {
    const page = await board.blank({ hasJavaScript: false })
    await page.goto(`${board.origin}/manual/keys`)
    await page.getByRole('heading', { level: 1, name: 'Keys and permissions' }).waitFor()
    expect(await page.getByRole('searchbox').count()).toBe(0)
    await page
      .getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'Users and roles' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Users and roles' }).waitFor()
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
    await page.getByRole('button', { name: 'Light' }).click()
    await page.getByRole('link', { name: 'Manual' }).click()
    await page.getByRole('heading', { level: 1, name: 'Postrider manual' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('light')
  })
})
