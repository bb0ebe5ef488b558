import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { brokenWords } from './broken-words.ts'
import { addSample, pagesOf, type Sample } from './sample.ts'
import { axeFaults, hasBrowser, LIMIT_MS, overflow, startDashboard, type TestDashboard } from './setup.ts'

/** Every page with sample data: accessibility, layout shift, the width of a phone, and whole words. */

describe.skipIf(!hasBrowser)('every page of the dashboard', () => {
  let board: TestDashboard
  let sample: Sample
  beforeAll(async () => {
    board = await startDashboard(async (server) => {
      sample = await addSample(server)
    })
  }, LIMIT_MS)
  afterAll(() => board?.close(), LIMIT_MS)

  const each = async (page: Page, check: (name: string) => Promise<void>) => {
    for (const [name, path] of Object.entries(pagesOf(sample))) {
      await page.goto(`${board.origin}/dashboard${path}`)
      await page.locator('main h1').first().waitFor()
      await page.locator('[aria-busy="true"], .busy').first().waitFor({ state: 'detached' })
      await check(name)
    }
  }

  for (const theme of ['light', 'dark'] as const)
    test(
      `has no accessibility faults in the ${theme} theme`,
      async () => {
        const page = await board.open('/', { width: 1440, theme, expected: FRAMES })
        await each(page, async (name) => expect([name, await axeFaults(page)]).toEqual([name, []]))
      },
      LIMIT_MS,
    )

  test(
    'fits 390 px without horizontal scrolling, and shifts its layout by less than 0.05',
    async () => {
      const page = await board.open('/', { width: 390, height: 844, expected: FRAMES })
      const shifts: Record<string, number> = {}
      await each(page, async (name) => {
        expect([name, await overflow(page)]).toEqual([name, []])
        shifts[name] = await page.evaluate(layoutShift)
      })
      expect(Object.entries(shifts).filter(([, shift]) => shift >= 0.05)).toEqual([])
    },
    LIMIT_MS,
  )

  test(
    'loads less than 120 kB with the font, and the editor on the pages of a template alone',
    async () => {
      const page = await board.open('/', { expected: FRAMES })
      const bytes = new Map<string, number>()
      const loaded: Record<string, number> = {}
      let asked = new Set<string>()
      page.on('request', (request) => asked.add(request.url()))
      for (const [name, path] of Object.entries(pagesOf(sample))) {
        asked = new Set()
        await page.goto(`${board.origin}/dashboard${path}`)
        await page.locator('main h1').first().waitFor()
        await page.locator('[aria-busy="true"], .busy, [role="progressbar"]').first().waitFor({ state: 'detached' })
        // Loaded after the page: the plotting library, and the editor.
        if (name === 'overview') await page.locator('.plot canvas').last().waitFor()
        if (WITH_EDITOR.includes(name)) await page.locator('.cm-editor').waitFor()
        const own = [...asked].filter((url) => url.startsWith(`${board.origin}/dashboard`))
        for (const url of own) if (!bytes.has(url)) bytes.set(url, await compressedBytes(url))
        loaded[name] = own.reduce((sum, url) => sum + (bytes.get(url) ?? 0), 0)
      }
      const large = Object.keys(loaded).filter((name) => loaded[name]! >= 120_000)
      expect(large).toEqual(WITH_EDITOR)
      expect(Math.min(...Object.values(loaded))).toBeGreaterThan(60_000) // the font is there
    },
    LIMIT_MS,
  )

  test(
    'has no control that Tab does not reach',
    async () => {
      const page = await board.open('/', { width: 1440, expected: FRAMES })
      const missed: [string, string[]][] = []
      await each(page, async (name) => {
        await page.evaluate(watchFocus)
        let unreached: string[] = []
        // Again for parts that were loaded after the last Tab of a round.
        for (let round = 0; round === 0 || (round < 3 && unreached.length > 0); round++) {
          for (let tab = 0; tab < 800; tab++) {
            const at = await page.evaluate(() => (window as never as Watched).at())
            if (tab > 2 * at.controls + 10) break // twice: parts that load later join behind the focus
            if (at.isEditor) await page.keyboard.press('Escape') // then Tab leaves it; by itself it indents
            await page.keyboard.press('Tab')
          }
          unreached = await page.evaluate(() => (window as never as Watched).unreached())
        }
        if (unreached.length > 0) missed.push([name, unreached])
      })
      expect(missed).toEqual([])
    },
    LIMIT_MS,
  )

  test(
    'shows 24 recipients of a message on one screen',
    async () => {
      const page = await board.open(`/messages/${sample.many}`, { width: 1440, height: 900 })
      const rows = page.locator('.recipient')
      await rows.last().waitFor()
      expect(await rows.count()).toBe(24)
      const { y, height } = (await rows.last().boundingBox())!
      expect(y + height).toBeLessThan(900)
    },
    LIMIT_MS,
  )

  test(
    'the check of words finds those that are split or cut, and no others',
    async () => {
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
    },
    LIMIT_MS,
  )

  for (const width of [1440, 768, 390])
    test(
      `splits and cuts no word at ${width} px, and squeezes no column`,
      async () => {
        const page = await board.open('/', { width, height: 844, expected: FRAMES })
        const broken: [string, string[]][] = []
        await each(page, async (name) => {
          const words = [...(await brokenWords(page)), ...(await page.evaluate(squeezed))]
          if (words.length > 0) broken.push([name, words])
        })
        expect(broken).toEqual([])
      },
      LIMIT_MS,
    )
})

