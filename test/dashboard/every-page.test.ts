import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { brokenWords } from './broken-words.ts'
import { addSample, PAGE_NAMES, pagesOf, type Sample } from './sample.ts'
import {
  axeFaults,
  axeFaultsOfThemes,
  describeWithBrowser,
  layoutShift,
  overflow,
  screenshot,
  settled,
  startDashboard,
  type TestDashboard,
} from './setup.ts'

/** Every page with sample data: accessibility, layout shift, the width of a phone, and whole words. What the page of
 *  senders shows. */

describeWithBrowser('every page of the dashboard', () => {
  let board: TestDashboard
  let sample: Sample
  /** The page of one test after the other: a new one would load everything again. A test that fails leaves none. */
  let phone: Page | null = null
  beforeAll(async () => {
    board = await startDashboard(async (server) => {
      sample = await addSample(server)
    })
  })
  afterAll(() => board?.close())

  /** The pages that load the editor, which is larger than everything else together. */
  const WITH_EDITOR = ['template-new', 'template', 'layout']

  // One visit of a page for all checks: loading it takes longer than most of them.
  for (const name of PAGE_NAMES)
    test(`${name}: whole words, no sideways scrolling, under 130 kB, no accessibility faults, all of it by keyboard`, async () => {
      if (phone === null) await board.closePages()
      const page = phone ?? (await board.open('/', { expected: FRAMES }))
      phone = null
      const asked = new Set<string>()
      const note = (request: { url(): string }) => asked.add(request.url())
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 390, height: 844 })
      page.on('request', note)
      await page.goto(`${board.origin}/dashboard${pagesOf(sample)[name]}`)
      await settled(page)
      // Loaded after the page: the plotting library, and the editor.
      if (name === 'overview') await page.locator('.plot canvas').last().waitFor()
      if (WITH_EDITOR.includes(name)) await page.locator('.cm-editor').waitFor()
      page.off('request', note)

      expect(await page.evaluate(layoutShift)).toBeLessThan(0.05)
      const loaded = await compressedSize([...asked].filter((url) => url.startsWith(`${board.origin}/dashboard`)))
      expect(loaded).toBeGreaterThan(60_000) // the font is there
      expect([loaded, loaded >= 130_000]).toEqual([loaded, WITH_EDITOR.includes(name)])

      expect(await overflow(page)).toEqual([])
      for (const width of [390, 768, 1440]) {
        await page.setViewportSize({ width, height: 844 })
        await screenshot(page, `${name}-${width}`)
        expect([width, ...(await brokenWords(page)), ...(await page.evaluate(squeezed))]).toEqual([width])
      }
      // Every page has the same navigation.
      const hasSeenNavigation = name !== PAGE_NAMES[0]
      expect(await axeFaultsOfThemes(page, { except: hasSeenNavigation ? [NAVIGATION] : [] })).toEqual([])
      expect(await unreachedByTab(page, hasSeenNavigation)).toEqual([])
      phone = page
    })

  test('shows 24 recipients of a message on one screen', async () => {
    const page = await board.open(`/messages/${sample.many}`, { width: 1440, height: 900 })
    const rows = page.locator('.recipient')
    await rows.last().waitFor()
    expect(await rows.count()).toBe(24)
    const { y, height } = (await rows.last().boundingBox())!
    expect(y + height).toBeLessThan(900)
  })

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    test(`senders: shows sources, advice and TLS results at ${width} px in the ${theme} theme, for a viewer too`, async () => {
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

  test('senders: opens from the page of the domain, and says what to do without reports', async () => {
    const page = await board.open(pagesOf(sample).domain!)
    await page.getByRole('link', { name: 'View reports' }).click()
    await page.getByRole('heading', { name: 'DMARC reports' }).waitFor()
    await page.getByRole('button', { name: '7 days' }).click()
    await page.getByText('Google').first().waitFor()
    const { data } = await board.server.read('/v1/domains')
    const other = data.find(({ id }: { id: string }) => id !== sample.domain)
    await page.goto(`${board.origin}/dashboard/domains/${other.id}/senders`)
    await page.getByText('No reports of a-rather-long-name').waitFor()
    expect(await page.getByText('Publish the DMARC record with the rua address').count()).toBe(1)
  })

  test('the check of words finds those that are split or cut, and no others', async () => {
    const page = await board.blank({ width: 390 })
    const box = (css: string, text: string) => `<div style="width: 80px; ${css}">${text}</div>`
    await page.setContent(
      [
        box('overflow-wrap: anywhere', 'internationalization'),
        box('overflow: hidden; white-space: nowrap', 'some longer sentence'),
        box('overflow: hidden; white-space: nowrap; text-overflow: ellipsis', 'with an ellipsis'),
        box('overflow-x: auto; white-space: nowrap', 'can be scrolled sideways'),
        box('', 'several words on several lines'),
        box('overflow-wrap: anywhere', '<code>0123456789abcdef0123456789</code>'),
        box('word-break: break-all', '<code>fits but is split</code>'),
      ].join(''),
    )
    expect(await brokenWords(page)).toEqual([
      expect.stringMatching(/^split: internationalization /),
      expect.stringMatching(/^cut by .*: some longer sentence$/),
      expect.stringMatching(/^split: is /),
    ])
  })
})

