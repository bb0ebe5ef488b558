import { afterAll, afterEach, beforeAll, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { ConfigValues } from '../../src/config/load.ts'
import { FIRST_USER, type Role } from '../../src/model/user.ts'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { hashToken, mintToken } from '../../src/web/api/sessions.ts'
import { signIn } from '../support/api.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { describeWith } from '../support/real-tools.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { VERIFIED } from '../support/verified.ts'

/** The dashboard in a browser, with a complete server. Each file has one server and one Chromium; each page of a test
 *  has a separate context without cookies and stored data. A Chromium that has ended, as after a test that ran into its
 *  time limit, is replaced when the next page opens. `close` throws for script errors, console messages, and requests to
 *  other hosts. */
export interface TestDashboard {
  server: TestServer
  /** Receives mail for `*.remote.example`. */
  remote: RemoteMx
  origin: string
  /** Signs in and opens a path below `/dashboard`. */
  open(path: string, options?: View): Promise<Page>
  /** Creates a sign-in link. */
  link(): Promise<string>
  /** Opens an empty page without a session. */
  blank(options?: View): Promise<Page>
  /** Closes all pages, or empties them for the next test. An open page keeps reloading what it shows, which a later step
   *  may have removed. */
  closePages(): Promise<void>
  close(): Promise<void>
}

export interface View {
  /** A new user with this role in the organization of the server signs in; by default the operator. */
  role?: Role
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  /** Errors and warnings of the page that the test expects. */
  expected?: RegExp
  /** `host:port` of servers of the test that the page may request. The browser accepts any certificate. */
  elsewhere?: readonly string[]
  hasJavaScript?: boolean
  /** In a page that no other test uses, with a process of its own. Needed for addInitScript, which cannot be undone. */
  isFresh?: boolean
}

/** Replies of the receiving server by local part; it accepts all other recipients. */
const REPLIES: Record<string, string> = {
  nobody: '550 5.1.1 no such user here',
  later: '451 4.7.1 greylisted, come again in five minutes',
}

/** The headless shell takes half of the CPU time. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))

/** `describe` for tests that require Chromium: see describeWith. */
export function describeWithBrowser(what: string, tests: () => void): void {
  describeWith(['chromium'], what, tests)
}

const SHOTS = join(import.meta.dir, '../../dist/test/screenshots')

/** Starts server and browser. `seed` adds data to the server. */
export async function startDashboard(
  seed: (server: TestServer) => Promise<void> = async () => {},
  config: ConfigValues = {},
): Promise<TestDashboard> {
  const remote = await startRemoteMx({ script: { rcpt: (address) => REPLIES[address.split('@', 1)[0]!] ?? null } })
  const server = await startTestServer({ remote, config })
  const origin = `http://${server.running().listening.http}`
  const faults: string[] = []
  const mintId = createMintId(server.clock, systemRandom)
  const opened: { page: Page; isReusable: boolean }[] = []
  /** Empty pages with the default settings. A new page would need another process, and would compile the program again. */
  const emptied: Page[] = []
  await seed(server)
  const launch = () => {
    if (CHROMIUM === undefined) throw new Error('Chromium is not installed (Debian package chromium-headless-shell)')
    return chromium.launch({ executablePath: CHROMIUM, args: QUIETLY, timeout: PATIENCE_MS })
  }
  let browser: Browser = await launch()
  const newContext = async (options: BrowserContextOptions): Promise<BrowserContext> => {
    try {
      return await browser.newContext(options)
    } catch (error) {
      // The reason may arrive before the browser counts as disconnected.
      if (browser.isConnected() && !/has been closed|crash/.test(String(error))) throw error
    }
    browser = await launch()
    return browser.newContext(options)
  }

  const newPage = async (elsewhere: readonly string[], hasJavaScript: boolean) => {
    const context = await newContext({
      locale: 'de-DE', // the texts are English, and so are their dates and numbers
      javaScriptEnabled: hasJavaScript,
      ignoreHTTPSErrors: elsewhere.length > 0,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    context.setDefaultTimeout(PATIENCE_MS)
    // No route(): it turns off the cache of the browser, and each page would load everything again.
    context.on('request', (request) => {
      const url = new URL(request.url())
      if (url.origin === origin || !/^https?:$/.test(url.protocol) || elsewhere.includes(url.host)) return
      faults.push(`requested ${url.href}`)
    })
    return context.newPage()
  }

  const blank = async ({
    width = 1280,
    height = 900,
    theme = 'light',
    expected,
    elsewhere = [],
    hasJavaScript = true,
    isFresh = false,
  }: View = {}) => {
    const isReusable = elsewhere.length === 0 && hasJavaScript && !isFresh
    const kept = isReusable ? emptied.pop() : undefined
    const page = kept && (await works(kept)) ? kept : await newPage(elsewhere, hasJavaScript)
    opened.push({ page, isReusable })
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await page.context().clock.setFixedTime(server.clock.now())
    const fault = (what: string) =>
      expected?.test(what) || OF_PLAYWRIGHT.test(what) || faults.push(`${new URL(page.url()).pathname}: ${what}`)
    page.on('pageerror', (error) => fault(`threw ${error.stack}`))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') fault(`logged ${message.text()}`)
    })
    return page
  }

  /** Removes what a test has left in a page. Rejects if the page has others beside it, or does not work any more. */
  const empty = async (page: Page) => {
    for (const event of LISTENED) page.removeAllListeners(event)
    if (page.context().pages().length > 1) throw new Error('the page has opened others')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    // A page of the same origin without a script, which would store something again.
    await page.goto(`${origin}/healthz`)
    await page.evaluate(() => {
      window.localStorage.clear()
      window.sessionStorage.clear()
    })
    await page.context().clearCookies()
    await page.mouse.move(-1, -1)
    emptied.push(page)
  }

  const link = async () => {
    const token = mintToken(systemRandom)
    const now = server.clock.now()
    await server
      .store()
      .sessions.addLink({ tokenHash: hashToken(token), userId: FIRST_USER, createdAt: now, expiresAt: now + 1_800_000 })
    return `${origin}/dashboard/sign-in#token=${token}`
  }

  const addUser = async (role: Role) => {
    const id = mintId('usr')
    const user = { id, email: `${id}@sender.example`, name: role, isOperator: false, createdAt: server.clock.now() }
    const roles = { [server.organizationId]: role }
    await server.store().users.create({ ...user, roles, disabledAt: null, lastSeenAt: null, ...VERIFIED }, null)
    return id
  }

  const closePages = async () => {
    for (const { page, isReusable } of opened.splice(0)) {
      // A context of a browser that has ended cannot be closed.
      const close = () =>
        page
          .context()
          .close()
          .catch(() => {})
      await (isReusable ? empty(page).catch(close) : close())
    }
  }

  return {
    server,
    remote,
    origin,
    link,
    blank,
    async open(path, view) {
      const page = await blank(view)
      const userId = view?.role === undefined ? undefined : await addUser(view.role)
      const { cookie } = await signIn(server.store(), server.clock.now(), systemRandom, mintId, userId)
      const [name = '', value = ''] = cookie.split('=')
      await page.context().addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Strict' }])
      await page.goto(`${origin}/dashboard${path}`)
      await page.locator('main h1').first().waitFor()
      return page
    },
    closePages,
    async close() {
      await closePages()
      await browser.close().catch(() => {})
      await server.close()
      await remote.stop()
      if (faults.length > 0) throw new Error([...new Set(faults)].join('\n'))
    },
  }
}

/** False for a page of a browser that has ended. */
const works = (page: Page) => page.evaluate(() => true).catch(() => false)

/** Events of a page that tests listen to. */
const LISTENED = ['console', 'dialog', 'pageerror', 'request', 'response'] as const

/** Playwright runs a script in every frame to set its clock, also in frames that forbid scripts. */
const OF_PLAYWRIGHT = /Blocked script execution in '(?:about:blank|[^']*\/dashboard\/preview)/

