import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTransport } from 'nodemailer'
import { unpackRaw } from '../../src/mail/inbound-content.ts'
import type { InboundMessage } from '../../src/model/inbound-message.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { createSmtpListener } from '../../src/receiving/smtp-server/listener.ts'
import { LIMITS } from '../../src/receiving/smtp-server/settings.ts'
import { type AcceptedInbound, StoreUnavailable } from '../../src/storage/store.ts'
import { createInboundSetup, HOSTNAME, type InboundSetup, MAIL, PASSED, START } from './setup.ts'

/** The inbound handler behind its listener, over real sockets. */

const WEBHOOK = {
  type: 'webhook',
  config: { url: 'https://app.test/in', includeAttachments: false, headerNames: [] as string[] },
} as const

let setup: InboundSetup
let port: number
let isFull = false
const undo: (() => unknown)[] = []

beforeAll(async () => {
  setup = await createInboundSetup({
    wrapStore: (store) => ({
      ...store,
      inbound: {
        ...store.inbound,
        accept: async (accepted: AcceptedInbound) => {
          if (isFull) throw new StoreUnavailable('disk full')
          return store.inbound.accept(accepted)
        },
      },
    }),
  })
  await setup.addRoute({ type: 'address', value: 'info@ours.test' }, { name: 'info', action: WEBHOOK })
  await setup.addRoute({ type: 'pattern', value: 'order-*@ours.test' }, { name: 'orders' })
  await setup.addRoute({ type: 'address', value: '"a..b"@ours.test' }, { name: 'dots' })
  await setup.addRoute({ type: 'address', value: 'strict@ours.test' }, { authentication: 'dmarc' })

  const spoolDir = mkdtempSync(join(tmpdir(), 'postrider-inbound-'))
  const certificate = await selfSignedCertificate({ names: [HOSTNAME], now: systemClock.now() })
  const listener = createSmtpListener(
    {
      hostname: HOSTNAME,
      tls: 'starttls',
      certificate,
      loginNeedsTls: true,
      spoolDir,
      limits: { ...LIMITS, messageBytes: 1_000_000, connections: 50, connectionsPerAddress: 50 },
    },
    setup.handler,
    { name: 'inbound', clock: systemClock, log: silentLog },
  )
  port = (await listener.listen({ host: '127.0.0.1', port: 0 })).port
  undo.push(
    () => rmSync(spoolDir, { recursive: true }),
    () => setup.store.close(),
    () => listener.stop(0),
  )
})
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})
beforeEach(() => {
  isFull = false
  Object.assign(setup.findings, { verdicts: PASSED, dmarcPolicy: 'none' })
})

/** Mail accepted since the last call. */
const seen = new Set<string>()
async function fresh(): Promise<InboundMessage[]> {
  const organizationId = setup.organization.id
  const filter = { organizationId, routeId: null, domainId: null, from: null, to: null, status: null }
  const range = { createdAfter: null, createdBefore: null }
  const { records } = await setup.store.inbound.list({ ...filter, ...range }, { limit: 100, after: null })
  const unseen = records.filter(({ id }) => !seen.has(id))
  for (const { id } of unseen) seen.add(id)
  return unseen
}

const client = () =>
  createTransport({ host: '127.0.0.1', port, name: 'mx.author.test', tls: { rejectUnauthorized: false } })

/** Lines sent one after the other, each after the previous reply → the last lines of the replies. */
async function dialog(lines: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  const replies: string[] = []
  const waiting = [...lines]
  for await (const line of createInterface({ input: socket })) {
    if (line[3] === '-') continue
    replies.push(line)
    const next = waiting.shift()
    if (next === undefined) break
    socket.write(`${next}\r\n`)
  }
  socket.destroy()
  return replies.slice(1)
}

const GREETING = ['EHLO mx.author.test', 'MAIL FROM:<ann@author.test>']

