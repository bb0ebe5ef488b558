import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openComponents } from './components/open.ts'
import {
  axeFaults,
  axeFaultsOfThemes,
  describeWithBrowser,
  overflow,
  startDashboard,
  type TestDashboard,
  type View,
} from './setup.ts'

/** The page with every component of the kit in its states. */

const KIT = join(import.meta.dir, '../../src/web/dashboard/ui/kit')
const PAGE = join(import.meta.dir, 'components')
const textsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')

test('the page of components shows each component of the kit', () => {
  const exported = [...textsIn(KIT).matchAll(/^export function ([A-Z]\w*)/gm)].map(([, name]) => name)
  const shown = textsIn(PAGE)
  expect(exported.length).toBeGreaterThan(25)
  // The palette opens in its slot.
  expect(exported.filter((name) => name !== 'Palette' && !shown.includes(`<${name}`))).toEqual([])
})

describeWithBrowser('the components', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard()
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())
  const open = async (view: View) => {
    const page = await board.blank({ ...view, expected: /./, elsewhere: ['components.test'] })
    await openComponents(page)
    return page
  }

  test.each([1440, 390])('have no accessibility faults in both themes and no overflow at %d px', async (width) => {
    const page = await open({ width })
    expect(await axeFaultsOfThemes(page)).toEqual([])
    expect(await overflow(page)).toEqual([])
  })

  test('open what covers the page without accessibility faults, and Escape closes it', async () => {
    const page = await open({ theme: 'dark' })
    for (const name of ['Open dialog', 'Open question', 'Open shortcuts', 'Open palette']) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('dialog').waitFor()
      expect([name, await axeFaults(page)]).toEqual([name, []])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Show error' }).click()
    await page.getByText('The name is used.').waitFor()
    expect(await axeFaults(page)).toEqual([])
  })

  test('show that an empty page is not the end of a search', async () => {
    const page = await open({})
    const textOf = (name: string) => page.getByLabel(name, { exact: true }).textContent()
    expect(await textOf('Empty')).toContain('No messages yet')
    expect(await textOf('Not searched to the end')).toContain('Search older')
  })

  test('show the error of a refused form at its field, which gets the focus', async () => {
    const page = await open({})
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name is already used.').waitFor()
    const name = page.getByLabel('Name', { exact: true })
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    expect(await name.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  test('show the warm-up of an address: its groups, and plan and mails sent by day of the chosen one', async () => {
    const page = await open({})
    const card = page.getByRole('region', { name: 'Warm-up of 192.0.2.1' })
    const rows = await card.getByRole('row').allInnerTexts()
    const held = rows.find((text) => text.startsWith('Yahoo'))
    expect(held).toContain('Held')
    expect(held).toContain('until ')
    expect(rows.find((text) => text.startsWith('Apple'))).toContain('No limit')
    await card.getByRole('button', { name: 'Microsoft' }).click()
    await card.getByRole('button', { name: 'View as table' }).click()
    const figures = card.getByRole('region', { name: 'Plan and messages sent to Microsoft by day' }).getByRole('row')
    expect(await figures.allInnerTexts()).toEqual([
      'Time\tPlan\tSent',
      '2026-11-19\t50\t50',
      '2026-11-20\t63\t63',
      '2026-11-21\t81\t31',
    ])
    await page.getByText('The chart starts on the second day.').waitFor()
    await card.getByRole('button', { name: 'View as table' }).click()
    await card.getByRole('button', { name: 'Google' }).click()
    await card.locator('.plot canvas').waitFor()
  })
})
