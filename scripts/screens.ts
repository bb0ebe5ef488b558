/** Every page of the dashboard and of the API reference, from the real server with sample data and of a fresh installation, at
 *  three widths in both themes → .screens/<page>-<width>-<theme>.png and .screens/empty-…: `bun scripts/screens.ts
 *  [part of a page's name] …`. Needs Chromium. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openComponents } from '../test/dashboard/components/open.ts'
import {
  ADDRESSES,
  addAddresses,
  addSample,
  EMPTY_PAGES,
  pagesOf,
  removeAll,
  type Sample,
} from '../test/dashboard/sample.ts'
import { startDashboard, type TestDashboard } from '../test/dashboard/setup.ts'

const FOLDER = join(import.meta.dir, '../.screens')
const VIEWS = [1440, 768, 390].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })))
type View = (typeof VIEWS)[number]

/** The API reference. */
const REFERENCE = {
  reference: '',
  'reference-group': '#webhooks',
  'reference-operation': '#messages_send',
  'reference-webhook': '#on_message_bounced',
}

const wanted = process.argv.slice(2)
const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part))
const fileOf = (name: string, { width, theme }: View) => join(FOLDER, `${name}-${width}-${theme}.png`)

mkdirSync(FOLDER, { recursive: true })
let sample: Sample | undefined
await withBoard(
  async (server) => {
    sample = await addSample(server)
  },
  async (board, view) => {
    if (sample === undefined) throw new Error('no sample data')
    await shoot(board, view, pagesOf(sample))
    await shootAlone(board, view, 'components', openComponents)
    await shootAlone(board, view, 'sign-in', async (page) => {
      await page.goto(`${board.origin}/dashboard/sign-in`)
      await page.getByRole('heading').first().waitFor()
    })
    for (const [name, link] of Object.entries(REFERENCE)) {
      await shootAlone(board, view, name, async (page) => {
        await page.goto(`${board.origin}/docs${link}`)
        await page.locator('main h1').first().waitFor()
      })
    }
  },
)
const empty = Object.entries(EMPTY_PAGES).map(([name, path]) => [`empty-${name}`, path] as const)
await withBoard(removeAll, (board, view) => shoot(board, view, Object.fromEntries(empty)))
const addresses = { 'addresses-filled': '/sending-addresses' }
await withBoard(addAddresses, (board, view) => shoot(board, view, addresses), ADDRESSES)
console.log(FOLDER)

async function withBoard(
  seed: Parameters<typeof startDashboard>[0],
  work: (board: TestDashboard, view: View) => Promise<void>,
  config: Parameters<typeof startDashboard>[1] = {},
): Promise<void> {
  const board = await startDashboard(seed, config)
  try {
    for (const view of VIEWS) await work(board, view)
  } finally {
    await board.close().catch((thrown: unknown) => console.error(String(thrown)))
  }
}

async function shoot(board: TestDashboard, view: View, pages: Record<string, string>): Promise<void> {
  const shown = Object.entries(pages).filter(([name]) => isWanted(name))
  if (shown.length === 0) return
  const page = await board.open('/', { ...view, height: view.width === 390 ? 844 : 900, expected: /./ })
  for (const [name, path] of shown) {
    await page.goto(`${board.origin}/dashboard${path}`)
    await page.locator('main h1').first().waitFor()
    await page.locator('[aria-busy="true"], .busy, [role="progressbar"]').first().waitFor({ state: 'detached' })
    await page.waitForTimeout(500) // charts and frames draw after the data
    await page.screenshot({ path: fileOf(name, view), fullPage: true })
  }
}

/** A picture of a page without a session. */
async function shootAlone(
  board: TestDashboard,
  view: View,
  name: string,
  open: (page: Page) => Promise<unknown>,
): Promise<void> {
  if (!isWanted(name)) return
  const page = await board.blank({ ...view, expected: /./ })
  await open(page)
  await page.screenshot({ path: fileOf(name, view), fullPage: true })
  await page.close()
}