test.each([
  ['<abc.@carrier.test>', '<a..b@ours.test>', '"abc."@carrier.test', '"a..b"@ours.test'],
  ['<"abc."@carrier.test>', '<"a..b"@ours.test>', '"abc."@carrier.test', '"a..b"@ours.test'],
  ['<..@carrier.test>', '<A..B+x@Ours.test>', '".."@carrier.test', '"A..B+x"@ours.test'],
  ['<root@localhost>', '<order-..@ours.test>', 'root@localhost', '"order-.."@ours.test'],
  ['ann@author.test', 'info@ours.test', 'ann@author.test', 'info@ours.test'],
  ['<a@[192.0.2.7]>', '< info@ours.test. >', 'a@[192.0.2.7]', 'info@ours.test'],
])('mail from %s to %s reaches its route, with both in one spelling', async (from, to, returnPath, recipient) => {
  const replies = await dialog([GREETING[0]!, `MAIL FROM:${from}`, `RCPT TO:${to}`, 'DATA', `${MAIL}.`, 'QUIT'])
  expect(replies[4]).toStartWith('250 2.0.0 inb_')
  expect(await fresh()).toMatchObject(
    [{ returnPath, to: [recipient], action: 'webhook' }].map((each) =>
      recipient === 'info@ours.test' ? each : { ...each, action: 'store' },
    ),
  )
})

describe('a mail library', () => {
  test('delivers a mail to two routes, with tags, over TLS', async () => {
    const sent = await client().sendMail({
      from: 'Ann <ann@author.test>',
      to: ['info+invoice@ours.test', 'Order-17@ours.test'],
      subject: 'two of you',
      text: 'a line\n.\n..and dots\n',
    })
    expect(sent.response).toMatch(/^250 2\.0\.0 inb_\S+ and 1 more accepted$/)

    const came = (await fresh()).toSorted((a, b) => (a.action < b.action ? 1 : -1))
    expect(came).toMatchObject([
      { action: 'webhook', to: ['info+invoice@ours.test'], subject: 'two of you', returnPath: 'ann@author.test' },
      { action: 'store', to: ['Order-17@ours.test'], from: 'ann@author.test', helo: 'mx.author.test' },
    ])
    expect(came[0]!.tls).toStartWith('TLSv1.')
    expect(came[0]!.senderIp).toBe('127.0.0.1')
    const raw = Buffer.from(unpackRaw((await setup.store.inbound.raw(came[0]!.id))!)).toString()
    expect(raw).toContain('\r\na line\r\n.\r\n..and dots\r\n')
    expect(setup.jobs.at(-1)!.envelope).toMatchObject({ remoteAddress: '127.0.0.1', protocol: 'ESMTPS' })
  })

  test('gets the reason when its mail is refused for missing authentication', async () => {
    Object.assign(setup.findings, { verdicts: { ...PASSED, dmarc: 'fail' }, dmarcPolicy: 'reject' })
    const mail = { from: 'ann@author.test', subject: 'forged', text: 'hello' }
    const refused = await client()
      .sendMail({ ...mail, to: 'strict@ours.test' })
      .catch((error: { response: string }) => error.response)
    expect(refused).toBe('550 5.7.1 message rejected: DMARC result of the author domain is fail')
    expect(await fresh()).toEqual([])
    expect(await client().sendMail({ ...mail, to: 'info@ours.test' })).toMatchObject({ rejected: [] })
    expect(await fresh()).toMatchObject([{ verdicts: { dmarc: 'fail' } }])
  })
})

