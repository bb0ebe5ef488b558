import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { simpleParser } from 'mailparser'
import { MAIL } from '../api/messages-setup.ts'
import { clientOptions, mailOf, openListener, openRelay, refusalOf } from './setup.ts'

/** Submission by SMTP through real sockets, with nodemailer as the client. */

let relay: Awaited<ReturnType<typeof openRelay>>
beforeAll(async () => {
  relay = await openRelay()
})
afterAll(() => relay.close())

const ANN = 'ann@remote.example'
const TO_ANN = { from: 'shop@example.com', to: [ANN] }

/** Submits a raw mail → its id. */
async function taken(raw: string | Buffer, to: string[] = [ANN], password?: string): Promise<string> {
  return idOf(await relay.handIn({ envelope: { from: 'shop@example.com', to }, raw }, password))
}
const refused = (raw: string, password?: string) => refusalOf(relay.handIn({ envelope: TO_ANN, raw }, password))

function idOf(response: string): string {
  const id = /^250 2\.0\.0 queued as (msg_\w+)$/.exec(response)?.[1]
  if (id === undefined) throw new Error(`not accepted: ${response}`)
  return id
}

async function rawOf(id: string): Promise<string> {
  const answer = await relay.ask('GET', `/v1/messages/${id}/content?part=raw`)
  return answer.text
}
const withoutSignatures = (raw: string) => raw.replace(/^(?:DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*)+/, '')
const record = async (id: string) => (await relay.ask('GET', `/v1/messages/${id}`)).body

