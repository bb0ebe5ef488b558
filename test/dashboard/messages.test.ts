import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createTransport } from 'nodemailer'
import { clientOptions } from '../smtp-submission/setup.ts'
import { until } from '../support/patience.ts'
import { DOMAIN, type TestServer } from '../support/server.ts'
import {
  axeFaults,
  axeFaultsOfThemes,
  chooseTheme,
  describeWithBrowser,
  overflow,
  screenshot,
  startDashboard,
  type TestDashboard,
} from './setup.ts'

/** Overview, messages, one message with its analysis, and the sandbox inbox. */

let ids: Record<'delivered' | 'bounced' | 'deferred' | 'nasty' | 'sandbox', string>

const NASTY = `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=https://evil.example/">
  <base href="https://evil.example/"><link rel="stylesheet" href="https://evil.example/a.css">
  <style>@import url(https://evil.example/b.css); body { background: url(https://evil.example/c.png) } h2 { color: rgb(1, 2, 3) }</style></head>
  <body onload="parent.stolen = 1"><h2>Your order</h2><script>parent.stolen = 1</script>
  <img src="https://evil.example/pixel.png" onerror="parent.stolen = 1" alt="a pixel"><img src="cid:logo" alt="the logo">
  <p style="background: url('https://evil.example/d.png'); color: rgb(4, 5, 6)">Thanks!</p>
  <a href="javascript:parent.stolen = 1">one</a> <a href="https://shop.example/order">two</a>
  <form action="https://evil.example/"><input name="a"><button>Go</button></form>
  <p title=">" onclick="parent.stolen = 1" STYLE=background:url(https://evil.example/e.png)>three</p>
  <noscript><em>four</em><img src="https://evil.example/f.png" alt=""></noscript>
  <math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=https://evil.example/g.png&gt;"></math>
  <svg><a xlink:href="javascript:parent.stolen=1"><text y="20">five</text></a><image href="https://evil.example/h.png"/>
  <use href="https://evil.example/i.svg#x"/></svg><template><img src="https://evil.example/j.png"></template>
  <a href="JaVa&#x53;cript:parent.stolen=1" ping="https://evil.example/k" target="_top">six</a>
  <input type="image" src="https://evil.example/l.png"><table background="https://evil.example/m.png"><tr><td>x</table>
  <iframe src="https://evil.example/"></iframe><svg onload="parent.stolen = 1"></svg></body></html>`
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const HTML = '<p>News of the week</p><p><a href="https://shop.example/unsubscribe">Unsubscribe</a></p>'
const SMTP = { inbound: { listen: 'off' }, submission: { listen: '127.0.0.1:0' } }

async function seed(server: TestServer): Promise<void> {
  const send = async (change: object) => (await server.send(change as Record<string, unknown>)).body.id as string
  const [delivered, bounced, deferred, nasty] = [
    await send({
      to: ['Ann <ann@one.remote.example>', 'bob@one.remote.example'],
      subject: 'Your receipt',
      tags: ['receipt'],
    }),
    await send({ to: 'nobody@one.remote.example', subject: 'Welcome aboard' }),
    await send({ to: 'later@two.remote.example', subject: 'Your sign-in code' }),
    await send({
      to: 'eve@one.remote.example',
      subject: 'Your order <b>1001</b>',
      html: NASTY,
      attachments: [
        { filename: 'logo.png', content: PIXEL, content_type: 'image/png', content_id: 'logo' },
        { filename: 'terms.txt', content: Buffer.from('terms').toString('base64'), content_type: 'text/plain' },
      ],
    }),
  ]
  for (const id of [delivered, bounced, nasty]) await server.ended(id)
  await server.tried(deferred, 1)
  const sandbox = { authorization: `Bearer ${server.keys.test}` }
  const { body } = await server.send({ to: 'click@customer.example', subject: 'Sandbox hello' }, sandbox)
  for (const name of ['bounce', 'defer', 'complain']) {
    await server.send({ to: `${name}@customer.example`, subject: `Sandbox ${name}` }, sandbox)
  }
  ids = { delivered, bounced, deferred, nasty, sandbox: body.id }
  await until('an alert', async () => {
    await server.clock.advance(1_000)
    return (await server.read('/v1/quality')).data[0].alerts.length > 0
  })
  await until('webhook deliveries', () => server.receiver.requests.length > 5)
}