describe('a dialogue', () => {
  const foreign = [
    'user@foreign.test',
    '@ours.test:user@foreign.test',
    '@foreign.test,@ours.test:info@ours.test',
    'user%ours.test@foreign.test',
    'user%foreign.test@ours.test',
    'foreign.test!user@ours.test',
    'ours.test!user@foreign.test',
    '"user@foreign.test"@ours.test',
    '"info@ours.test"@foreign.test',
    '"user"@foreign.test',
    'user@foreign.test@ours.test',
    'user@foreign.test.',
    'info@ours.test@foreign.test',
    'user@[127.0.0.1]',
    'user@[IPv6:::1]',
    'user@127.0.0.1',
    'user@xn--bcher-kva.test',
    'user@sub.ours.test',
    'user@bounces.ours.test',
    'user',
    'postmaster',
    ' ',
  ]
  test('refuses foreign recipients permanently, however they are written', async () => {
    const half = foreign.length / 2 // a client with too many errors is disconnected
    for (const paths of [foreign.slice(0, half), foreign.slice(half)]) {
      const replies = await dialog([...GREETING, ...paths.map((path) => `RCPT TO:<${path}>`), 'DATA', 'QUIT'])
      const answers = replies.slice(GREETING.length)
      expect(paths.filter((_, n) => !/^5(50 5\.7\.1|50 5\.1\.1|01 5\.5\.[24]) /.test(answers[n]!))).toEqual([])
      expect(replies.slice(-2).map((line) => line.slice(0, 3))).toEqual(['503', '221'])
    }
  })

  test('accepts mail for a postmaster without a domain, in any letter case, if a route takes that of our own name', async () => {
    const to = ['RCPT TO:<Postmaster>', `RCPT TO:<postMaster@${HOSTNAME.toUpperCase()}>`]
    const nobody = await dialog(['EHLO mx.author.test', 'MAIL FROM:<>', ...to, 'QUIT'])
    expect(nobody.slice(2, 4)).toEqual([
      `550 5.1.1 <Postmaster@${HOSTNAME}>: no such recipient`,
      `550 5.1.1 <postMaster@${HOSTNAME}>: no such recipient`,
    ])

    await setup.addDomain(HOSTNAME)
    await setup.addRoute({ type: 'address', value: `postmaster@${HOSTNAME}` })
    const taken = await dialog(['EHLO mx.author.test', 'MAIL FROM:<>', ...to, 'DATA', `${MAIL}.`, 'QUIT'])
    expect(taken.slice(2, 6).map((line) => line.slice(0, 9))).toEqual([
      '250 2.1.5',
      '250 2.1.5',
      '354 end d',
      '250 2.0.0',
    ])
    expect(await fresh()).toMatchObject([{ to: [`Postmaster@${HOSTNAME}`, `postMaster@${HOSTNAME}`], returnPath: '' }])
  })

  test('separates recipients that need another answer, and accepts the rest', async () => {
    const replies = await dialog([
      ...GREETING,
      'RCPT TO:<info@ours.test>',
      'RCPT TO:<complaints@bounces.ours.test>',
      'RCPT TO:<strict@ours.test>',
      'RCPT TO:<nobody@ours.test>',
      'RCPT TO:<ORDER-1@OURS.TEST>',
      'DATA',
      `${MAIL}.`,
      'MAIL FROM:<>',
      'RCPT TO:<complaints@bounces.ours.test>',
      'RCPT TO:<info@ours.test>',
      'DATA',
      `${MAIL}.`,
      'QUIT',
    ])
    expect(replies.slice(GREETING.length).map((line) => /^354|^\S+ \S+/.exec(line)![0])).toEqual([
      '250 2.1.5',
      '452 4.5.3',
      '452 4.5.3',
      '550 5.1.1',
      '250 2.1.5',
      '354',
      '250 2.0.0',
      '250 2.1.0',
      '250 2.1.5',
      '452 4.5.3',
      '354',
      '250 2.0.0',
      '221 2.0.0',
    ])
    expect((await fresh()).map(({ to }) => to).sort()).toEqual([['ORDER-1@ours.test'], ['info@ours.test']])
    expect(setup.reports).toMatchObject([{ content: { kind: 'notice' }, recipients: [{ kind: 'complaints' }] }])
  })

  test('gets 4yz while the store cannot write, and nothing is kept', async () => {
    isFull = true
    const mail = ['RCPT TO:<info@ours.test>', 'DATA', `${MAIL}.`]
    expect((await dialog([...GREETING, ...mail])).at(-1)).toMatch(/^45[12] 4\.3\.\d /)
    expect(await fresh()).toEqual([])
    isFull = false
    expect((await dialog([...GREETING, ...mail])).at(-1)).toStartWith('250 2.0.0 ')
    expect(await fresh()).toHaveLength(1)
  })

  test('that ends before the final dot leaves nothing', async () => {
    const half = ['RCPT TO:<info@ours.test>', 'DATA', MAIL]
    const socket = connect(port, '127.0.0.1')
    const waiting = [...GREETING, ...half]
    for await (const line of createInterface({ input: socket })) {
      if (line[3] === '-') continue
      socket.write(`${waiting.shift()}\r\n`)
      if (waiting.length === 0) break
    }
    socket.end()
    await new Promise((resolve) => socket.once('close', resolve))
    expect((await dialog([...GREETING, 'QUIT'])).at(-1)).toStartWith('221')
    expect(await fresh()).toEqual([])
  })
})

test('the time of receipt is the end of DATA', async () => {
  const before = systemClock.now()
  await client().sendMail({ from: 'ann@author.test', to: 'info@ours.test', subject: 'when', text: 'now' })
  const [message] = await fresh()
  expect(message!.receivedAt).toBeGreaterThanOrEqual(before)
  expect(message!.receivedAt).toBeLessThanOrEqual(systemClock.now())
  expect(message!.receivedAt).not.toBe(START)
})
