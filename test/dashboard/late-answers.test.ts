import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { until } from '../support/patience.ts'
import { DOMAIN, type Json } from '../support/server.ts'
import { editor, write } from './code-editor.ts'
import { describeJourneys, settled } from './setup.ts'

/** What the user does while a request is under way stays: the server answers late, or in another order. */

/** Rows of a page of messages. */
const LIMIT = 50

describeJourneys(({ board, server, journey, heading, press }) => {
  /** Holds requests; `asked` waits for the first one. */
  const hold = async (page: Page, url: string | RegExp, method = 'GET') => {
    const held = Promise.withResolvers<void>()
    const urls: string[] = []
    await page.route(url, async (route) => {
      if (route.request().method() !== method) return route.fallback()
      urls.push(route.request().url())
      await held.promise
      await route.continue().catch(() => {}) // the page no longer wants it
    })
    const asked = () => until(`${method} ${url}`, () => urls.length > 0)
    return { asked, urls, release: held.resolve }
  }
  const post = async (path: string, body: Json) => {
    const answer = await server().ask('POST', path, body)
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const sendLater = (count: number) => {
    const mail = (n: number) => ({
      from: `hello@${DOMAIN}`,
      to: `customer.${n}@customer.example`,
      subject: `Order ${n}`,
      text: '.',
      scheduled_at: new Date(server().clock.now() + 86_400_000),
    })
    return post('/v1/messages/batch', { messages: Array.from({ length: count }, (_, n) => mail(n)) })
  }
  const rows = (page: Page) => page.locator('main [data-row]:not(.old *)')

  journey('turns one page when Older is pressed twice', async () => {
    await sendLater(LIMIT + 2)
    const page = await board().open('/messages', { expected: /INCOMPLETE_CHUNKED/ })
    await rows(page).first().waitFor()
    const next = await hold(page, '**/v1/messages?*cursor=*')
    const older = page.getByRole('button', { name: /^Older/ })
    await older.click()
    await next.asked()
    await older.click()
    next.release()
    await until('the second page', async () => (await rows(page).count()) === 2)
    await press(page, '← Newer')
    expect(page.url()).not.toContain('page=')
  })

  journey('leaves the focus in the search when the list arrives', async () => {
    const page = await board().open('/messages')
    await page.getByRole('link', { name: 'Order 7', exact: true }).click()
    await heading(page, 'Order 7')
    const list = await hold(page, '**/v1/messages?*')
    await page.keyboard.press('Escape')
    await heading(page, 'Messages')
    await list.asked()
    await page.keyboard.type('/ord')
    list.release()
    await rows(page).first().waitFor()
    await page.keyboard.type('er 7')
    expect(await page.getByRole('searchbox').inputValue()).toBe('order 7')
  })

  journey('waits for an answer that takes longer than the time between two requests', async () => {
    const page = await board().open('/account')
    await page.clock.install({ time: server().clock.now() })
    const queues = await hold(page, '**/v1/queues')
    await page.goto(`${board().origin}/dashboard/health`)
    await queues.asked()
    await page.clock.runFor(11_000)
    expect(queues.urls).toHaveLength(1)
    queues.release()
    await page.getByText(/^(In the queue: |The queue is empty)/).waitFor()
    await page.clock.runFor(5_000)
    await until('the next request', async () => queues.urls.length === 2)
  })

  journey('keeps a dialog open until what it saves is saved', async () => {
    const page = await board().open('/api-keys')
    await settled(page)
    await page
      .getByRole('button', { name: /^Actions of / })
      .first()
      .click()
    await press(page, 'Edit')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Renamed')
    const saving = await hold(page, '**/v1/api-keys/*', 'PATCH')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await saving.asked()
    for (const _ of [1, 2]) await page.keyboard.press('Escape') // a browser itself closes a dialog at the second one
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await dialog.isVisible()).toBe(true)
    saving.release()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Renamed/ }).waitFor()
  })

  journey('moves no route by the numbers of the order before', async () => {
    const action = { type: 'store' }
    for (const name of ['First', 'Second', 'Third'])
      await post('/v1/inbound-routes', {
        name,
        match: { type: 'address', value: `${name.toLowerCase()}@${DOMAIN}` },
        action,
      })
    const page = await board().open('/inbound?tab=routes')
    const handles = page.getByRole('button', { name: /^Position of / })
    const order = () => handles.evaluateAll((all) => all.map((each) => each.ariaLabel?.split(/[ :]/)[2]))
    await handles.first().waitFor()
    const before = await order()
    const moves: string[] = []
    page.on('request', (request) => request.method() === 'PATCH' && moves.push(request.url()))
    const list = await hold(page, '**/v1/inbound-routes?*')
    await page.getByRole('textbox', { name: 'Address' }).fill('first@')
    await handles.first().press('ArrowDown')
    await list.asked()
    const { length } = moves
    await handles.nth(1).press('ArrowDown')
    list.release()
    await until('the new order', async () => (await order())[0] === before[1])
    expect(moves).toHaveLength(length)
    expect(await order()).toEqual([before[1], before[0], before[2]])
    expect(await page.getByRole('textbox', { name: 'Address' }).inputValue()).toBe('first@')
  })

  journey('opens no question and no record over the page that the user has gone to', async () => {
    const page = await board().open('/messages?q=Order')
    await page.getByRole('link', { name: 'Order 7', exact: true }).click()
    await heading(page, 'Order 7')
    const suppressions = await hold(page, '**/v1/suppressions?*')
    await page.keyboard.press('r')
    await suppressions.asked()
    await page.keyboard.press(']')
    await heading(page, 'Order 6')
    const answered = page.waitForResponse('**/v1/suppressions?*')
    suppressions.release()
    await (await answered).finished()
    await page.evaluate(() => new Promise(requestAnimationFrame))
    expect(await page.getByRole('dialog').count()).toBe(0)

    await page.keyboard.press('r')
    await page.getByRole('dialog', { name: 'Resend this message?' }).waitFor()
    await page.goBack()
    await heading(page, 'Messages')
    expect(await page.getByRole('dialog').count()).toBe(0)

    await page.keyboard.type('gd')
    await heading(page, 'Domains')
    await press(page, 'Add domain')
    const adding = await hold(page, '**/v1/domains', 'POST')
    await page.getByLabel('Domain', { exact: true }).fill('late.example')
    await page.keyboard.press('Enter')
    await adding.asked()
    await page.goBack()
    await page.goBack()
    await heading(page, 'Messages')
    const added = page.waitForResponse('**/v1/domains')
    adding.release()
    await (await added).finished()
    await page.evaluate(() => new Promise(requestAnimationFrame))
    await heading(page, 'Messages')
  })

  journey('exports the messages of one organization, also when the user selects another meanwhile', async () => {
    await sendLater(60)
    const createdAt = server().clock.now() + 1 // the oldest organization stays the selected one
    const mintId = createMintId({ now: () => createdAt, sleep: async () => {} }, systemRandom)
    const other = { id: mintId('org'), name: 'Second', plan: 'free', createdAt }
    await server().store().organizations.create(other)
    const page = await board().open('/messages')
    const first = await hold(page, '**/v1/messages?*limit=100*')
    await press(page, 'Export')
    await press(page, 'Export JSON')
    await first.asked()
    await page.getByRole('combobox', { name: 'Organization' }).selectOption('Second')
    await page.getByText('No messages yet').waitFor()
    first.release()
    await page.getByText(`${LIMIT + 62} messages exported`).waitFor()
  })

  journey('imports the file that the preview was of', async () => {
    const page = await board().open('/suppressions')
    await press(page, 'Import')
    const dialog = page.getByRole('dialog')
    const choose = (csv: string) =>
      dialog
        .getByLabel('File')
        .setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer: Buffer.from(`email\n${csv}`) })
    await choose('one@customer.example\ntwo@customer.example\n')
    const preview = await hold(page, '**/v1/suppressions/import', 'POST')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await preview.asked()
    await choose('three@customer.example\n')
    preview.release()
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('Preview: 1 address to import').waitFor()
    await dialog.getByRole('button', { name: 'Import 1 address' }).click()
    await dialog.getByText('Imported 1 address').waitFor()
  })

  journey('keeps what the user writes while a template is created', async () => {
    const page = await board().open('/templates/new?start=blank')
    await page.getByLabel('Name', { exact: true }).fill('Late')
    await page.getByLabel('Subject').fill('Hello')
    await page.getByRole('tab', { name: 'Plain text' }).first().click()
    await write(page, 'Plain text', 'Hello')
    const creating = await hold(page, '**/v1/templates', 'POST')
    await page.keyboard.press('Control+s')
    await creating.asked()
    await page.getByLabel('Subject').fill('Hello again')
    creating.release()
    await page.waitForURL(/templates\/tpl_/)
    await heading(page, 'Late')
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hello again')
    await press(page, 'Save')
    await page.getByText('Version 2', { exact: true }).waitFor()
  })

  journey('stays with the texts that the user turns to while others are refused', async () => {
    const page = await board().open('/templates/new?start=blank', { expected: /status of 400/ })
    await page.getByLabel('Name', { exact: true }).fill('Wrong')
    await page.getByLabel('Subject').fill('Hello')
    await press(page, 'Add locale')
    await page.getByLabel('Language tag').fill('de')
    await page.keyboard.press('Enter')
    await page.getByText('For messages with the locale de or one of its regions.').waitFor()
    await page.getByLabel('Subject').fill('Hallo {% if %}')
    const creating = await hold(page, '**/v1/templates', 'POST')
    await press(page, 'Create template')
    await creating.asked()
    const locale = page.getByRole('combobox', { name: 'Locale' })
    await locale.selectOption('')
    creating.release()
    await locale.locator('option', { hasText: '(error)' }).waitFor({ state: 'attached' })
    await settled(page)
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hello')
  })

  journey('keeps what the user types as soon as the editor of a template appears', async () => {
    const page = await board().open('/templates', { isFresh: true })
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        const shown = document.querySelector<HTMLElement>('.cm-content')
        if (shown === null) return
        observer.disconnect()
        // The editor is drawn; what follows its drawing comes with the next frame.
        queueMicrotask(() => {
          shown.focus()
          for (const key of [{ key: 'a', ctrlKey: true }, { key: 'Delete' }])
            shown.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true }))
          setTimeout(() => document.execCommand('insertText', false, 'Dear reader'))
        })
      }).observe(document, { childList: true, subtree: true })
    })
    await page.getByRole('link', { name: 'Late', exact: true }).click()
    await heading(page, 'Late')
    await page.reload()
    await page.getByText('Dear reader').first().waitFor()
    await press(page, 'Save')
    await page.getByText('Version 3', { exact: true }).waitFor()
    expect(await editor(page, 'Plain text').textContent()).toBe('Dear reader')
  })

  journey('loads the version that was chosen last', async () => {
    const page = await board().open('/templates')
    await page.getByRole('link', { name: 'Late', exact: true }).click()
    await page.getByRole('tab', { name: 'Versions' }).click()
    const slow = await hold(page, '**/v1/templates/*?version=1')
    await press(page, 'Load version 1')
    await slow.asked()
    await press(page, 'Load version 2')
    await page.getByText('Version 2 loaded').waitFor()
    const answered = page.waitForResponse('**/v1/templates/*?version=1')
    slow.release()
    await (await answered).finished()
    await page.evaluate(() => new Promise(requestAnimationFrame))
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hello again')
  })

  journey('keeps the sender that the user has typed when the domains arrive', async () => {
    await post('/v1/domains', { name: 'second.example' })
    const page = await board().open('/templates')
    await page.getByRole('link', { name: 'Late', exact: true }).click()
    const domains = await hold(page, '**/v1/domains?*')
    await press(page, 'Send test')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('From').fill('shop@')
    domains.release()
    await dialog.getByLabel('Domain').waitFor()
    expect(await dialog.getByLabel('From').inputValue()).toBe('shop@')
  })

  journey('resends the selected messages once', async () => {
    const page = await board().open('/messages?q=Order+7')
    await page.getByRole('checkbox', { name: 'Select Order 7 to customer.7@customer.example' }).first().click()
    const resending = await hold(page, '**/v1/messages/*/resend', 'POST')
    await press(page, 'Resend')
    await press(page, 'Resend 1 message')
    await resending.asked()
    await press(page, 'Resend')
    expect(await page.getByRole('dialog').count()).toBe(0)
    resending.release()
    await page.getByText('1 message resent').waitFor()
  })

  journey(
    'takes no letter for a shortcut while the palette loads, and begins another mode with its first page',
    async () => {
      const page = await board().open('/messages')
      await page.getByRole('button', { name: /^Older/ }).click()
      await page.waitForURL(/page=/)
      const code = await hold(page, /\.js$/)
      await page.keyboard.press('Control+k')
      await code.asked()
      await page.keyboard.type('c') // would write a new message
      code.release()
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('test mode')
      await page.keyboard.press('Enter')
      await page.getByText('No messages yet').waitFor()
      expect(page.url()).toEndWith('/messages')
    },
  )

  journey('moves the choice in the palette by an arrow key right after a letter', async () => {
    const page = await board().open('/messages')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search and commands' })
    await field.evaluate(async (input: HTMLInputElement) => {
      input.value = 's'
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      await new Promise(queueMicrotask) // the letter is drawn; what follows its drawing comes with the next frame
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }))
    })
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    expect(await field.getAttribute('aria-activedescendant')).toBe('palette-1')
  })

  journey('resends a message once', async () => {
    const page = await board().open('/messages?q=Order+9')
    await page.getByRole('link', { name: 'Order 9', exact: true }).first().click()
    await heading(page, 'Order 9')
    const suppressions = await hold(page, '**/v1/suppressions?*') // before the question
    suppressions.release()
    const resending = await hold(page, '**/v1/messages/*/resend', 'POST')
    await press(page, 'Resend')
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
    await resending.asked()
    await press(page, 'Resend')
    resending.release()
    await page.getByText('Resent as a new message').waitFor()
    expect(suppressions.urls).toHaveLength(1)
  })

  journey('asks again for the part of the overview that failed', async () => {
    const page = await board().open('/account', { expected: /500/ })
    await page.route(/group_by=domain/, (route) => route.fulfill({ status: 500, json: {} }))
    await page.goto(`${board().origin}/dashboard/`)
    const notice = page.getByText('The server returned 500.')
    await notice.waitFor()
    await page.unroute(/group_by=domain/)
    const next = page.waitForRequest(/v1\/stats/)
    await press(page, 'Try again')
    expect((await next).url()).toContain('group_by=domain')
    await notice.waitFor({ state: 'detached' })
  })

  journey('does not say that nothing is wrong without the alerts', async () => {
    const page = await board().open('/account', { expected: /500/ })
    await page.route('**/v1/alerts', (route) => route.fulfill({ status: 500, json: {} }))
    await page.goto(`${board().origin}/dashboard/health`)
    await page.getByText('The server returned 500.').waitFor()
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    expect(await page.locator('#problems').count()).toBe(0)
    await page.unroute('**/v1/alerts')
    await press(page, 'Try again')
    await page.locator('#problems').waitFor()
  })

  journey('keeps a new session when an answer to the last one arrives', async () => {
    const page = await board().open('/account', { expected: /401/ })
    const password = 'correct horse battery'
    await page.getByLabel('New password').fill(password)
    await press(page, 'Set password')
    await page.getByRole('heading', { name: 'Change password' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.type('gm')
    await heading(page, 'Messages')
    const refused = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route('**/v1/messages?*limit=100*', async (route) => {
      asked.resolve()
      await refused.promise
      await route.fulfill({ status: 401, json: { error: { code: 'unauthorized', message: 'The session has ended' } } })
    })
    await press(page, 'Export')
    await press(page, 'Export JSON')
    await asked.promise
    await page.context().clearCookies()
    // Any request shows the end, also one of the page's own, which may have come before this one.
    await page.getByRole('combobox', { name: 'Status' }).evaluateAll(([select]) => {
      if (select instanceof HTMLSelectElement) select.value = 'scheduled'
      select?.dispatchEvent(new Event('change', { bubbles: true }))
    })
    await page.getByText('Your session ended.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(password)
    await press(page, 'Sign in')
    await heading(page, 'Messages')
    refused.resolve()
    await page.getByText('The session has ended.').waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Messages')
  })

  journey('keeps the first message of the sandbox inbox open when another arrives', async () => {
    const sandbox = { authorization: `Bearer ${server().keys.test}` }
    await server().send({ to: 'click@customer.example', subject: 'Being read' }, sandbox)
    const page = await board().open('/sandbox')
    await page.getByRole('heading', { level: 2, name: 'Being read' }).waitFor()
    await server().send({ to: 'click@customer.example', subject: 'Just now' }, sandbox)
    await page.getByRole('list', { name: 'Messages' }).getByText('Just now').waitFor()
    await page.getByRole('heading', { level: 2, name: 'Being read' }).waitFor()
  })

  journey('shows what came while the tab was hidden, and asks for no event of that time', async () => {
    const page = await board().open('/messages')
    const resumed: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().includes('/events/stream')) resumed.push(request.headers()['last-event-id'])
    })
    const setHidden = (isHidden: boolean) =>
      page.evaluate((is) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: is })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    await page.getByText('Updating live').waitFor()
    await setHidden(true)
    await page.getByText('Updating…').waitFor()
    await server().send({ to: 'ann@one.remote.example', subject: 'While hidden' })
    await setHidden(false)
    await page.getByRole('link', { name: 'While hidden' }).waitFor()
    expect(resumed).toEqual([undefined])
  })
})
