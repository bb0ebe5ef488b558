import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/patience.ts'
import { describeWithPeers, dkimpySigned, swaks } from '../support/real-peers.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, START, startTestServer, type TestServer } from '../support/server.ts'
import { KEY_PEM, KEY_RECORD } from './signed-mail.ts'

/** A third-party mail client, through the whole server to the endpoint of a route. */

const CONTENT = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * 7 + (i >> 8)) & 255))

describeWithPeers('swaks on port 25', () => {
  let server: TestServer
  let remote: RemoteMx
  let folder: string
  let secret: string
  let address: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-peers-'))
    remote = await startRemoteMx()
    server = await startTestServer({ remote, config: { smtp: { inbound: { listen: '127.0.0.1:0' } } } })
    address = server.running().listening.smtpInbound!
    server.zone.set('author.example', 'TXT', ['v=spf1 ip4:127.0.0.1 -all'])
    server.zone.set('s1._domainkey.author.example', 'TXT', [KEY_RECORD])
    server.zone.set('_dmarc.author.example', 'TXT', ['v=DMARC1; p=reject; adkim=s; aspf=s'])
    await addRoute(`info@${DOMAIN}`, 'none')
    secret = await addRoute(`strict@${DOMAIN}`, 'dmarc')
  })
  afterAll(async () => {
    await server?.close()
    await remote?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Posts to a path of the receiver named after the address; returns the secret. */
  async function addRoute(value: string, authentication: string): Promise<string> {
    const { status, body } = await server.ask('POST', '/v1/inbound-routes', {
      name: value,
      match: { type: 'address', value },
      action: { type: 'webhook', config: { url: pathOf(value), include_attachments: true } },
      authentication,
    })
    expect(status).toBe(201)
    return body.secret
  }
  const pathOf = (address: string) => server.receiver.url.replace('/hook', `/${address.split('@')[0]}`)

  /** The posts of one route so far. */
  const posts = (route: string) => server.receiver.requests.filter(({ path }) => path === `/${route}`)
  /** What the endpoint gets of the next mail that `sending` delivers. */
  async function postedBy(
    route: string,
    sending: () => Promise<unknown>,
  ): Promise<{ request: ReceivedRequest; body: Json }> {
    const before = posts(route).length
    await sending()
    await until('the post', () => posts(route).length > before)
    const request = posts(route)[before]!
    return { request, body: JSON.parse(request.body) }
  }
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }

  for (const [way, options, protocol] of [
    ['in clear', [], 'ESMTP'],
    ['with STARTTLS', ['--tls'], 'ESMTPS'],
    ['in clear, pipelined', ['--pipeline'], 'ESMTP'],
    ['with HELO', ['--protocol', 'SMTP'], 'SMTP'],
  ] as const) {
    test(`delivers a mail ${way}`, async () => {
      const { body } = await postedBy('info', async () => {
        const said = await swaks(
          address,
          ...['--from', 'ann@quiet.example', '--to', `info@${DOMAIN}`, '--helo', 'mx.quiet.example'],
          ...['--header', `Subject: brought ${way}`, '--body', '.\n..\n.dots and = signs\n', ...options],
        )
        expect(said).toMatchObject({ exitCode: 0, output: expect.stringMatching(/250 2\.0\.0 inb_\S+ accepted/) })
      })
      expect(body).toMatchObject({ from: 'ann@quiet.example', to: [`info@${DOMAIN}`], subject: `brought ${way}` })
      expect(body.text_body.trimEnd().split(/\r?\n/)).toEqual(['.', '..', '.dots and = signs'])
      expect(body).toMatchObject({ spf_result: 'none', dkim_result: 'none', dmarc_result: 'none', attachments: [] })
      const [record] = (await server.read('/v1/inbound-messages?limit=1')).data
      const { text } = await server.ask('GET', `/v1/inbound-messages/${record.id}/raw`)
      expect(text.replace(/\r\n[ \t]+/g, ' ')).toMatch(
        new RegExp(`^Received: from mx\\.quiet\\.example .* with ${protocol} `, 'm'),
      )
    })
  }

  test('delivers an attachment to the endpoint byte for byte', async () => {
    const { body } = await postedBy('info', () =>
      swaks(
        address,
        ...['--from', 'ann@quiet.example', '--to', `info@${DOMAIN}`, '--tls', '--body', 'See the file.'],
        ...['--attach-type', 'application/pdf', '--attach-name', 'invoice.pdf'],
        ...['--attach', `@${file('invoice.pdf', CONTENT)}`],
      ),
    )
    expect(body.text_body.trim()).toBe('See the file.')
    expect(body.attachments).toEqual([
      { filename: 'invoice.pdf', content_type: 'application/pdf', size: CONTENT.length },
    ])
    expect(Buffer.from(body.attachments_data[0].content, 'base64').equals(CONTENT)).toBe(true)
  })

  test('delivers what dkimpy signed: every verdict is pass, and the post is signed with the secret of the route', async () => {
    const { request, body } = await postedBy('strict', async () => {
      const said = await swaks(address, '--tls', ...(await envelopeOf(await signedMail())))
      expect(said).toMatchObject({ exitCode: 0 })
    })
    expect(body).toMatchObject({
      spf_result: 'pass',
      dkim_result: 'pass',
      dmarc_result: 'pass',
      sender_ip: '127.0.0.1',
    })
    expect(body).toMatchObject({ message_id: '<s1@author.example>', subject: 'signed' })
    expect(body.text_body.trim()).toBe('Signed by another hand.')

    const t = request.headers['x-inbound-timestamp']
    const v1 = createHmac('sha256', secret).update(`${t}.`).update(request.bytes).digest('hex')
    expect(request.headers['x-inbound-signature']).toBe(`t=${t},v1=${v1}`)
    expect(request.headers['x-inbound-delivery-attempt']).toBe('1')
    expect(Math.abs(Number(t) - START / 1000)).toBeLessThan(60)
  })

  test('is refused at the final dot when the signed mail was changed, and nothing is posted', async () => {
    const before = posts('strict').length
    const forged = (await signedMail()).replace('another hand', 'other hands')
    // From another address, because the SPF record authorizes this one.
    const said = await swaks(address, ...(await envelopeOf(forged, 'ann@quiet.example')))
    expect(said.exitCode).not.toBe(0)
    expect(said.output).toMatch(
      /550 5\.7\.1 message rejected: DMARC policy of author\.example is reject, and neither SPF \(none\) nor DKIM \(fail\)/,
    )
    const { data } = await server.read('/v1/inbound-messages?limit=100')
    expect(data.filter(({ to }: Json) => to[0] === `strict@${DOMAIN}`).length).toBe(before)
  })

  test('gets errors for an unknown recipient and a foreign domain, and its other mail is accepted', async () => {
    const everybody = [`info@${DOMAIN}`, `nobody@${DOMAIN}`, 'user@one.remote.example'].join(',')
    const { body } = await postedBy('info', async () => {
      const said = await swaks(address, '--from', 'ann@quiet.example', '--to', everybody, '--body', 'to some')
      expect(said.output).toMatch(/550 5\.1\.1 .*nobody@/)
      expect(said.output).toMatch(/550 5\.7\.1 .*user@one\.remote\.example.* relaying denied/)
      expect(said.exitCode).toBe(0)
    })
    expect(body.to).toEqual([`info@${DOMAIN}`])
    const refused = await swaks(address, '--from', 'ann@quiet.example', '--to', 'user@one.remote.example')
    expect(refused.exitCode).not.toBe(0)
    expect(remote.mails).toEqual([])
  })

  const signedMail = () =>
    dkimpySigned(
      [
        'From: Ann <ann@author.example>',
        `To: strict@${DOMAIN}`,
        'Subject: signed',
        'Message-ID: <s1@author.example>',
        'Date: Sat, 21 Nov 2026 12:00:00 +0000',
        '',
        'Signed by another hand.',
        '',
      ].join('\r\n'),
      { domain: 'author.example', selector: 's1', privateKeyPem: KEY_PEM },
    )

  const envelopeOf = async (mail: string, from = 'ann@author.example') => [
    ...['--from', from, '--to', `strict@${DOMAIN}`, '--helo', 'mx.author.example'],
    ...['--data', `@${file('mail.eml', mail)}`],
  ]
})