describe('logging in', () => {
  test('accepts any user name, with an API key as password', async () => {
    for (const user of ['apikey', 'shop@example.com', '']) {
      const transport = relay.client(undefined, { auth: { user: user || 'x', pass: relay.keys.live } })
      expect(await transport.verify()).toBe(true)
      transport.close()
    }
  })

  test('records the use of the key, as the API does', async () => {
    const value = await relay.mintKey('example.com', 'live', ['send'])
    await taken(mailOf(['From: shop@example.com']), [ANN], value)
    await relay.api.auth.flushUses()
    const { records } = await relay.store.apiKeys.list(relay.organizationId, { limit: 100, after: null })
    expect(records.find(({ prefix }) => value.startsWith(prefix))!.lastUsedAt).toBe(relay.clock.now())
  })

  test('without STARTTLS is not offered, and mail without a login gets 530', async () => {
    const bare = relay.client(undefined, { requireTLS: false, auth: undefined })
    expect(await refusalOf(bare.sendMail({ ...TO_ANN, text: 'x' }))).toStartWith('530 5.7.0')
    bare.close()
  })

  test('works on a port that speaks TLS from the first byte', async () => {
    const { port, stop } = await openListener(relay.handler, 'implicit', relay.clock)
    const transport = relay.client(undefined, { ...clientOptions(port, relay.keys.live), secure: true })
    const { response } = await transport.sendMail({ ...TO_ANN, text: 'Hello' })
    expect(await record(idOf(response))).toMatchObject({ source: 'smtp', status: 'queued' })
    transport.close()
    await stop()
  })

  test('with a wrong, expired or unauthorized key gets 535, and is slowed by the listener', async () => {
    const own = await openRelay()
    const at = own.clock.now()
    const mail = { ...TO_ANN, text: 'x' }
    const reader = await own.mintKey('example.com', 'live', ['read', 'manage'])
    expect(await refusalOf(own.handIn(mail, reader))).toBe('535 5.7.8 API key lacks the send permission')
    const braked = refusalOf(own.handIn(mail, `${own.keys.live}x`))
    await own.clock.untilSleeping(1)
    await own.clock.advance(60_000)
    expect(await braked).toBe('535 5.7.8 password is not a valid API key')
    expect(own.clock.now()).toBeGreaterThan(at)
    await own.close()
  })

  // threat: rights-by-detour
  test('with a key gets 535 when the user who made it was removed', async () => {
    const own = await openRelay()
    const key = await own.mintKey('example.com', 'live', ['send'], { createdBy: 'usr_removed' })
    expect(await refusalOf(own.handIn({ ...TO_ANN, text: 'x' }, key))).toBe(
      '535 5.7.8 API key lacks the send permission',
    )
    await own.close()
  })

  // threat: stolen-key-used-elsewhere
  test('with a key limited to networks gets 535 from elsewhere, like any wrong key, and is accepted from there', async () => {
    const own = await openRelay()
    const mail = { ...TO_ANN, text: 'x' }
    const of = (network: string) => own.mintKey('example.com', 'live', ['send'], { allowedNetworks: [network] })
    expect(await own.handIn(mail, await of('127.0.0.0/8'))).toStartWith('250 ')
    const braked = refusalOf(own.handIn(mail, await of('192.0.2.0/24')))
    await own.clock.untilSleeping(1)
    await own.clock.advance(60_000)
    expect(await braked).toBe('535 5.7.8 password is not a valid API key')
    await own.close()
  })

  test('is not enough once the key is revoked, in the same session', async () => {
    const value = await relay.mintKey('example.com', 'live', ['send'])
    const transport = relay.client(value, { pool: true, maxConnections: 1 })
    const send = () => transport.sendMail({ ...TO_ANN, text: 'x' })
    idOf((await send()).response)
    const { records } = await relay.store.apiKeys.list(relay.organizationId, { limit: 100, after: null })
    await relay.store.apiKeys.revoke(records.find(({ prefix }) => value.startsWith(prefix))!.id, relay.clock.now())
    expect(await refusalOf(send())).toBe('530 5.7.0 authenticate with a valid API key first')
    transport.close()
  })

  // threat: key-grants-beyond-its-rights
  test('is not enough when the key is revoked while DATA arrives', async () => {
    const value = await relay.mintKey('example.com', 'live', ['send'])
    const { records } = await relay.store.apiKeys.list(relay.organizationId, { limit: 100, after: null })
    const { id } = records.find(({ prefix }) => value.startsWith(prefix))!
    const begun = Promise.withResolvers<void>()
    const { onMailFrom } = relay.handler
    relay.handler.onMailFrom = async (...said) => {
      await onMailFrom?.(...said)
      begun.resolve()
    }
    const raw = Readable.from(
      (async function* () {
        yield 'From: shop@example.com\r\nTo: ann@remote.example\r\nSubject: late\r\n\r\n'
        await begun.promise
        await relay.store.apiKeys.revoke(id, relay.clock.now())
        yield 'the rest\r\n'
      })(),
    )
    const envelope = { from: 'shop@example.com', to: ['ann@remote.example'] }
    const refused = refusalOf(relay.client(value).sendMail({ envelope, raw }))
    expect(await refused).toBe('530 5.7.0 authenticate with a valid API key first')
    relay.handler.onMailFrom = onMailFrom
  })
})

