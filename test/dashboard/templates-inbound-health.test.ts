import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { inboundMessage, PARSED, RAW, storedMail } from '../support/inbound.ts'
import { until } from '../support/patience.ts'
import { DOMAIN, type Json, type TestServer } from '../support/server.ts'
import { write } from './code-editor.ts'
import {
  axeFaults,
  axeFaultsOfThemes,
  describeWithBrowser,
  overflow,
  screenshot,
  settled,
  startDashboard,
  type TestDashboard,
} from './setup.ts'

/** Hostile templates, inbound messages and routes, health. */

const NASTY = `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=https://evil.example/">
  <style>@import url(https://evil.example/b.css); h2 { background: url(https://evil.example/c.png); color: rgb(1, 2, 3) }</style></head>
  <body onload="parent.stolen = 1"><h2>A question</h2><script>parent.stolen = 1</script>
  <img src="https://evil.example/pixel.png" onerror="parent.stolen = 1" alt="a pixel"><img src="x" onerror="parent.stolen = 1">
  <a href="javascript:parent.stolen = 1">one</a> <a href="https://shop.example/order">two</a>
  <form action="https://evil.example/"><input name="a"><button>Go</button></form>
  <iframe src="https://evil.example/"></iframe><svg onload="parent.stolen = 1"><image href="https://evil.example/d.png"/></svg></body></html>`

/** One pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>parent.stolen = 1</script></svg>')

/** Warning of the browser about a form that it does not submit. */
const NO_FORM = /^logged Blocked form submission to ''/

/** Two messages for a webhook route; the second is hostile. */
async function seed(server: TestServer): Promise<void> {
  const mintId = createMintId(server.clock, systemRandom)
  const { body: route } = await server.ask('POST', '/v1/inbound-routes', {
    name: 'Support',
    match: { type: 'address', value: `support@${DOMAIN}` },
    action: { type: 'webhook', config: { url: `${server.receiver.url}-in` } },
  })
  const { data } = await server.read('/v1/domains')
  const take = async (subject: string, htmlBody: string) => {
    const message = inboundMessage({
      id: mintId('inb'),
      organizationId: server.organizationId,
      domainId: data[0].id,
      routeId: route.id,
      receivedAt: server.clock.now(),
      to: [`support@${DOMAIN}`],
      subject,
      verdicts: { spf: 'pass', dkim: 'none', dmarc: 'fail', arc: 'none' },
    })
    const content = storedMail({ ...PARSED, htmlBody }, Buffer.concat([Buffer.from(RAW), Buffer.from([0xe4, 0x0a])]))
    await server.store().inbound.accept({ ...content, taken: [{ message, deliveryId: mintId('whd'), forward: null }] })
    await server.clock.advance(1_000)
  }
  server.receiver.script({ status: 500, body: 'out of order <b>here</b>' })
  await take('An invoice', '<p>Here it is.</p>')
  await take('A question <b>', NASTY)
}