interface Watched {
  /** Moves the focus behind the navigation, if that counts as seen. */
  start(): void
  /** The number of controls, and whether the code editor is one of them. */
  count(): { controls: number; hasEditor: boolean }
  isInEditor(): boolean
  unreached(): string[]
}

/** The part that is the same on every page. */
const NAVIGATION = '#navigation'

/** Begins to note which of the visible, enabled controls get the focus. A group of tabs or radio buttons counts as its
 *  selected one, which the arrow keys move. Behind the navigation, if one is given, which then counts as seen. */
function watchFocus(navigation: string | null): void {
  const start = () => {
    const isOpen = document.querySelector('dialog[open]') !== null
    if (navigation !== null && !isOpen) [...document.querySelectorAll<HTMLElement>(`${navigation} a`)].at(-1)!.focus()
  }
  start()
  const controls = () =>
    [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((element) => document.querySelector('dialog[open]')?.contains(element) ?? true)
      .filter((element) => element.tabIndex >= 0 && !element.matches(':disabled, [type="radio"]:not(:checked)'))
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .filter((element) => navigation === null || element.closest(`.skip, ${navigation}`) === null)
  const reached = new Set<EventTarget | null>([document.activeElement])
  document.addEventListener('focusin', ({ target }) => reached.add(target))
  Object.assign(window, {
    start,
    count: () => ({ controls: controls().length, hasEditor: document.querySelector('.cm-editor') !== null }),
    isInEditor: () => document.activeElement?.closest('.cm-editor') != null,
    unreached: () =>
      controls()
        .filter((element) => !reached.has(element))
        .map((element) => element.outerHTML.slice(0, 120)),
  })
}

/** Controls that do not get the focus by Tab alone, at most three times round the page. */
async function unreachedByTab(page: Page, hasSeenNavigation: boolean): Promise<string[]> {
  await page.evaluate(watchFocus, hasSeenNavigation ? NAVIGATION : null)
  const hasInbox = (await page.locator('.inbox').count()) > 0
  // Another round for parts that were loaded behind the focus.
  for (let round = 0; ; round++) {
    const { controls, hasEditor } = await page.evaluate(() => (window as never as Watched).count())
    for (let tab = 0; tab < Math.min(controls + 10, 800); tab++) {
      // Escape lets Tab leave the editor; by itself it indents.
      if (hasEditor && (await page.evaluate(() => (window as never as Watched).isInEditor()))) {
        await page.keyboard.press('Escape')
      }
      await page.keyboard.press('Tab')
      // A row that gets the focus replaces the message beside it.
      if (hasInbox) await page.waitForFunction(() => document.querySelector('.inbox [aria-busy="true"]') === null)
    }
    const unreached = await page.evaluate(() => (window as never as Watched).unreached())
    if (unreached.length === 0 || round === 2) return unreached
    // From the beginning: a round that ends at a row, which shows its message, leaves new controls behind it.
    await page.evaluate(() => (window as never as Watched).start())
  }
}

const sizes = new Map<string, number>()

/** Size of files of the dashboard together, as a browser gets them. */
async function compressedSize(urls: string[]): Promise<number> {
  for (const url of urls) {
    if (sizes.has(url)) continue
    const response = await fetch(url, { headers: { 'accept-encoding': 'br, gzip' }, decompress: false })
    sizes.set(url, (await response.arrayBuffer()).byteLength)
  }
  return urls.reduce((sum, url) => sum + sizes.get(url)!, 0)
}

/** Cells whose text ends with an ellipsis after fewer than about eight letters. */
function squeezed(): string[] {
  return [...document.querySelectorAll('td > div:not(:has(button))')]
    .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && clientWidth < 64 && scrollWidth > clientWidth)
    .map((cell) => `squeezed: ${cell.textContent}`)
}

/** Notes of the browser about the frame that shows a message. */
const FRAMES = /Blocked/
