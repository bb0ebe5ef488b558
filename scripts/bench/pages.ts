import { addSample, pagesOf, type Sample } from '../../test/dashboard/sample.ts'
import { startDashboard } from '../../test/dashboard/setup.ts'
import { type Figure, median } from './figures.ts'
import type { Part } from './part.ts'

/** First contentful paint of every page of the dashboard, with sample data, and of the API reference, in Chromium with an
 *  empty cache: once a round. */
export const pages: Part = {
  name: 'pages',
  beside: async ({ note }) => {
    let sample: Sample | undefined
    const board = await startDashboard(async (server) => {
      sample = await addSample(server)
    })
    const paints: [name: string, ms: number][] = []
    for (const [name, path] of Object.entries(sample === undefined ? {} : pagesOf(sample))) {
      // A new context has an empty cache.
      const page = await board.open(path, { width: 1440, expected: /./ })
      paints.push([name, await page.evaluate(firstPaint)])
      await page.context().close()
    }
    const reference: number[] = []
    for (const path of ['/docs', '/docs#messages_send']) {
      const page = await board.blank({ width: 1440, expected: /./ })
      await page.goto(board.origin + path)
      reference.push(await page.evaluate(firstPaint))
      await page.context().close()
    }
    await board.close()
    const slowest = paints.toSorted(([, a], [, b]) => b - a)[0]
    console.error(`slowest: ${slowest?.[0]}`)
    note(null, SLOWEST, slowest?.[1] ?? Number.NaN)
    note(null, MEDIAN, median(paints.map(([, ms]) => ms)))
    note(null, REFERENCE, Math.max(...reference))
  },
}

const SLOWEST: Figure = { what: 'first paint of the slowest page', unit: 'ms', goal: { atMost: 400 } }
const MEDIAN: Figure = { what: 'first paint of a page of the dashboard, median', unit: 'ms', goal: { atMost: 400 } }
const REFERENCE: Figure = { what: 'first paint of the API reference', unit: 'ms', goal: { atMost: 400 } }

/** Milliseconds from the navigation to the first contentful paint. The tests replace the clock and with it the list of
 *  entries, not the observer. */
function firstPaint(): Promise<number> {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const paint = list.getEntries().find(({ name }) => name === 'first-contentful-paint')
      if (paint !== undefined) resolve(paint.startTime)
    }).observe({ type: 'paint', buffered: true })
  })
}
