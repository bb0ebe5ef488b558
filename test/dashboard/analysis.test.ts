import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { clientOptions } from '../smtp-submission/setup.ts'
import { DOMAIN, type TestServer } from '../support/server.ts'
import { describeWithBrowser, startDashboard, type TestDashboard } from './setup.ts'

/** The analysis of a sent message, and the timeline of a suppressed recipient. */

const HTML = '<p>News of the week</p><p><a href="https://shop.example/unsubscribe">Unsubscribe</a></p>'
const SMTP = { inbound: { listen: 'off' }, submission: { listen: '127.0.0.1:0' } }

describeWithBrowser('the page of a sent message', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard(async () => {}, { smtp: SMTP })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

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

  test('says in its timeline that a recipient was suppressed, and why', async () => {
    const { server } = board
    await server.ask('POST', '/v1/suppressions', { email: 'gone@one.remote.example' })
    const { body } = await server.send({ to: 'gone@one.remote.example' })
    const page = await board.open(`/messages/${body.id}`)
    const timeline = page.getByRole('list', { name: 'Timeline of gone@one.remote.example' })
    await timeline.getByText('Suppressed').waitFor()
    expect(await timeline.textContent()).toContain('manual')
  })
})

async function sendOverSmtp(server: TestServer): Promise<void> {
  const port = Number(server.running().listening.smtpSubmission?.split(':').at(-1))
  const transport = createTransport(clientOptions(port, server.keys.live))
  const headers = { 'List-Unsubscribe': '<https://shop.example/leave>' }
  const mail = { from: `shop@${DOMAIN}`, to: 'ann@one.remote.example', subject: 'Over SMTP', html: HTML, headers }
  await transport.sendMail(mail).finally(() => transport.close())
}