describe('the mail of the author', () => {
  test('is kept byte for byte, except for our headers, private ones, and its 8-bit text', async () => {
    const body = 'Zeile eins\r\n.\r\n..zwei\r\nGr\xfc\xdfe \xe2\x82\xac\r\n\r\n\r\n'
    const kept = [
      'Received: from app by shop',
      'X-Odd:   two  spaces\t',
      'From: "Shop" <shop@example.com>',
      'To: Ann <ann@remote.example>,',
      '\tbob@remote.example',
      'Subject: =?iso-8859-1?Q?Gr=FC=DFe?=',
      'Date: Fri, 20 Nov 2026 10:00:00 +0100',
      'Message-Id: <own@example.com>',
      'Content-Type: text/plain; charset=iso-8859-1',
      'MIME-Version: 1.0',
      'Content-Transfer-Encoding: 8bit',
    ]
    const gone = ['Return-Path: <x@y.example>', 'Bcc: eve@remote.example,', ' z@remote.example', 'X-Service-Tags: a']
    const mail = mailOf([...kept.slice(0, 3), ...gone, ...kept.slice(3)], body)
    const id = await taken(Buffer.from(mail, 'latin1'), [ANN, 'bob@remote.example', 'eve@remote.example'])
    const { text } = await relay.ask('GET', `/v1/messages/${id}/content`)
    expect(JSON.parse(text)).toMatchObject({ subject: 'Grüße', headers: { 'X-Odd': 'two  spaces' } })
    const bytes = Buffer.from(await (await rawBytes(id)).arrayBuffer())
    expect(withoutSignatures(bytes.toString('latin1'))).toBe(
      mailOf(kept, body)
        .replace('Encoding: 8bit', 'Encoding: quoted-printable')
        .replace('Gr\xfc\xdfe \xe2\x82\xac', 'Gr=FC=DFe =E2=82=AC'),
    )
    expect(await record(id)).toMatchObject({
      from: 'Shop <shop@example.com>',
      to: ['Ann <ann@remote.example>', 'bob@remote.example'],
      bcc: ['eve@remote.example'],
      cc: null,
      subject: 'Grüße',
      message_id_header: '<own@example.com>',
      source: 'smtp',
    })
  })

  const rawBytes = (id: string) =>
    relay.api.fetch(
      new Request(`http://server/v1/messages/${id}/content?part=raw`, {
        headers: { authorization: `Bearer ${relay.keys.live}` },
      }),
    )

  test.each(['root@localhost', 'www-data@web1', 'nobody', 'a..b@example.com', '', 'someone@elsewhere.example'])(
    'may have %j as its envelope sender, which nothing uses',
    async (from) => {
      const raw = mailOf(['From: shop@example.com'])
      const id = idOf(await relay.handIn({ envelope: { from, to: [ANN] }, raw }))
      expect(await record(id)).toMatchObject({ from: 'shop@example.com', status: 'queued' })
    },
  )

  test.each([
    'shop@example.com (Cron Daemon)',
    'My Shop (no reply) <shop@example.com>',
    '=?utf-8?q?Shop=2C_Inc=2E?= <shop@example.com>',
    'Shop <shop@example.com> (no\r\n reply)',
    '(Cron\r\n\t(root)) shop@example.com',
    '"Shop \\"A\\""\r\n <shop@example.com>,',
    'Shop  Inc. < shop @example.com >',
  ])('with From %j has one author, and keeps its spelling', async (from) => {
    const id = await taken(mailOf([`From: ${from}`]))
    expect((await record(id)).from).toContain('shop@example.com')
    expect(await rawOf(id)).toContain(`From: ${from}\r\n`)
  })

  test('gets a Date and a Message-ID only where it has none', async () => {
    const bare = await taken(mailOf(['From: shop@example.com', 'Message-ID:', 'Date: ']))
    const header = withoutSignatures(await rawOf(bare))
    const messageId = `<${bare.slice(4)}@example.com>`
    expect(header).toBe(
      mailOf(['Date: Sat, 21 Nov 2026 12:00:00 +0000', `Message-ID: ${messageId}`, 'From: shop@example.com']),
    )
    expect((await record(bare)).message_id_header).toBe(messageId)

    const dated = await taken(mailOf(['Date: Fri, 20 Nov 2026 10:00:00 +0100', 'From: shop@example.com']))
    expect(withoutSignatures(await rawOf(dated))).toStartWith(
      `Message-ID: <${dated.slice(4)}@example.com>\r\nDate: Fri`,
    )
  })

  test('may be in UTF-8, including its headers', async () => {
    const id = await taken(
      mailOf(['From: Jürgen <shop@example.com>', 'Subject: Grüße 🎁', 'To: Ännchen <ann@remote.example>'], 'ß\r\n'),
    )
    expect(await record(id)).toMatchObject({
      from: 'Jürgen <shop@example.com>',
      subject: 'Grüße 🎁',
      to: ['Ännchen <ann@remote.example>'],
    })
    expect((await relay.ask('GET', `/v1/messages/${id}/content?part=text`)).text).toBe('ß\n')
  })

  test('from a mail library arrives with html, text and attachments unchanged', async () => {
    const content = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31 + (i >> 8)) & 255))
    const response = await relay.handIn({
      from: { name: 'Shop, Inc.', address: 'shop@example.com' },
      to: 'Ann <ann@remote.example>',
      cc: 'bob@remote.example',
      bcc: 'eve@remote.example',
      replyTo: 'help@elsewhere.example',
      subject: 'Grüße',
      html: '<p>Grüße <a href="https://shop.example/x">hier</a></p>',
      text: 'Grüße',
      attachments: [{ filename: 'Übersicht.bin', content }],
    })
    const id = idOf(response)
    expect(await record(id)).toMatchObject({
      from: '"Shop, Inc." <shop@example.com>',
      to: ['Ann <ann@remote.example>'],
      cc: ['bob@remote.example'],
      bcc: ['eve@remote.example'],
      reply_to: ['help@elsewhere.example'],
      subject: 'Grüße',
      tags: [],
      metadata: {},
    })
    const raw = await rawOf(id)
    expect(raw).not.toContain('eve@')
    const mail = await simpleParser(raw)
    expect(createHash('sha256').update(mail.attachments[0]!.content).digest()).toEqual(
      createHash('sha256').update(content).digest(),
    )
    const { body } = await relay.ask('GET', `/v1/messages/${id}/content`)
    expect(body).toMatchObject({
      html: expect.stringContaining('<a href="https://shop.example/x">'),
      text: expect.stringMatching(/^Grüße\n*$/),
      attachments: [{ filename: 'Übersicht.bin', content_type: 'application/octet-stream', size_bytes: 70_000 }],
    })
    expect((await relay.ask('GET', `/v1/messages/${id}/content?part=html`)).text).toStartWith('<p>Grüße')
  })

  test('can be sent again, as a new mail', async () => {
    const id = await taken(
      mailOf([
        'Date: Fri, 20 Nov 2026 10:00:00 +0100',
        'From: shop@example.com',
        'Message-ID: <own@example.com>',
        'X-Service-Tags: again',
        'X: y',
      ]),
    )
    const { status, body } = await relay.ask('POST', `/v1/messages/${id}/resend`)
    expect(status).toBe(202)
    expect(await record(body.id)).toMatchObject({ to: [], bcc: [ANN], tags: ['again'], source: 'api' })
    expect(withoutSignatures(await rawOf(body.id))).toBe(
      mailOf([
        'Date: Sat, 21 Nov 2026 12:00:00 +0000',
        `Message-ID: <${body.id.slice(4)}@example.com>`,
        'From: shop@example.com',
        'X: y',
      ]),
    )
  })
})