interface Watched {
  /** The number of controls, and whether the code editor has the focus. */
  at(): { controls: number; isEditor: boolean }
  unreached(): string[]
}

/** Begins to note which of the visible, enabled controls get the focus. A group of tabs or radio buttons counts as its
 *  selected one, which the arrow keys move. */
function watchFocus(): void {
  const controls = () =>
    [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((element) => document.querySelector('dialog[open]')?.contains(element) ?? true)
      .filter((element) => element.tabIndex >= 0 && !element.matches(':disabled, [type="radio"]:not(:checked)'))
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
  const reached = new Set<EventTarget | null>([document.activeElement])
  document.addEventListener('focusin', ({ target }) => reached.add(target))
  Object.assign(window, {
    at: () => {
      return { controls: controls().length, isEditor: document.activeElement?.closest('.cm-editor') != null }
    },
    unreached: () =>
      controls()
        .filter((element) => !reached.has(element))
        .map((element) => element.outerHTML.slice(0, 120)),
  })
}

/** Pages that load the code editor. */
const WITH_EDITOR = ['template-new', 'template', 'layout']

/** Size of a file of the dashboard as a browser gets it. */
async function compressedBytes(url: string): Promise<number> {
  const response = await fetch(url, { headers: { 'accept-encoding': 'br, gzip' }, decompress: false })
  return (await response.arrayBuffer()).byteLength
}

/** Cells whose text ends with an ellipsis after fewer than about eight letters. */
function squeezed(): string[] {
  return [...document.querySelectorAll('td > div:not(:has(button))')]
    .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && clientWidth < 64 && scrollWidth > clientWidth)
    .map((cell) => `squeezed: ${cell.textContent}`)
}

/** Notes of the browser about the frame that shows a message. */
const FRAMES = /Blocked/

/** Sum of the layout shifts since the page opened (Layout Instability, buffered entries). */
function layoutShift(): Promise<number> {
  return new Promise((resolve) => {
    const sum = (entries: PerformanceEntryList) =>
      entries.reduce((total, entry) => total + (entry as unknown as { value: number }).value, 0)
    const observer = new PerformanceObserver((list) => resolve(sum(list.getEntries())))
    observer.observe({ type: 'layout-shift', buffered: true })
    // Without a shift the observer is never called.
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum(observer.takeRecords()))))
  })
}