describeWithBrowser('the dashboard', () => {
  let board: TestDashboard
  let server: TestServer
  beforeAll(async () => {
    board = await startDashboard(seed)
    server = board.server
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const journey = (name: string, work: () => Promise<void>) => test(name, work)

  /** Checks that no script ran, no link opened, and the styles apply. Requests to other hosts fail `close`. */
  const expectHarmless = async (page: Page) => {
    const mail = page.frameLocator('iframe.mail')
    await mail.getByRole('heading', { name: 'A question' }).waitFor()
    expect(await mail.locator('h2').evaluate((each) => getComputedStyle(each).color)).toBe('rgb(1, 2, 3)')
    await mail.getByText('one', { exact: true }).click()
    await mail.getByText('Go', { exact: true }).click()
    await mail.getByRole('link', { name: 'two' }).click()
    await page.getByText('Link target: https://shop.example/order').waitFor()
    expect(await page.evaluate(() => 'stolen' in window)).toBe(false)
    expect(page.frames().map((frame) => new URL(frame.url()).pathname)).toEqual([
      new URL(page.url()).pathname,
      '/dashboard/preview',
    ])
  }

  journey('neither runs nor loads anything in a template', async () => {
    const page = await board.open('/templates/new?start=blank', { expected: NO_FORM })
    await page.getByLabel('Name', { exact: true }).fill('Nasty')
    await write(page, 'HTML', NASTY)
    await expectHarmless(page)
  })

  journey('lists inbound messages, shows them safely, and redelivers them', async () => {
    const page = await board.open('/inbound', { expected: NO_FORM })
    await page.getByRole('row', { name: /An invoice/ }).waitFor()
    await page.getByText('DMARC fail').first().waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'inbound')
    await page.keyboard.press('/')
    await page.keyboard.type(`nobody@${DOMAIN}`)
    await page.getByText('No messages match').waitFor()
    await page.getByRole('searchbox').fill('n@sender.ex')
    await page.getByRole('link', { name: 'A question <b>' }).click()
    await heading(page, 'A question <b>')
    await expectHarmless(page)
    await page.getByText('mx.sender.example [192.0.2.7]').waitFor()
    await page.getByText('invoice.pdf').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'inbound-message')
    await page.getByRole('tab', { name: 'Preview' }).focus()
    for (const [tab, text] of [
      ['Text', 'Hello, here it is.'],
      ['HTML source', 'parent.stolen'],
      ['Headers', 'ann@sender.example'],
      ['Raw', 'Message-ID: <1@sender.example>'],
    ] as const) {
      await page.keyboard.press('ArrowRight')
      await page.getByRole('tab', { name: tab, selected: true }).waitFor()
      await page.getByRole('tabpanel').getByText(text).first().waitFor()
    }
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download .eml')])
    expect(readFileSync(await download.path()).at(-2)).toBe(0xe4)

    await page.getByText('out of order <b>here</b>').first().waitFor()
    server.receiver.script(204)
    const { data } = await server.read('/v1/inbound-messages')
    await until('the delivery to end', async () => {
      await server.clock.advance(3_600_000)
      return (await server.read(`/v1/inbound-messages/${data[0].id}`)).status === 'delivered'
    })
    await page.reload()
    const before = server.receiver.requests.length
    await press(page, 'Redeliver')
    await page.getByText('Delivery queued').waitFor()
    await server.receiver.received(before + 1)
    await page.getByText('Attempt 1: 204').waitFor()
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await overflow(page)).toEqual([])
    await screenshot(page, 'inbound-message-360')
  })

  journey('creates, tests, changes and deletes routes', async () => {
    const page = await board.open('/inbound?tab=routes', { expected: /400/ })
    await page.getByRole('row', { name: /Support/ }).waitFor()
    await press(page, 'Create route')
    const dialog = page.getByRole('dialog', { name: 'Create route' })
    await dialog.getByLabel('Name').fill('Orders')
    await dialog.getByLabel('Recipients').selectOption('pattern')
    await dialog.getByLabel('Pattern').fill('order-*@elsewhere.example')
    await dialog.getByLabel('URL').fill(`${server.receiver.url}-orders`)
    await dialog.getByLabel('Headers').fill('X-Api-Key: key of the gateway')
    expect(await axeFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create route' }).click()
    await dialog.locator('.fault').waitFor()
    expect(await dialog.getByLabel('Pattern').getAttribute('aria-invalid')).toBe('true')
    await dialog.getByLabel('Pattern').fill(`order-*@${DOMAIN}`)
    await dialog.getByRole('button', { name: 'Create route' }).click()
    const secret = page.getByRole('dialog', { name: 'Signing secret' })
    expect(await secret.locator('[data-value]').textContent()).toMatch(/^whsec_/)
    await press(page, 'Done')

    await press(page, 'Create route')
    await dialog.getByLabel('Name').fill('The rest')
    await dialog.getByLabel('Recipients').selectOption('catch_all')
    await dialog.getByLabel('Action').selectOption('forward')
    await dialog.getByLabel('To', { exact: true }).fill('ann@one.remote.example\nbob@one.remote.example')
    await dialog.getByLabel('Priority').fill('-5')
    await dialog.getByRole('button', { name: 'Create route' }).click()
    await page
      .getByRole('cell', { name: /Forward to ann@one.remote.example.*Pending bob@one.remote.example.*Pending$/ })
      .waitFor()
    expect(await page.getByRole('row').last().textContent()).toContain('The rest')

    const ask = async (address: string) => {
      await page.getByLabel('Address').fill(address)
      await press(page, 'Test address')
      return page.getByRole('status').locator('strong').textContent()
    }
    expect(await ask(`order-17@${DOMAIN}`)).toBe('Orders')
    expect(await ask(`anybody@${DOMAIN}`)).toBe('The rest')
    expect(await ask('anybody@elsewhere.example')).toBe('No route')
    await screenshot(page, 'inbound-routes')

    await press(page, 'Actions of Orders')
    await press(page, 'Edit')
    const edit = page.getByRole('dialog', { name: 'Edit Orders' })
    await edit.getByText('Set: X-Api-Key.').waitFor()
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.waitFor({ state: 'detached' })
    const routes = (await server.read('/v1/inbound-routes')).data
    expect(routes.find(({ name }: Json) => name === 'Orders').action.config.header_names).toEqual(['X-Api-Key'])
    await press(page, 'Actions of Orders')
    await press(page, 'Disable')
    await page.getByText('Orders disabled').waitFor()
    await press(page, 'Actions of The rest')
    await press(page, 'Edit')
    const change = page.getByRole('dialog', { name: 'Edit The rest' })
    await change.getByLabel('Action').selectOption('store')
    await change.getByLabel('Priority').fill('7')
    await change.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: /Store$/ }).waitFor()
    expect(await page.getByRole('row').nth(1).textContent()).toContain('The rest')
    expect(await ask(`order-17@${DOMAIN}`)).toBe('The rest')
    await press(page, 'Actions of Orders')
    await press(page, 'Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete route' }).click()
    await page.getByRole('row', { name: /Orders/ }).waitFor({ state: 'detached' })
    const { data } = await server.read('/v1/inbound-routes')
    expect(data.map(({ name, priority }: { name: string; priority: number }) => [name, priority])).toEqual([
      ['The rest', 7],
      ['Support', 0],
    ])
  })

  journey(
    'moves a route with the arrow keys, in its menu and by dragging, and asks for its name before it goes',
    async () => {
      const made: string[] = []
      for (const name of ['First', 'Second', 'Third']) {
        const match = { type: 'address', value: `${name}@${DOMAIN}` }
        const { body } = await server.ask('POST', '/v1/inbound-routes', {
          ...{ name, match, priority: 20, action: { type: 'store', config: {} } },
        })
        made.push(body.id)
        await server.clock.advance(1_000)
      }
      const page = await board.open('/inbound?tab=routes')
      const handle = (name: string) => page.getByRole('button', { name: `Position of ${name}: ` })
      const isAt = (name: string, place: number) =>
        page.getByRole('button', { name: `Position of ${name}: ${place}.` }).waitFor()
      await isAt('First', 1)
      await page.getByRole('list', { name: 'MX records' }).getByText(`MX of ${DOMAIN}`).waitFor()
      expect(await axeFaults(page)).toEqual([])
      await handle('Third').focus()
      await page.keyboard.press('ArrowUp')
      await isAt('Third', 2)
      await press(page, 'Actions of First')
      await press(page, 'Move down')
      await isAt('First', 2)
      await handle('Second').dragTo(handle('Third'))
      await isAt('Second', 1)
      const { data } = await server.read('/v1/inbound-routes')
      const own = data.filter(({ id }: Json) => made.includes(id))
      const byPriority = own.toSorted((a: Json, b: Json) => b.priority - a.priority)
      expect(byPriority.map(({ name }: Json) => name)).toEqual(['Second', 'Third', 'First'])

      const route_id = made[0]!
      const mintId = createMintId(server.clock, systemRandom)
      const ids = { id: mintId('inb'), organizationId: server.organizationId }
      const { data: domains } = await server.read('/v1/domains')
      const mail = inboundMessage({ ...ids, routeId: route_id, domainId: domains[0].id, receivedAt: Date.now() })
      await server.store().inbound.accept({
        ...storedMail(),
        taken: [{ message: { ...mail, action: 'store' }, deliveryId: null, forward: null }],
      })
      await press(page, 'Actions of First')
      await press(page, 'Delete')
      const dialog = page.getByRole('dialog', { name: 'Delete First?' })
      await dialog.getByText('It received 1 message in 30 days.').waitFor()
      const sure = dialog.getByRole('button', { name: 'Delete route' })
      expect(await sure.isDisabled()).toBe(true)
      await dialog.getByLabel('Type First to confirm').fill('First')
      await page.keyboard.press('Enter')
      await handle('First').waitFor({ state: 'detached' })
      for (const id of made.slice(1)) await server.ask('DELETE', `/v1/inbound-routes/${id}`)
    },
  )

  journey('shows pictures among the attachments of an inbound message, no drawing that is a document', async () => {
    const mintId = createMintId(server.clock, systemRandom)
    const { data: domains } = await server.read('/v1/domains')
    const { data: routes } = await server.read('/v1/inbound-routes')
    const id = mintId('inb')
    const ids = { id, organizationId: server.organizationId, domainId: domains[0].id, routeId: routes[0].id }
    const message = inboundMessage({ ...ids, receivedAt: server.clock.now(), action: 'store' })
    const attachments = [
      { filename: 'photo.png', contentType: 'image/png', sizeBytes: PIXEL.length, contentId: null },
      { filename: 'drawing.svg', contentType: 'image/svg+xml', sizeBytes: SVG.length, contentId: null },
      { filename: 'fake.png', contentType: 'image/png', sizeBytes: SVG.length, contentId: null },
    ]
    const part = (type: string, content: Buffer) =>
      `--b\r\nContent-Type: ${type}\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}\r\n`
    const parts = [part('image/png', PIXEL), part('image/svg+xml', SVG), part('image/png', SVG)].join('')
    const raw = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`
    await server.store().inbound.accept({
      ...storedMail({ ...PARSED, attachments }, raw),
      taken: [{ message, deliveryId: null, forward: null }],
    })
    const page = await board.open(`/inbound/${id}`)
    const photo = page.getByRole('button', { name: /^photo\.png/ })
    await photo.locator('img').waitFor()
    expect(await photo.locator('img').evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(1)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: /^drawing\.svg/ }).click()
    expect((await download).suggestedFilename()).toBe('drawing.svg')
    await until('all pictures', async () => (await page.locator('.attachments img').count()) === 1)
    expect(await axeFaults(page)).toEqual([])
  })

  journey('finds templates by name, alias and subject', async () => {
    const ids: string[] = []
    for (const [name, alias, subject] of [
      ['Parcel', 'sent', 'On its way'],
      ['Bill', 'bill', 'Your parcel'],
    ]) {
      const { body } = await server.ask('POST', '/v1/templates', { name, alias, subject, text: 'x' })
      ids.push(body.id)
    }
    const page = await board.open('/templates')
    await page.getByRole('columnheader', { name: 'Sent in 30 days' }).waitFor()
    const search = page.getByRole('searchbox', { name: 'Search templates' })
    await search.fill('PARCEL')
    await page.waitForURL(/q=PARCEL/)
    await page.getByRole('row', { name: /Bill/ }).waitFor()
    await search.fill('bill')
    await page.getByRole('row', { name: /Parcel sent/ }).waitFor({ state: 'detached' })
    await search.fill('nothing of this kind')
    await page.getByText('No templates match').waitFor()
    for (const id of ids) await server.ask('DELETE', `/v1/templates/${id}`)
  })

  journey('keeps long forward targets and the selected tab within a phone screen', async () => {
    const { body: route } = await server.ask('POST', '/v1/inbound-routes', {
      name: 'Long',
      match: { type: 'address', value: `long@${DOMAIN}` },
      action: { type: 'forward', config: { to: [`${'long.name.'.repeat(5)}x@one.remote.example`] } },
    })
    const page = await board.open('/inbound?tab=routes', { width: 390 })
    await press(page, 'Actions of Long')
    await press(page, 'Edit')
    const dialog = page.getByRole('dialog', { name: 'Edit Long' })
    await dialog.getByRole('button', { name: /^Resend confirmation/ }).waitFor()
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await server.ask('DELETE', `/v1/inbound-routes/${route.id}`)

    await page.goto(`${board.origin}/dashboard/settings?tab=blocked-links`)
    const tab = page.getByRole('tab', { name: 'Blocked links' })
    await tab.waitFor()
    const beyond = await tab.evaluate((each) => {
      return each.getBoundingClientRect().right - each.parentElement!.getBoundingClientRect().right
    })
    expect(beyond).toBeLessThanOrEqual(1)
  })

  journey('shows the health checks, runs them again, and shows the queues', async () => {
    const page = await board.open('/health')
    await press(page, 'Run checks')
    await page.getByText('Checks complete').waitFor()
    const problems = page.getByRole('region', { name: /critical|warning/ })
    await problems.getByText('no backup has been made yet').waitFor()
    await problems.getByText('postrider backup FOLDER').waitFor()
    await page.getByText(/checks OK/).click()
    await page.getByRole('region', { name: 'Data' }).getByText('database intact and writable').waitFor()
    expect(await problems.getByText('database intact').count()).toBe(0)
    await page.getByText(/^(The queue is empty|In the queue)/).click()
    await page.getByRole('row', { name: /^Webhooks/ }).waitFor()
    await screenshot(page, 'health')
  })

  journey('shows what to do on empty pages', async () => {
    await server.clock.advance(1_000) // the other one is older
    const page = await board.open('/organizations')
    await press(page, 'Create organization')
    await page.getByLabel('Name').fill('Bakery')
    await page.getByRole('dialog').getByRole('button', { name: 'Create organization' }).click()
    await press(page, 'Actions of Bakery')
    await press(page, 'Switch to Bakery')
    await page.getByRole('link', { name: 'Inbound' }).click()
    await page.getByText('No inbound messages yet').waitFor()
    await page.getByRole('link', { name: 'Routes' }).click()
    await page.getByText('No routes yet').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.goto(`${board.origin}/dashboard/templates/new?start=blank`)
    await write(page, 'HTML', '<p>Hi')
    await page.getByRole('tab', { name: 'Analysis' }).click()
    await page.getByText('No domains yet').waitFor()
    const organizations = page.getByRole('combobox', { name: 'Organization' })
    const before = await organizations.inputValue()
    await organizations.selectOption({ index: 1 })
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click()
    expect(await organizations.inputValue()).toBe(before)
  })

  journey('is accessible in both themes and fits a phone screen', async () => {
    const page = await board.open('/templates', { expected: /404/ })
    for (const [path, name] of [
      ['/templates', 'Templates'],
      ['/templates/new', 'New template'],
      ['/templates/new?start=invoice', 'New template'],
      ['/inbound', 'Inbound'],
      ['/inbound?tab=routes', 'Inbound'],
      ['/health', 'Health'],
      ['/templates/tpl_01m7ykx6js1zy8zpzy8z8cwhzy', 'Template'],
      ['/inbound/inb_01m7ykx6js1zy8zpzy8z8cwhzy', 'Inbound message'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${board.origin}/dashboard${path}`)
      await heading(page, name)
      await settled(page)
      expect([path, await axeFaultsOfThemes(page)]).toEqual([path, []])
      await screenshot(page, path.replace(/\W+/g, '-').slice(1))
      await page.setViewportSize({ width: 360, height: 740 })
      await screenshot(page, `${path.replace(/\W+/g, '-').slice(1)}-360`)
      expect([path, await overflow(page)]).toEqual([path, []])
    }
  })
})
