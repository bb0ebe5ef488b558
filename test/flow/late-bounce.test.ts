import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { asMail } from '../support/fixtures.ts'
import { complaintAbout, deliver } from '../support/late-reports.ts'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'
import { customerAccepts, dkimResults } from '../support/verify.ts'

/** Late reports arrive on port 25 and become events of the right message. */

const OPEN = { smtp: { inbound: { listen: '127.0.0.1:0' } } }

const dsnAbout = (recipient: string) =>
  asMail(`From: <postmaster@one.remote.example>
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

Your mail could not be delivered.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.hosts.example

Final-Recipient: rfc822; ${recipient}
Action: failed
Status: 5.1.1
Remote-MTA: dns; inner.hosts.example
Diagnostic-Code: smtp; 550 5.1.1 <${recipient}>: user unknown

--b--
`)

describe('of mail that the remote server accepted', () => {
  let remote: RemoteMx
  let server: TestServer
  beforeAll(async () => {
    remote = await startRemoteMx()
    server = await startTestServer({ remote, config: OPEN })
  })
  afterAll(async () => {
    await server.close()
    await remote.stop()
  })

  let serial = 0
  /** A delivered message to a new recipient: its id, and the mail as the remote server got it. */
  async function delivered(change: Record<string, unknown> = {}) {
    const to = `reader${++serial}@one.remote.example`
    const { body } = await server.send({ to, ...change })
    expect((await server.ended(body.id)).status).toBe('delivered')
    const mail = remote.mails.find(({ rcptTo }) => rcptTo.includes(to))!
    return { id: body.id as string, to, mail }
  }

  /** The event of that type from the webhook, with its signature checked. */
  async function hooked(id: string, type: string): Promise<Json> {
    let data: Json
    await until(`webhook ${type}`, () => {
      const request = server.receiver.requests.find(({ body }) => body.includes(`"${type}"`) && body.includes(id))
      if (request !== undefined) {
        expect(customerAccepts(request, server.webhook.secret, server.clock.now())).toBe(true)
        data = JSON.parse(request.body).data
      }
      return request !== undefined
    })
    return data
  }

  test('a failure report to its return path makes it bounced, publishes the event, and suppresses', async () => {
    const { id, to, mail } = await delivered()
    expect(await deliver(server, mail.mailFrom, dsnAbout(to))).toStartWith('250 ')

    const message = await server.read(`/v1/messages/${id}`)
    expect(message.status).toBe('bounced')
    expect(message.recipients[0]).toMatchObject({ status: 'bounced', bounce_type: 'hard', bounce_code: '5.1.1' })
    expect((await server.eventsOf(id)).map(({ type }) => type)).toEqual(['message.delivered', 'message.bounced'])
    expect(await hooked(id, 'message.bounced')).toEqual({
      message_id: id,
      from: 'Shop <shop@sender.example>',
      to,
      subject: 'Hello',
      metadata: { order: 'o-17', total: 12.5, gift: true },
      tags: ['receipt'],
      mode: 'live',
      bounce_type: 'hard',
      bounce_code: '5.1.1',
      bounce_message: `550 5.1.1 <${to}>: user unknown`,
      bounced_at: '2026-11-21T12:00:00.000Z',
      will_retry: false,
    })
    const { reports } = await server.read(`/v1/messages/${id}/attempts`)
    expect(reports).toMatchObject([
      {
        email: to,
        kind: 'failed',
        reporter: 'mx.hosts.example',
        status: '5.1.1',
        bounce_class: 'no_mailbox',
        rule: 'user-unknown',
      },
    ])
    const again = await server.send({ to })
    expect(again.body.status).toBe('suppressed')

    const [explained] = (await server.read(`/v1/messages/${id}/explain`)).recipients
    expect(explained).toMatchObject({ bounce_class: 'no_mailbox', rule: 'user-unknown' })
    const [accepted, reported] = explained.explanation
    expect(accepted).toBe('The remote server accepted the message and could not deliver it.')
    expect(reported).toStartWith('A report from mx.hosts.example of ')
    expect(reported).toEndWith(" says this mailbox doesn't exist.")
  })

  test('a notice of unknown form bounces it softly, and explain names the rule', async () => {
    const { id, to, mail } = await delivered()
    const notice = asMail(`From: postmaster@one.remote.example
Subject: Mail failure

Your message to ${to} could not be delivered, since the mailbox is full.
`)
    expect(await deliver(server, mail.mailFrom, notice)).toStartWith('250 ')
    const [recipient] = (await server.read(`/v1/messages/${id}`)).recipients
    expect(recipient).toMatchObject({ status: 'bounced', bounce_type: 'soft' })
    const [explained] = (await server.read(`/v1/messages/${id}/explain`)).recipients
    expect(explained).toMatchObject({ bounce_class: 'mailbox_full', rule: 'mailbox-full', suppressions: [] })
    expect((await server.send({ to })).body.status).toBe('queued')
  })

  test('a complaint, at its return path or at abuse@ beside it, is published with its kind, and suppresses', async () => {
    for (const place of ['return path', 'abuse']) {
      const { id, to, mail } = await delivered()
      const address = place === 'abuse' ? `abuse@${mail.mailFrom.split('@')[1]}` : mail.mailFrom
      expect(await deliver(server, address, complaintAbout(mail), 'staff@isp.example')).toStartWith('250 ')
      const published = await hooked(id, 'message.complained')
      expect(published).toMatchObject({ to, feedback_type: 'abuse', complained_at: '2026-11-21T12:00:00.000Z' })
      expect((await server.read(`/v1/messages/${id}`)).status).toBe('delivered')
      const { data } = await server.read(`/v1/suppressions?email=${encodeURIComponent(to)}`)
      expect(data).toMatchObject([{ reason: 'complaint', message_id: id }])
    }
  })

  test('a mail to the address of its List-Unsubscribe field unsubscribes the recipient', async () => {
    const { id, to, mail } = await delivered({ unsubscribe: true })
    const [, address, subject] = /^List-Unsubscribe: <http:[^>]+>, <mailto:([^?]+)\?subject=(\w+)>\r$/m.exec(
      mail.raw.toString(),
    )!
    expect(await dkimResults(mail.raw, server.zone)).toEqual([
      'ed25519-sha256 sender.example pass',
      'rsa-sha256 sender.example pass',
    ])
    const plea = asMail(`From: ${to}\nTo: ${address}\nSubject: ${subject}\n\nApplied by a program.\n`)
    expect(await deliver(server, address!, plea, to)).toStartWith('250 ')
    expect(await hooked(id, 'message.unsubscribed')).toMatchObject({ to, method: 'mailto', ip_address: null })
    expect((await server.send({ to })).body.status).toBe('suppressed')
  })

  test('addresses that we never issued are not recipients', async () => {
    const { id, to, mail } = await delivered()
    const [local, host] = mail.mailFrom.split('@') as [string, string]
    const forged = `${local.slice(0, -1)}${local.endsWith('0') ? '1' : '0'}@${host}`
    expect(await deliver(server, forged, dsnAbout(to))).toStartWith('550 5.1.1')
    expect(await deliver(server, `u${local.slice(1)}@${host}`, dsnAbout(to))).toStartWith('550 5.1.1')
    expect(await deliver(server, `${local}@other.example`, dsnAbout(to))).toStartWith('550 5.7.1')
    expect((await server.read(`/v1/messages/${id}`)).status).toBe('delivered')
  })

  test('replies to test mail are accepted without effect', async () => {
    const { body } = await server.send({ unsubscribe: true }, { authorization: `Bearer ${server.keys.test}` })
    const raw = (await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)).text
    const address = /^List-Unsubscribe: .*<mailto:([^?]+)\?/m.exec(raw)![1]!
    expect(await deliver(server, address, asMail('Subject: unsubscribe\n\n'), 'ann@one.remote.example')).toStartWith(
      '250 ',
    )
    expect((await server.eventsOf(body.id)).map(({ type }) => type)).toEqual(['message.delivered'])
  })
})

describe('of mail whose connection was lost after the final dot', () => {
  let server: TestServer | undefined
  afterEach(() => server?.close())

  test('the report ends it: it is not retried', async () => {
    const remote = await startRawMx({ script: (cue) => (cue === 'DOT' ? { do: 'drop' } : null) })
    server = await startTestServer({ remote, config: OPEN })
    const { body } = await server.send()
    await server.tried(body.id, 1)
    const returnPath = /^MAIL FROM:<([^>]+)>/.exec(remote.heard.find((line) => line.startsWith('MAIL'))!)![1]!
    expect(await deliver(server, returnPath, dsnAbout('ann@one.remote.example'))).toStartWith('250 ')
    const message = await server.read(`/v1/messages/${body.id}`)
    expect(message.recipients[0]).toMatchObject({ status: 'bounced', next_attempt_at: null, attempts: 1 })
    const heard = remote.heard.length
    await server.clock.advance(10 * 60_000) // the second attempt would come after one minute
    expect(remote.heard.slice(heard).filter((line) => line.startsWith('RCPT'))).toEqual([])
    expect((await server.eventsOf(body.id)).map(({ type }) => type)).toEqual(['message.deferred', 'message.bounced'])
    await server.close()
    server = undefined
    await remote.stop()
  })
})