describe('a mail is refused', () => {
  const CASES: [what: string, headers: string[], reply: string][] = [
    ['without From', ['To: ann@remote.example'], '550 5.6.0 From is missing'],
    ['with two From', ['From: shop@example.com', 'From: shop@example.com'], '550 5.6.0 From must appear only once'],
    [
      'with two Subjects',
      ['From: shop@example.com', 'Subject: a', 'subject: b'],
      '550 5.6.0 subject must appear only once',
    ],
    ['with two authors', ['From: shop@example.com, ceo@example.com'], '550 5.6.0 From must be one address such as'],
    ['with an author in a group', ['From: us:shop@example.com;'], '550 5.6.0 From must be one address such as'],
    [
      'with an encoded word in the address of its author',
      ['From: =?utf-8?q?ceo=40bank.example?=@example.com'],
      '550 5.6.0 From must not contain an encoded word in an address',
    ],
    [
      'with an encoded word in a Reply-To address',
      ['From: shop@example.com', 'Reply-To: Bank <=?utf-8?q?ceo,bank?=@example.com>'],
      '550 5.6.0 Reply-To must not contain an encoded word in an address',
    ],
    [
      'from another domain',
      ['From: shop@other.example'],
      '550 5.7.1 from must be an address at example.com, the domain of this API key',
    ],
    [
      'from a subdomain',
      ['From: shop@sub.example.com'],
      '550 5.7.1 from must be an address at example.com, the domain of this API key',
    ],
    [
      'with a line that is not a field',
      ['From: shop@example.com', 'nonsense'],
      '550 5.6.0 the header section contains a line',
    ],
    [
      'with an mbox line behind a field',
      ['From: shop@example.com', 'From shop Sat Nov 21'],
      '550 5.6.0 the header section contains a line',
    ],
    ['that is in a loop', [...Array(51).fill('Received: by x'), 'From: shop@example.com'], '554 5.4.6 mail loop'],
    [
      'with a thousand fields',
      ['From: shop@example.com', ...Array(1000).fill('X-Y: z')],
      '550 5.6.0 the header section',
    ],
    [
      'with metadata that is not JSON',
      ['From: shop@example.com', 'X-Service-Metadata: order=17'],
      '550 5.6.0 X-Service-Metadata must be a JSON object',
    ],
    [
      'with metadata that is not an object',
      ['From: shop@example.com', 'X-Service-Metadata: [1]'],
      '550 5.6.0 X-Service-Metadata must be an object',
    ],
    [
      'with metadata of another type',
      ['From: shop@example.com', 'X-Service-Metadata: {"a": {}}'],
      '550 5.6.0 X-Service-Metadata.a must be a string, a number or a boolean',
    ],
    [
      'with a tag that is too long',
      ['From: shop@example.com', `X-Service-Tags: a, ${'b'.repeat(65)}`],
      '550 5.6.0 X-Service-Tags[1] must be 1 to 64 characters',
    ],
    [
      'with too many tags',
      ['From: shop@example.com', 'X-Service-Tags: a,b,c,d,e,f,g,h,i,j,k'],
      '550 5.6.0 X-Service-Tags must contain at most 10 tags',
    ],
    [
      'with the name of no stream',
      ['From: shop@example.com', 'X-Service-Stream: no such'],
      '550 5.6.0 X-Service-Stream must be the name of a message stream',
    ],
    [
      'with a stream that is not configured',
      ['From: shop@example.com', 'X-Service-Stream: other'],
      '550 5.6.0 stream must be one of: bulk, transactional',
    ],
    [
      'with a bad idempotency key',
      ['From: shop@example.com', 'X-Service-Idempotency-Key:'],
      '550 5.6.0 X-Service-Idempotency-Key must be 1 to 255 printable ASCII characters',
    ],
  ]

  // All at once: each connection waits 100 ms for its banner.
  let replies: string[]
  let counts: number[]
  beforeAll(async () => {
    const before = await countOf()
    replies = await Promise.all(CASES.map(([, headers]) => refused(mailOf(headers))))
    counts = [before, await countOf()]
  })

  test.each(CASES.map(([what, , reply], i) => [what, reply, i] as const))('%s', (_, reply, i) => {
    expect(replies[i]).toStartWith(reply)
    expect(counts[1]).toBe(counts[0]!)
  })

  test('for a domain that is not verified, as by the API', async () => {
    const { body } = await relay.send({ ...MAIL, from: 'a@new.example' }, { key: relay.keys.unverified })
    expect(await refused(mailOf(['From: a@new.example']), relay.keys.unverified)).toBe(
      `550 5.7.1 ${body.error.message}`,
    )
  })

  const countOf = async () => (await relay.ask('GET', '/v1/messages?limit=100')).body.data.length
})