const QUIETLY = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** Waits until the page shows what it loads. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.locator('[aria-busy="true"], [role="progressbar"]').first().waitFor({ state: 'detached' })
}

/** Accessibility violations that axe finds on the page: `color-contrast: .chip …`. */
export async function axeFaults(page: Page, { except = [], only }: AxeScope = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe())
  const options: AxeOptions = { resultTypes: ['violations'], ...(only && { runOnly: OF_COLOURS }) }
  const found = await page.evaluate(
    async ([exclude, options]) => {
      const { violations } = await (window as never as { axe: Axe }).axe.run({ exclude }, options)
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, any }) => [id, target.join(' '), any[0]?.message]),
      )
    },
    [except, options] as const,
  )
  return found.map(([id, target, why]) => `${id}: ${target} (${why})`)
}

/** Violations in the light theme, then those that the dark theme adds: `dark: color-contrast: .chip …`. All other rules
 *  find the same in both themes. */
export async function axeFaultsOfThemes(page: Page, { except = [] }: Pick<AxeScope, 'except'> = {}): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await axeFaults(page, { except })
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await axeFaults(page, { except, only: 'colours' })
  return [...light, ...dark.map((fault) => `dark: ${fault}`)]
}

interface AxeScope {
  /** Selectors of parts that are not looked at, because an earlier look has seen them. */
  except?: readonly string[]
  /** The rules that depend on the theme. */
  only?: 'colours'
}
const OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
interface AxeOptions {
  resultTypes: string[]
  runOnly?: typeof OF_COLOURS
}
interface Axe {
  run(context: { exclude: readonly string[] }, options: AxeOptions): Promise<AxeResult>
}
interface AxeResult {
  violations: { id: string; nodes: { target: string[]; any: { message: string }[] }[] }[]
}

