/** Every page of the dashboard, from the real server with sample data, at three widths in both themes →
 *  .screens/<page>-<width>-<theme>.png: `bun scripts/screens.ts [part of a page's name] …`. Needs Chromium. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openComponents } from '../test/dashboard/components/open.ts'
import { addSample, pagesOf, type Sample } from '../test/dashboard/sample.ts'
import { startDashboard } from '../test/dashboard/setup.ts'

const FOLDER = join(import.meta.dir, '../.screens')
const VIEWS = [1440, 768, 390].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })))

const wanted = process.argv.slice(2)
mkdirSync(FOLDER, { recursive: true })
let sample: Sample | undefined
const board = await startDashboard(async (server) => {
  sample = await addSample(server)
})
try {
  if (sample === undefined) throw new Error('no sample data')
  const shown = Object.entries(pagesOf(sample)).filter(
    ([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
  )
  for (const { width, theme } of VIEWS) {
    const page = await board.open('/', { width, height: width === 390 ? 844 : 900, theme, expected: /./ })
    for (const [name, path] of shown) {
      await page.goto(`${board.origin}/dashboard${path}`)
      await page.locator('main h1').first().waitFor()
      await page.locator('[aria-busy="true"], .busy').first().waitFor({ state: 'detached' })
      await page.waitForTimeout(300) // charts and frames draw after the data
      await page.screenshot({ path: join(FOLDER, `${name}-${width}-${theme}.png`), fullPage: true })
    }
    if (wanted.length === 0 || wanted.includes('components')) {
      const components = await board.blank({ width, theme, expected: /./ })
      await openComponents(components)
      await components.screenshot({ path: join(FOLDER, `components-${width}-${theme}.png`), fullPage: true })
    }
    if (wanted.length === 0 || wanted.includes('sign-in')) {
      const blank = await board.blank({ width, theme, expected: /./ })
      await blank.goto(`${board.origin}/dashboard/sign-in`)
      await blank.getByRole('heading').first().waitFor()
      await blank.screenshot({ path: join(FOLDER, `sign-in-${width}-${theme}.png`) })
    }
  }
} finally {
  await board.close().catch((thrown: unknown) => console.error(String(thrown)))
}
console.log(FOLDER)