describe('data beside the mail', () => {
  test('such as tags and metadata is in the record and in every event, and not in the mail', async () => {
    const metadata = { order: 'o-17', name: 'Jürgen', gift: true, note: 'many words '.repeat(30).trim() }
    const id = idOf(
      await relay.handIn(
        {
          ...{ from: 'shop@example.com', to: 'bounce@remote.example', text: 'x' },
          headers: { 'X-Service-Tags': 'receipt, größe,receipt', 'X-Service-Metadata': JSON.stringify(metadata) },
        },
        relay.keys.test,
      ),
    )
    expect(await record(id)).toMatchObject({ tags: ['receipt', 'größe'], metadata, mode: 'test', status: 'bounced' })
    const { body } = await relay.ask('GET', `/v1/messages/${id}/events`)
    expect(body.data).toMatchObject([{ type: 'message.bounced', data: { tags: ['receipt', 'größe'], metadata } }])
    expect(await rawOf(id)).not.toContain('X-Service')
  })

  test('is simulated for a sandbox key by the local part, with a click on the link of the mail', async () => {
    const html = '<a href="https://shop.example/offer">offer</a>'
    const send = (to: string) => relay.handIn({ from: 'shop@example.com', to, html }, relay.keys.test)
    const id = idOf(await send('click@remote.example'))
    const { body } = await relay.ask('GET', `/v1/messages/${id}/events`)
    expect(body.data.find(({ type }: { type: string }) => type === 'message.clicked').data.url).toBe(
      'https://shop.example/offer',
    )
    expect((await record(idOf(await send('suppressed@remote.example')))).status).toBe('suppressed')
  })

  test('includes a suppressed recipient, who is accepted and not tried', async () => {
    const { organizationId, mintId } = relay
    const email = 'gone@remote.example'
    const suppression = {
      id: mintId('sup'),
      organizationId,
      domainId: null,
      stream: null,
      email,
      reason: 'manual' as const,
      evidence: null,
      mode: 'live' as const,
    }
    await relay.store.suppressions.add({ ...suppression, messageId: null, createdAt: relay.clock.now() })
    const id = await taken(mailOf(['From: shop@example.com', 'To: Gone@remote.example']), ['Gone@remote.example', ANN])
    expect((await record(id)).recipients).toMatchObject([{ status: 'suppressed' }, { status: 'queued', type: 'bcc' }])
  })
})

