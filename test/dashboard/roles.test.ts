import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { Glob } from 'bun'
import type { Page } from 'playwright-core'
import { ROLES, type Role } from '../../src/model/user.ts'
import { includes } from '../../src/web/api/access.ts'
import { PAGES } from '../../src/web/dashboard/ui/pages.ts'
import { accessOf } from '../support/access.ts'
import { addSample, pagesOf, type Sample } from './sample.ts'
import { describeWithBrowser, settled, startDashboard, type TestDashboard } from './setup.ts'

/** What each role sees of the dashboard: nothing that the API refuses, and everything that it allows. */

const UI = new URL('../../src/web/dashboard/ui/', import.meta.url).pathname

test('pages ask about operations of the table only', async () => {
  const asked: string[] = PAGES.map(({ needs }) => needs)
  for (const file of new Glob('**/*.tsx').scanSync(UI)) {
    const text = await Bun.file(`${UI}${file}`).text()
    asked.push(...[...text.matchAll(/(?:may\(|operation=)['"](\w+)['"]/g)].map(([, id = '']) => id))
  }
  expect(asked.length).toBeGreaterThan(40)
  expect(asked.filter((id) => accessOf(id) === undefined)).toEqual([])
})

describeWithBrowser('the dashboard of each role', () => {
  let board: TestDashboard
  let sample: Sample
  beforeAll(async () => {
    board = await startDashboard(async (server) => {
      sample = await addSample(server)
    })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  const open = async (role: Role, path = '/') => {
    const page = await board.open(path, { role, expected: /Blocked|403/ })
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(`${role} at ${new URL(page.url()).pathname}: ${response.url()}`)
    })
    return { page, refused }
  }
  /** The page that a role gets in place of one that it may not open. */
  const denial = (page: Page) => page.getByText(/^Only [\w, ]+ can open this page/).count()

  for (const role of ROLES)
    test(`as ${role} opens what it shows, and the API refuses what it hides${role === 'viewer' ? ', without a button that changes something' : ''}`, async () => {
      const { page, refused } = await open(role)
      const shown = await page.locator('nav a[data-keys]').allTextContents()
      const entries = PAGES.filter(({ group }) => group !== undefined)
      expect(shown).toEqual(
        entries.filter(({ needs }) => includes(role, accessOf(needs)!.role)).map(({ name }) => name),
      )
      const paths = new Set([...entries.map(({ path }) => path), ...Object.values(pagesOf(sample))])
      for (const path of paths) {
        await page.evaluate(follow, `/dashboard${path}`)
        await settled(page)
        const entry = entries.find((each) => each.path === path)
        if (entry)
          expect([path, await denial(page)]).toEqual([path, includes(role, accessOf(entry.needs)!.role) ? 0 : 1])
        if (role === 'viewer') {
          const names = await page.locator('main button:visible, main a.button:visible').allTextContents()
          expect([path, names.filter((each) => CHANGES.test(each))]).toEqual([path, []])
        }
      }
      await page.waitForLoadState('networkidle')
      expect(refused).toEqual([])
    })

  test('shows a viewer no command that changes something', async () => {
    const { page } = await open('viewer')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search and commands' })
    await palette.getByRole('option').first().waitFor()
    const commands = (await palette.getByRole('option').allTextContents()).join('\n')
    expect(commands).toContain('Messages')
    for (const hidden of [
      'API keys',
      'Send a message',
      'Invite a user',
      'Add domain',
      'New template',
      'Members',
      'Audit log',
    ])
      expect(commands).not.toContain(hidden)
  })
})

const CHANGES =
  /^(?:Add(?! filter)|Create|New|Delete|Remove|Save|Send|Resend|Cancel|Rotate|Check DNS|Import|Invite|Edit|Disable|Revoke|Retry|Redeliver|Run)\b/

/** Runs in the page: opens a path as a link does, without loading the program again, and waits until it is drawn. */
function follow(path: string): Promise<void> {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))
}
