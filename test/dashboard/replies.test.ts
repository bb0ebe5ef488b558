import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { RECEIVING } from '../compat/receive.ts'
import { until } from '../support/patience.ts'
import { DOMAIN, type TestServer } from '../support/server.ts'
import {
  axeFaultsOfThemes,
  describeWithBrowser,
  layoutShift,
  overflow,
  screenshot,
  startDashboard,
  type TestDashboard,
} from './setup.ts'

/** A message with a reply, and the reply, as the dashboard shows them. */

const AUTHOR = 'someone.with.a.rather.long.name+and.a.tag@department.one.remote.example'

describeWithBrowser('the dashboard', () => {
  let board: TestDashboard
  let server: TestServer
  let messageId: string
  let replyId: string
  beforeAll(async () => {
    board = await startDashboard(undefined, RECEIVING)
    server = board.server
    const match = { type: 'address', value: `help@${DOMAIN}` }
    await server.ask('POST', '/v1/inbound-routes', { name: 'Desk', match, action: { type: 'store' } })
    messageId = (await server.send({ to: 'ann@one.remote.example', subject: 'Your order', replies: 'Desk' })).body.id
    await server.ended(messageId)
    const [mail] = await board.remote.received(1)
    const to = /reply\+\w+@[\w.]+/.exec(mail!.raw.toString())![0]
    const [host, port] = server.running().listening.smtpInbound!.split(':')
    const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
    const text = 'أين طردي؟\n\nOn Sat, Nov 21, 2026 at 12:00 PM Shop <shop@sender.example> wrote:\n\n> Hi Ann\n'
    await client.sendMail({ from: AUTHOR, to, subject: 'Re: Your order', text }).finally(() => client.close())
    replyId = (await server.read('/v1/inbound-messages?limit=1')).data[0].id
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  test('leads from a message to its reply and back', async () => {
    const page = await board.open(`/messages/${messageId}`)
    await page.getByText(/^A reply arrived at /).waitFor()
    const timeline = page.getByRole('list', { name: 'Timeline of ann@one.remote.example' })
    await timeline.getByText('Replied').waitFor()
    await timeline.getByRole('link', { name: AUTHOR }).click()
    await until('the reply', () => page.url().endsWith(`/inbound/${replyId}`))
    await page.getByRole('heading', { level: 1, name: 'Re: Your order' }).waitFor()
    await page.getByRole('link', { name: 'Your order', exact: true }).click()
    await until('the message', () => page.url().endsWith(`/messages/${messageId}`))
  })

  test('counts the reply in the statistics', async () => {
    const page = await board.open('/statistics')
    const tile = page.getByRole('button', { name: /^Replied/ })
    await tile.waitFor()
    expect(await tile.textContent()).toMatch(/^Replied1(?!\d)/)
    await tile.click()
    await until('the chart of replies alone', () => page.url().endsWith('show=replied'))
  })

  test('shows the new part of a reply first, and the whole mail on request', async () => {
    const page = await board.open(`/inbound/${replyId}`)
    await page.getByRole('heading', { level: 2, name: 'Reply' }).waitFor()
    expect(await page.getByText('أين طردي؟', { exact: true }).isVisible()).toBe(true)
    expect(await page.getByText('> Hi Ann').isVisible()).toBe(false)
    await page.getByText('Whole message').click()
    await page.getByRole('tab', { name: 'Text' }).waitFor()
    await page.getByText('> Hi Ann').waitFor()
  })

  for (const width of [1440, 390]) {
    test(`shows both without faults and without scrolling sideways at ${width} px`, async () => {
      for (const [path, text, name] of [
        [`/messages/${messageId}`, AUTHOR, 'message-replied'],
        [`/inbound/${replyId}`, 'أين طردي؟', 'inbound-reply'],
      ] as const) {
        const page = await board.open(path, { width, height: 900 })
        await page.getByText(text).first().waitFor()
        expect(await axeFaultsOfThemes(page)).toEqual([])
        await screenshot(page, `${name}-${width}-dark`)
        expect(await overflow(page)).toEqual([])
        if (name === 'inbound-reply') {
          await page.getByText('Whole message').click()
          await page.getByText('> Hi Ann').waitFor()
          expect([...(await axeFaultsOfThemes(page)), ...(await overflow(page))]).toEqual([])
        }
        expect(await page.evaluate(layoutShift)).toBeLessThanOrEqual(0.05)
        await page.emulateMedia({ colorScheme: 'light' })
        await screenshot(page, `${name}-${width}-light`)
      }
    })
  }
})