describe('plan and limits', () => {
  test('a used-up month is a permanent error, a used-up minute a temporary one', async () => {
    const small = await openRelay({ plan: { messagesPerMonth: 2, requestsPerMinute: 3 } })
    const transport = small.client(undefined, { pool: true, maxConnections: 1 })
    const send = (to: string[]) =>
      refusalOf(transport.sendMail({ from: 'shop@example.com', to, text: 'x' }).then(({ response }) => response))
    expect(await send([ANN, 'bob@remote.example', 'eve@remote.example'])).toBe(
      '550 5.7.1 Your plan allows 2 recipients per month; 0 are already used.',
    )
    expect(await send([ANN, 'bob@remote.example'])).toStartWith('taken: 250')
    expect(await send([ANN])).toStartWith('550 5.7.1 Your plan allows')
    expect(await send([ANN])).toBe('451 4.7.1 rate limit of 3 requests per minute exceeded, try again in 60 seconds')
    const overHttp = await small.send(MAIL)
    expect(overHttp.status).toBe(429)
    transport.close()
    await small.close()
  })

  test('a mail over the limit of a message gets 552', async () => {
    const small = await openRelay({ messageBytes: 10_000 })
    const mail = { from: 'shop@example.com', to: ANN, text: 'x'.repeat(20_000) }
    expect(await refusalOf(small.handIn(mail))).toStartWith('552 5.3.4 The whole message would have')
    await small.close()
  })

  test('fifty recipients are accepted, and the next ones are left to another mail', async () => {
    const to = Array.from({ length: 52 }, (_, i) => `u${i}@remote.example`)
    const transport = relay.client()
    const { accepted, rejected, response } = await transport.sendMail({ from: 'shop@example.com', to, text: 'x' })
    expect([accepted.length, rejected]).toEqual([50, to.slice(50)])
    expect((await record(idOf(response))).recipients).toHaveLength(50)
    transport.close()
  })
})
