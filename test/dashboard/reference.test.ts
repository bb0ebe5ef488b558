import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Page } from 'playwright-core'
import { packedManual } from '../../src/cli/manual/packed.ts'
import { fontFiles } from '../../src/web/dashboard/font.ts'
import { LANGUAGE_NAMES, LANGUAGES } from '../../src/web/examples/languages.ts'
import { manualFiles } from '../../src/web/manual/files.ts'
import { DOMAIN } from '../support/server.ts'
import { brokenWords } from './broken-words.ts'
import {
  axeFaults,
  axeFaultsOfThemes,
  describeWithBrowser,
  layoutShift,
  overflow,
  startDashboard,
  type TestDashboard,
  type View,
} from './setup.ts'

/** The API reference at `/docs`, in a browser. */
describeWithBrowser('the API reference', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard()
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  const journey = (name: string, work: () => Promise<void>) => test(name, work)
  /** Opens the page with its document loaded; `link` is the part after `#`. */
  const open = async (link = '', view?: View) => {
    const page = await board.blank(view)
    await page.goto(`${board.origin}/docs${link === '' ? '' : `#${link}`}`)
    await page.locator('main h1').first().waitFor()
    return page
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const example = (page: Page) => page.getByRole('figure', { name: /^Example in / })
  const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
  const tryIt = (page: Page) => page.getByRole('region', { name: 'Try it' })
  const giveKey = async (page: Page, key: string) => {
    await page.getByLabel('Test key').fill(key)
    await page.getByLabel('Test key').press('Enter')
  }
  /** Requests of the page, but for its own files. */
  const callsOf = (page: Page) => {
    const calls: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (!/^\/docs|^\/manual\/assets\/|^\/openapi\.json$/.test(pathname)) calls.push(`${request.method()} ${pathname}`)
    })
    return calls
  }

  const PLACES = [
    '',
    'messages',
    'messages_send',
    'messages_list',
    'messages_analyze',
    'nodes_list',
    'on_message_bounced',
  ]

  /** Follows a link of the page, without loading the page again. */
  const follow = async (page: Page, link: string) => {
    await page.evaluate((to) => {
      window.location.hash = to
      return new Promise<void>((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))
    }, link)
    await page.locator('main h1').first().waitFor()
  }

  journey('leads to the neighbours of an operation by names that differ from its own', async () => {
    const page = await open('messages_send')
    const turn = page.getByRole('navigation', { name: 'Neighbouring operations' })
    expect(await turn.getByRole('link').allTextContents()).toEqual(['Next /v1/send'])
  })

  journey('has no fault that axe finds, in both themes', async () => {
    const page = await open('', { width: 1440 })
    for (const place of PLACES) {
      await follow(page, place)
      for (const each of await page.locator('.about details > summary').all()) await each.click()
      // Every place has the same navigation.
      const except = place === '' ? [] : ['#navigation']
      expect([place, await axeFaultsOfThemes(page, { except })]).toEqual([place, []])
    }
  })

  journey('fits 390 and 768 pixels with whole words', async () => {
    const page = await open('', { width: 390, height: 844 })
    await page.getByRole('heading', { name: 'Resources' }).waitFor()
    const ids: string[] = await page.evaluate(async () => {
      const { paths, webhooks } = await (await fetch('/openapi.json')).json()
      const methods = [...Object.values(paths), ...Object.values(webhooks)].flatMap((each) =>
        Object.values(each as object),
      )
      return methods.map(({ operationId }) => operationId)
    })
    expect(ids.length).toBeGreaterThan(100)
    for (const width of [390, 768]) {
      await page.setViewportSize({ width, height: 844 })
      for (const place of ['overview', 'messages', ...ids]) {
        await follow(page, place)
        expect([place, await overflow(page), await brokenWords(page)]).toEqual([place, [], []])
      }
    }
  })

  journey('shifts by less than 0.05 while it loads', async () => {
    const page = await open('', { expected: /favicon|404/ })
    const browser = await page.context().newCDPSession(page)
    await browser.send('Network.setCacheDisabled', { cacheDisabled: true }) // as on a first visit
    for (const path of ['/docs', '/docs#messages_send']) {
      await page.goto('about:blank')
      await page.goto(board.origin + path)
      await page.waitForLoadState('networkidle')
      await page.locator('main h1').first().waitFor()
      const shift = await page.evaluate(layoutShift)
      expect([path, shift < 0.05, shift]).toEqual([path, true, shift])
    }
    await browser.detach()
  })

  journey('opens an operation by its link, groups by theirs, and names the nearest for any other', async () => {
    const page = await open('webhooks_replay')
    await heading(page, 'Replay past events')
    await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Templates' }).click()
    await heading(page, 'Templates')
    await page.goBack()
    await heading(page, 'Replay past events')
    await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Overview' }).click()
    await heading(page, 'Postrider API')
    const other = await open('"><img src=x onerror=alert(1)>')
    await heading(other, 'No operation %22%3E%3Cimg%20src=x%20onerror=alert(1)%3E')
    const wrong = await open('messages_sned')
    await heading(wrong, 'No operation messages_sned')
    expect(await axeFaultsOfThemes(wrong)).toEqual([])
    await wrong.locator('main a[href="#messages_send"]').click()
    await heading(wrong, 'Send a message')
  })

  journey('searches by keyboard alone', async () => {
    const page = await open('messages_reschedule')
    await page.keyboard.press('/')
    await page.keyboard.type('list suppressions')
    await page.getByRole('status').getByText('Results for “list suppressions”').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Enter')
    await heading(page, 'List suppressions')
    await page.keyboard.press('/')
    await page.keyboard.type('zzz')
    await page.getByText('Nothing matches “zzz”.').waitFor()
    await page.keyboard.press('Escape')
    await heading(page, 'List suppressions')
  })

  journey('opens and closes the menu of a phone', async () => {
    const page = await open('', { width: 390, height: 844 })
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.click()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    const navigation = page.getByRole('navigation', { name: 'Pages', exact: true })
    await navigation.waitFor({ state: 'hidden' })
    await menu.click()
    await page.mouse.click(380, 600)
    await navigation.waitFor({ state: 'hidden' })
    await menu.click()
    await navigation.getByRole('link', { name: 'Domains' }).click()
    await heading(page, 'Domains')
    await navigation.waitFor({ state: 'hidden' })
  })

  journey('shows every language, remembers the chosen one, and copies the example', async () => {
    const page = await open('messages_send')
    for (const name of LANGUAGES.map((each) => LANGUAGE_NAMES[each])) {
      await page.getByRole('tab', { name, exact: true }).click()
      const shown = await page
        .getByRole('figure', { name: `Example in ${name}` })
        .locator('pre')
        .textContent()
      expect(shown).toContain(`${board.origin}`)
      await example(page).getByRole('button', { name: /^Copy/ }).click()
      await example(page)
        .getByRole('button', { name: /^Copied/ })
        .waitFor()
      expect(await copied(page)).toBe(shown!)
    }
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('figure', { name: 'Example in PHP' }).waitFor()
    await page.reload()
    await page.getByRole('figure', { name: 'Example in PHP' }).waitFor()
    await page.goto(`${board.origin}/docs#domains_list`)
    await page.getByRole('figure', { name: 'Example in PHP' }).getByText('GET /v1/domains').waitFor()
  })

  journey('puts a test key into the examples, masked on the screen, until the tab closes', async () => {
    const key = board.server.keys.test
    const page = await open('domains_list')
    await giveKey(page, key)
    await example(page)
      .getByText(`svc_test_••••${key.slice(-4)}`)
      .waitFor()
    expect(await page.content()).not.toContain(key)
    await example(page).getByRole('button', { name: /^Copy/ }).click()
    await example(page)
      .getByRole('button', { name: /^Copied/ })
      .waitFor()
    expect(await copied(page)).toContain(`Bearer ${key}`)
    expect(await page.evaluate(() => JSON.stringify({ ...window.localStorage }))).not.toContain('svc_')
    await page.reload()
    await page.getByRole('button', { name: 'Remove key' }).click()
    await example(page).getByText('POSTRIDER_API_KEY').waitFor()
    expect(await page.evaluate(() => window.sessionStorage.length)).toBe(0)
  })

  journey('refuses a live key as soon as it is pasted, and says why', async () => {
    const page = await open('messages_send')
    const calls = callsOf(page)
    const field = page.getByLabel('Test key')
    await field.fill(board.server.keys.live)
    await page.getByRole('alert').getByText('This is a live key').waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await axeFaults(page)).toEqual([])
    await giveKey(page, 'hello')
    await page.getByRole('alert').getByText('This is not a test key').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await tryIt(page).getByText('Enter a test key first.').waitFor()
    expect([await page.evaluate(() => window.sessionStorage.length), calls]).toEqual([0, []])
  })

  journey('calls an operation with the test key and shows the response', async () => {
    const page = await open('messages_send', { expected: /40[034]/ })
    const calls = callsOf(page)
    await giveKey(page, board.server.keys.test)
    const region = tryIt(page)
    const form = page.getByRole('textbox', { name: 'Body' })
    await example(page).getByText(`shop@${DOMAIN}`).waitFor()
    expect(await form.inputValue()).toContain(`"from": "Shop <shop@${DOMAIN}>"`)
    await page.getByRole('button', { name: 'Send' }).click()
    await region.getByText('202', { exact: true }).waitFor()
    await form.fill(JSON.stringify({ from: 'a@other.example', to: 'ann@customer.example', subject: 'x', text: 'x' }))
    await page.getByRole('button', { name: 'Send' }).click()
    await region.getByText('403', { exact: true }).waitFor()
    await region.locator('.notice.bad').waitFor()
    const body = { from: `a@${DOMAIN}`, to: 'ann@customer.example', subject: 'From the reference', text: 'x' }
    await form.fill(JSON.stringify(body))
    await page.getByRole('button', { name: 'Send' }).click()
    await region.getByText('202', { exact: true }).waitFor()
    await region.getByText('X-Request-Id').waitFor()
    const shown = await region.getByRole('figure', { name: 'Response body' }).locator('pre').textContent()
    const { id, recipients } = JSON.parse(shown!)
    expect([id.slice(0, 4), recipients[0].email]).toEqual(['msg_', 'ann@customer.example'])
    expect(await axeFaults(page)).toEqual([])

    await page.goto(`${board.origin}/docs#messages_get`)
    await page.getByRole('button', { name: 'Send' }).click()
    await region.getByText('Fill in message_id.').waitFor()
    await page.getByLabel('message_id').fill('..')
    await page.getByRole('button', { name: 'Send' }).click()
    await region.getByText('message_id cannot be ..').waitFor()
    await page.getByLabel('message_id').fill(id)
    await page.keyboard.press('Enter')
    await region.getByText('From the reference').waitFor()
    await page.getByLabel('message_id').fill('msg/../../x?y#z')
    await page.keyboard.press('Enter')
    await region.getByText('404', { exact: true }).waitFor()
    expect(calls).toEqual([
      'GET /v1/me',
      'POST /v1/messages/send',
      'POST /v1/messages/send',
      'POST /v1/messages/send',
      `GET /v1/messages/${id}`,
      'GET /v1/messages/msg%2F..%2F..%2Fx%3Fy%23z',
    ])
  })

  journey('says in words that the body is not JSON, and that the server does not respond', async () => {
    const page = await open('templates_preview', { expected: /Failed to load/ })
    await giveKey(page, board.server.keys.test)
    await page.getByRole('textbox', { name: 'Body' }).fill('{"subject": ')
    await page.getByRole('button', { name: 'Send' }).click()
    await tryIt(page).getByText('The body is not valid JSON').waitFor()
    await page.getByRole('textbox', { name: 'Body' }).fill('{"text": "x"}')
    await page.route('**/v1/**', (route) => route.abort())
    await page.getByRole('button', { name: 'Send' }).click()
    await tryIt(page).getByText('The server did not respond.').waitFor()
  })

  journey('follows an event stream until Stop', async () => {
    const page = await open('events_stream')
    await giveKey(page, board.server.keys.test)
    await page.getByRole('button', { name: 'Send' }).click()
    await tryIt(page).getByText('200', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await tryIt(page).getByText('The response has more.').waitFor()
  })

  journey('sends nothing without a click, whatever the link says', async () => {
    const page = await board.blank()
    const calls = callsOf(page)
    for (const link of [
      'messages_send?key=svc_live_x&to=eve@attacker.example',
      'messages_cancel',
      '//attacker.example/',
    ]) {
      await page.goto(`${board.origin}/docs?key=svc_test_x&message_id=msg_1#${link}`)
      await page.reload()
      await page.locator('main h1').first().waitFor()
      await page.waitForLoadState('networkidle')
      expect(await page.locator('input[value*="attacker"], input[value*="msg_1"]').count()).toBe(0)
    }
    expect(calls).toEqual([])
  })

  journey('sends no cookie, also while the reader is signed in', async () => {
    const page = await board.open('/')
    await page.goto(`${board.origin}/docs#domains_list`)
    await giveKey(page, board.server.keys.test)
    const request = page.waitForRequest('**/v1/domains')
    await page.getByRole('button', { name: 'Send' }).click()
    const headers = await (await request).allHeaders()
    expect([headers.cookie, headers.authorization]).toEqual([undefined, `Bearer ${board.server.keys.test}`])
    await tryIt(page).getByText('200', { exact: true }).waitFor()
  })
})

test('the reference loads at most 120 kB compressed with font and document', async () => {
  const all = await manualFiles(await packedManual())
  const files = all.filter(({ name }) => name === 'docs.html' || /^assets\/(?:shell|operations)-/.test(name))
  expect(files.map(({ name }) => name.replace(/-\w+\./, '.')).toSorted()).toEqual(
    ['assets/operations.js', 'assets/shell.css', 'assets/shell.js', 'docs.html'].toSorted(),
  )
  const [latin] = [...(await fontFiles({ isForRelease: true })).values()]
  const { openApiDocument } = await import('../../scripts/openapi-document.ts')
  const document = JSON.stringify(await openApiDocument())
  const sizes = [...files.map(({ br }) => br.length), latin!.length, brotliCompressSync(document, QUICKLY).length]
  const loaded = sizes.reduce((sum, each) => sum + each, 0)
  expect([loaded, loaded < 120_000]).toEqual([loaded, true])
})

/** At most as small as the server makes it. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