describeWithBrowser('messages', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(seed, { quality: { min_sent: 3 }, smtp: SMTP })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  test('the overview shows statistics and what needs somebody, and its chart as a table', async () => {
    const page = await board.open('/')
    await page.locator('.plot canvas').last().waitFor()
    expect(await page.getByRole('region', { name: 'Needs you' }).textContent()).toContain(
      'hard bounces 25.00% in 24 hours, limit 5.00%',
    )
    expect(await page.getByText('Bounced').first().isVisible()).toBe(true)
    expect(await axeFaultsOfThemes(page)).toEqual([])
    await screenshot(page, 'overview')
    await page.setViewportSize({ width: 360, height: 740 })
    await page.reload()
    await page.getByRole('button', { name: 'View as table' }).last().click()
    const table = page.getByRole('table', { name: 'Recipients over time' })
    await table.waitFor()
    expect(await table.getByRole('row').last().textContent()).toMatch(/\d/)
    await page.getByRole('table', { name: 'Recipients by domain' }).getByText(DOMAIN).waitFor()
    expect(await overflow(page)).toEqual([])
    await page.getByRole('button', { name: 'Stream', exact: true }).click()
    const groups = page.getByRole('table', { name: 'Recipients by stream' })
    await groups.waitFor()
    expect(await groups.getByRole('row').last().textContent()).toMatch(/^transactional/)
    expect(await overflow(page)).toEqual([])
    await screenshot(page, 'overview-360')
  })

  test('are searched, filtered and opened by keyboard', async () => {
    const page = await board.open('/messages')
    await page.getByRole('link', { name: 'Your receipt' }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(4)
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'messages-light')
    await chooseTheme(page, 'dark')
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('/')
    await page.keyboard.type('receipt')
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' })
    expect(page.url()).toContain('q=receipt')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('bounced')
    await page.getByRole('link', { name: 'Welcome aboard' }).waitFor()
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' })
    await page.locator('main').focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Welcome aboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
    expect(page.url()).toEndWith('?status=bounced')
    await page.locator('tbody a:focus').waitFor()
    expect(await page.locator('tbody a:focus').textContent()).toBe('Welcome aboard')
  })

  test('appear as they are sent, and export as CSV and JSON with the filters', async () => {
    const page = await board.open('/messages?tag=fresh')
    await page.getByText('No messages match').waitFor()
    await page.locator('.head .chip', { hasText: 'Live' }).waitFor()
    await board.server.send({ subject: '=1+1', tags: ['fresh'] })
    await page.getByRole('link', { name: '=1+1' }).waitFor()
    const saved = async (button: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page
          .getByRole('button', { name: 'Export', exact: true })
          .click()
          .then(() => page.getByRole('button', { name: button, exact: true }).click()),
      ])
      return readFileSync(await download.path(), 'utf8')
    }
    const csv = (await saved('Export CSV')).trimEnd().split('\r\n')
    expect(csv).toHaveLength(2)
    expect(csv[1]).toContain(",'=1+1,")
    expect(JSON.parse(await saved('Export JSON'))).toMatchObject([{ subject: '=1+1' }])
  })

  test('that failed show one cause, one reply, the SMTP transcript and the next attempt', async () => {
    const page = await board.open(`/messages/${ids.bounced}`)
    const told = page.getByRole('region', { name: 'What happened to nobody@one.remote.example' })
    await told.getByText("says this mailbox doesn't exist.").waitFor()
    await told.getByText('We stopped sending to nobody@one.remote.example from all your domains').waitFor()
    await page.locator('.head').getByText('nobody@one.remote.example · Mailbox does not exist').waitFor()
    await page.getByRole('link', { name: 'View suppression' }).waitFor()
    expect(await page.getByText('550 5.1.1').filter({ visible: true }).count()).toBe(1)
    await page.getByText('SMTP transcript').first().click()
    await page.getByText('RCPT TO:<nobody@one.remote.example>').waitFor()
    await told.getByRole('button', { name: 'Copy for support' }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain(`Reply: 550 5.1.1 no such user here`)
    expect(copied).toContain(`ID: ${ids.bounced}`)
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'message-bounced')
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('Suppressed recipients do not get it: nobody@one.remote.example.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    const suppressed = async () =>
      (await board.server.read('/v1/suppressions?email=nobody@one.remote.example')).data.map(
        ({ reason }: { reason: string }) => reason,
      )
    const remove = async () => {
      await page.getByRole('button', { name: 'Remove suppression…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }).click()
      await told.getByText('The address is no longer suppressed.').waitFor()
    }
    await remove()
    expect(await suppressed()).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'View suppression' }).waitFor()
    expect(await suppressed()).toEqual(['hard_bounce'])
    await remove()
    const later = await board.open(`/messages/${ids.deferred}`, { theme: 'dark' })
    await later.getByText(/^The next attempt, number 2, is due at .+ \(in .+\)\.$/).waitFor()
    await board.server.toNextAttempt(ids.deferred)
    await board.server.tried(ids.deferred, 2)
    await later
      .getByRole('list', { name: /^Timeline/ })
      .getByText('The same reply')
      .waitFor()
    expect(await axeFaults(later)).toEqual([])
    await screenshot(later, 'message-deferred-dark')
    await later.getByRole('button', { name: 'Cancel' }).click()
    await later.getByRole('dialog').getByRole('button', { name: 'Cancel message' }).click()
    await later.locator('.head .chip', { hasText: 'cancelled' }).waitFor()
  })

  test('are selected by key and by range, with the actions that apply at the bottom of the window', async () => {
    const { body } = await board.server.send({ subject: 'Later', scheduled_at: '2026-11-25T10:00:00Z' })
    const page = await board.open('/messages', { height: 500 })
    await page.getByRole('link', { name: 'Later' }).waitFor()
    const bar = page.getByRole('toolbar', { name: 'Selected rows' })
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await bar.getByText('1 selected').waitFor()
    expect(await bar.getByRole('button', { name: 'Cancel sending…' }).count()).toBe(0)
    const boxes = page.getByRole('checkbox', { name: /^Select (?!all)/ })
    await boxes.first().click({ modifiers: ['Shift'] })
    await boxes.nth(3).click({ modifiers: ['Shift'] })
    await bar.getByText('4 selected').waitFor()
    const { y, height } = (await bar.boundingBox())!
    expect([y > 400, y + height < 500]).toEqual([true, true])
    expect(await axeFaults(page)).toEqual([])
    await bar.getByRole('button', { name: 'Cancel sending…' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Cancel \d/ })
      .click()
    await bar.waitFor({ state: 'detached' })
    expect((await board.server.read(`/v1/messages/${body.id}`)).status).toBe('cancelled')
  })

  test('are followed to the next one, resent and written by key', async () => {
    const page = await board.open('/messages')
    await page.getByRole('link', { name: 'Your order <b>1001</b>' }).waitFor()
    const subjects = (await page.locator('td.sub').allTextContents()).slice(0, 2)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: subjects[0] }).waitFor()
    await page.keyboard.press(']')
    await page.getByRole('heading', { level: 1, name: subjects[1], exact: true }).waitFor()
    await page.keyboard.press('[')
    await page.getByRole('heading', { level: 1, name: subjects[0], exact: true }).waitFor()
    await page.keyboard.press('r')
    await page.getByRole('dialog', { name: 'Resend this message?' }).waitFor()
    await page.keyboard.press('Escape')
    await page.goBack() // the neighbours have added nothing to the history
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog', { name: 'New message' }).getByLabel('To', { exact: true }).waitFor()
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'to')
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('')
  })

  // threat: active-content-in-mail
  test('are shown without running, loading or following anything in their content', async () => {
    const page = await board.open(`/messages/${ids.nasty}?tab=content`)
    const mail = page.frameLocator('iframe.mail')
    await mail.getByRole('heading', { name: 'Your order' }).waitFor()
    const colours = await mail.locator('h2, p').evaluateAll((all) => all.map((each) => getComputedStyle(each).color))
    expect(colours.slice(0, 2)).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)'])
    const width = await mail.getByAltText('the logo').evaluate(async (image: HTMLImageElement) => {
      await image.decode()
      return image.naturalWidth
    })
    expect(width).toBe(1)
    expect(await mail.getByAltText('a pixel').getAttribute('src')).toBeNull()
    await mail.getByRole('link', { name: 'two' }).click()
    await page.getByText('Link target: https://shop.example/order').waitFor()
    for (const text of ['one', 'three', 'four', 'six']) await mail.getByText(text, { exact: true }).click()
    expect(await page.evaluate(() => 'stolen' in window)).toBe(false)
    expect(page.frames().map((frame) => new URL(frame.url()).pathname)).toEqual([
      `/dashboard/messages/${ids.nasty}`,
      '/dashboard/preview',
    ])
    await page.getByRole('button', { name: '390 px' }).click()
    expect((await page.locator('iframe.mail').boundingBox())!.width).toBe(390)
    await screenshot(page, 'message-mail')
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('tab', { name: 'Preview' }).focus()
    for (const [tab, text] of [
      ['Text', 'Thanks!'],
      ['HTML source', 'parent.stolen'],
      ['Headers', 'DKIM-Signature'],
      ['Raw', 'Content-Type: multipart'],
    ] as const) {
      await page.keyboard.press('ArrowRight')
      await page.getByRole('tab', { name: tab, exact: true, selected: true }).waitFor()
      await page.getByRole('tabpanel').last().getByText(text).first().waitFor()
    }
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'terms.txt' }).click(),
    ])
    expect([download.suggestedFilename(), readFileSync(await download.path(), 'utf8')]).toEqual(['terms.txt', 'terms'])
  })

  test('are analysed, list their webhook deliveries, and are resent', async () => {
    const page = await board.open(`/messages/${ids.delivered}?tab=analysis`)
    await page.getByRole('heading', { name: 'of 100' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'message-analysis')
    await page.getByRole('tab', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { name: 'message.delivered' }).first().waitFor()
    await page.getByText('Attempt 1: 200').first().waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'message-webhooks')
    await page.getByRole('button', { name: 'Resend' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resend this message?' })
    expect(await dialog.textContent()).toContain('2 recipients')
    await dialog.getByRole('button', { name: 'Resend' }).click()
    await page.waitForURL((url) => !url.pathname.includes(ids.delivered))
    await page.getByRole('heading', { level: 1, name: 'Your receipt' }).waitFor()
  })

  test('of test keys appear in the sandbox inbox as they are sent', async () => {
    const page = await board.open('/sandbox')
    const list = page.getByRole('list', { name: 'Messages' })
    await list.getByText('Sandbox hello').click()
    await page.frameLocator('iframe.mail').getByText('Hi Ann').waitFor()
    const sandbox = { authorization: `Bearer ${board.server.keys.test}` }
    await board.server.send({ to: 'open@customer.example', subject: 'Just now' }, sandbox)
    await list.getByText('Just now').waitFor()
    await page.getByRole('heading', { name: 'Sandbox hello' }).waitFor() // a new message does not replace the open one
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'sandbox-light')
    await list.getByRole('link').first().focus()
    await page.getByRole('heading', { name: 'Just now' }).waitFor()
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: 'Sandbox complain' }).waitFor()
    await page.getByRole('link', { name: 'View details' }).click()
    await page.getByText('Marked as spam').waitFor()
    const narrow = await board.open('/sandbox', { width: 360, height: 740, theme: 'dark' })
    await narrow.frameLocator('iframe.mail').getByText('Hi Ann').waitFor()
    expect(await overflow(narrow)).toEqual([])
    expect(await axeFaults(narrow)).toEqual([])
    await screenshot(narrow, 'sandbox-360-dark')
  })

  test('fit a phone screen', async () => {
    const page = await board.open('/messages', { width: 360, height: 740 })
    await page.getByRole('link', { name: 'Welcome aboard' }).waitFor()
    expect(await overflow(page)).toEqual([])
    await screenshot(page, 'messages-360')
    const subject = 'ההזמנה שלך NW-20517 התקבלה ותישלח מחר בבוקר'
    await board.server.send({ subject })
    const isBeginningVisible = await page.getByRole('link', { name: subject }).evaluate((link) => {
      const range = document.createRange()
      range.setStart(link.firstChild!, 0)
      range.setEnd(link.firstChild!, 1)
      const [letter, cell] = [range.getBoundingClientRect(), link.closest('td')!.getBoundingClientRect()]
      return link.scrollWidth > link.clientWidth && letter.left >= cell.left && letter.right <= cell.right
    })
    expect(isBeginningVisible).toBe(true)
    await page.getByRole('link', { name: 'Welcome aboard' }).click()
    await page.getByText('550 5.1.1').first().waitFor()
    await page.getByText('SMTP transcript').click()
    await page.getByText('RCPT TO:<nobody@one.remote.example>').waitFor()
    expect(await overflow(page)).toEqual([])
    await screenshot(page, 'message-360')
  })

  test('show what happened before their page received events', async () => {
    const scheduled_at = new Date(board.server.clock.now() + 3_600_000).toISOString()
    const { body } = await board.server.send({ subject: 'Tomorrow', scheduled_at })
    const page = await board.open('/messages')
    const connects = Promise.withResolvers<void>()
    await page.route('**/v1/events/stream?*', (route) => connects.promise.then(() => route.continue()))
    await page.goto(`${board.origin}/dashboard/messages/${body.id}`)
    await page.locator('.head .chip', { hasText: 'scheduled' }).waitFor()
    await board.server.ask('POST', `/v1/messages/${body.id}/cancel`)
    connects.resolve()
    await page.locator('.head .chip', { hasText: 'cancelled' }).waitFor()
  })

  test('are written from a template, with its sample as the first variables', async () => {
    await board.server.ask('POST', '/v1/templates', {
      name: 'Receipt',
      subject: 'Receipt for {{ name }}',
      text: 'Thank you, {{ name }}.',
      sample: { name: 'Ann' },
    })
    const page = await board.open('/messages?compose=yes')
    const form = page.getByRole('dialog', { name: 'New message' })
    await form.getByLabel('Template').selectOption({ label: 'Receipt' })
    expect(JSON.parse(await form.getByLabel('Variables').inputValue())).toEqual({ name: 'Ann' })
    expect(await form.getByLabel('Subject').count()).toBe(0)
    await form.getByLabel('To', { exact: true }).fill('cleo@one.remote.example')
    await form.getByLabel('Variables').fill('{"name": ')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText('This is not valid JSON.').waitFor()
    await form.getByLabel('Variables').fill('{"name": "Cleo"}')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { level: 1, name: 'Receipt for Cleo' }).waitFor()
  })

  test('of another organization are not found', async () => {
    const page = await board.open('/messages/msg_01m7ykx6js1zy8zpzy8z8cwhzy', { expected: /404/ })
    await page.getByRole('heading', { name: 'Message not found' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
  })

  test('misses a List-Unsubscribe header only of mail without one', async () => {
    const { server } = board
    const send = async (change: object) => (await server.send({ html: HTML, ...change })).body.id as string
    const findings = async (id: string) => {
      const page = await board.open(`/messages/${id}?tab=analysis`)
      await page.getByRole('heading', { name: /^Score/ }).waitFor()
      return page.locator('.findings').textContent()
    }
    expect(await findings(await send({ unsubscribe: false }))).toContain('unsubscribe_header_missing')
    expect(await findings(await send({ unsubscribe: true }))).not.toContain('unsubscribe_header_missing')
    await sendOverSmtp(server)
    const { data } = await server.read('/v1/messages?subject=Over%20SMTP')
    expect(await findings(data[0].id)).not.toContain('unsubscribe_header_missing')
  })

  test('says in its timeline that a recipient was suppressed, and why, and once that it was accepted', async () => {
    const { server } = board
    await server.ask('POST', '/v1/webhooks', { url: server.receiver.url, events: ['message.accepted'] })
    await server.ask('POST', '/v1/suppressions', { email: 'gone@one.remote.example' })
    const { body } = await server.send({ to: 'gone@one.remote.example' })
    const page = await board.open(`/messages/${body.id}`)
    const timeline = page.getByRole('list', { name: 'Timeline of gone@one.remote.example' })
    await timeline.getByText('Suppressed').waitFor()
    expect(await timeline.textContent()).toContain('manual')
    expect(await timeline.getByText('Accepted').count()).toBe(1)
  })
})

async function sendOverSmtp(server: TestServer): Promise<void> {
  const port = Number(server.running().listening.smtpSubmission?.split(':').at(-1))
  const transport = createTransport(clientOptions(port, server.keys.live))
  const headers = { 'List-Unsubscribe': '<https://shop.example/leave>' }
  const mail = { from: `shop@${DOMAIN}`, to: 'ann@one.remote.example', subject: 'Over SMTP', html: HTML, headers }
  await transport.sendMail(mail).finally(() => transport.close())
}