let axeSource: string | undefined
function axe(): string {
  axeSource ??= readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')
  return axeSource
}

/** Elements that make the page scroll horizontally, at most eight; [] if it does not scroll. */
export function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const wide = [...document.querySelectorAll('main *, header *')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth,
    )
    return [`${scrollWidth - clientWidth} px`, ...wide.slice(0, 8).map((element) => element.outerHTML.slice(0, 80))]
  })
}

/** Runs in the page: sum of the layout shifts since the page opened (Layout Instability, buffered entries). */
export function layoutShift(): Promise<number> {
  return new Promise((resolve) => {
    const sum = (entries: PerformanceEntryList) =>
      entries.reduce((total, entry) => total + (entry as unknown as { value: number }).value, 0)
    const observer = new PerformanceObserver((list) => resolve(sum(list.getEntries())))
    observer.observe({ type: 'layout-shift', buffered: true })
    // Without a shift the observer is never called.
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum(observer.takeRecords()))))
  })
}

/** Chooses the theme in the account menu. */
export async function chooseTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('button', { name: theme === 'dark' ? 'Dark' : 'Light', exact: true }).click()
  await page.keyboard.press('Escape')
}

/** With SCREENSHOTS=1, saves a screenshot beside the test results. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return
  mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
}

/** Helpers for a file of browser tests. */
export interface Helpers {
  board(): TestDashboard
  server(): TestServer
  journey(name: string, work: () => Promise<void>): void
  heading(page: Page, name: string): Promise<void>
  press(page: Page, name: string): Promise<void>
}

/** Defines the browser tests of a file, with one server and one browser. After each test its pages are closed. Without a
 *  browser the tests are skipped. */
export function describeJourneys(journeys: (helpers: Helpers) => void, config: ConfigValues = {}): void {
  describeWithBrowser('the dashboard', () => {
    let board: TestDashboard
    beforeAll(async () => {
      board = await startDashboard(undefined, config)
    })
    afterEach(() => board?.closePages())
    afterAll(() => board?.close())
    journeys({
      board: () => board,
      server: () => board.server,
      journey: (name, work) => test(name, work),
      heading: (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor(),
      press: (page, name) => page.getByRole('button', { name, exact: true }).click(),
    })
  })
}
