import { afterEach, expect, test } from 'bun:test'
import { nowMs } from '../../src/sending/outbound/smtp/dialogue.ts'
import type { Peer } from '../../src/sending/outbound/smtp/peer.ts'
import { TIMEOUTS } from '../../src/sending/outbound/smtp/timeouts.ts'
import { createTranscript } from '../../src/sending/outbound/smtp/transcript.ts'
import { createTransport, type Offered, type Transport } from '../../src/sending/outbound/smtp/transport.ts'
import { toWire } from '../../src/sending/outbound/smtp/wire-mail.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import { type Cue, type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop()
})

const MAIL = toWire([Buffer.from('From: a@b.test\r\n\r\nhello\r\n')])
/** For calls that hang; the steps before must also finish within it, however slow the machine is. */
const SHORT_MS = TEST_LIMIT_MS / 150
const SHORT = { ...TIMEOUTS, greetingMs: SHORT_MS, commandMs: SHORT_MS, dataMs: SHORT_MS }

async function raw(options: Parameters<typeof startRawMx>[0] = {}): Promise<RawMx> {
  const mx = await startRawMx(options)
  open.push(mx)
  return mx
}

function transport(options: Partial<Parameters<typeof createTransport>[0]> = {}): Transport {
  const made = createTransport({
    hostname: 'out.sender.test',
    sourceAddress: null,
    timeouts: TIMEOUTS,
    ...options,
  })
  open.push(made)
  return made
}

const peer = (mx: { port: number }, more: Partial<Peer> = {}): Peer => ({
  host: 'mx.raw.test',
  address: '127.0.0.1',
  port: mx.port,
  tls: 'starttls',
  demand: 'none',
  login: null,
  ...more,
})

async function offer(
  via: Transport,
  to: Peer,
  more: { recipient?: string; returnPath?: string; mail?: typeof MAIL; budgetMs?: number; maxMails?: number } = {},
): Promise<Offered & { transcript: string }> {
  const transcript = createTranscript(nowMs)
  const envelope = { returnPath: more.returnPath ?? 'r@sender.test', recipient: more.recipient ?? 'anna@raw.test' }
  const { mail = MAIL, budgetMs = 60_000 } = more
  const destination = { name: 'raw.test', connections: 2, maxMails: more.maxMails ?? 500 }
  const offered = await via.offer({ peer: to, destination, envelope, mail, transcript, budgetMs })
  return { ...offered, transcript: transcript.text() }
}

const at =
  (where: Cue, move: Move, connection?: number) =>
  (cue: Cue, _line: string, number: number): Move | null =>
    cue === where && (connection === undefined || connection === number) ? move : null

test('empty lines around replies change nothing, also on a connection that carries two mails', async () => {
  const mx = await raw({
    script: (cue) => {
      if (cue === 'EHLO') return '\r\n250-mx.raw.test\r\n\r\n250 PIPELINING\r\n'
      if (cue === 'MAIL') return '\r\n250 2.1.0 ok\r\n \r\n'
      if (cue === 'DATA') return '354 go ahead\r\n'
      return cue === 'DOT' ? '250 2.0.0 queued\r\n\r\n' : null
    },
  })
  const via = transport()
  for (const _ of [1, 2]) {
    const { answer } = await offer(via, peer(mx))
    expect(answer).toEqual({ kind: 'reply', stage: 'content', reply: { code: 250, enhanced: '2.0.0', text: 'queued' } })
  }
  expect(mx.connections()).toBe(1)
})

test('a mail is sent in one connection, one group of commands and one write, and is accepted', async () => {
  const mx = await raw()
  const { answer, transcript } = await offer(transport(), peer(mx))
  expect(answer).toEqual({ kind: 'reply', stage: 'content', reply: { code: 250, enhanced: '2.0.0', text: 'queued' } })
  expect(mx.heard).toEqual([
    '<connect>',
    'EHLO out.sender.test',
    'MAIL FROM:<r@sender.test> SIZE=25',
    'RCPT TO:<anna@raw.test>',
    'DATA',
    '<mail>',
  ])
  expect(mx.mails[0]!.toString()).toBe('From: a@b.test\r\n\r\nhello\r\n')
  expect(transcript.replace(/^\d+ /gm, '').replaceAll(String(mx.port), 'PORT')).toBe(
    [
      '-- connecting to mx.raw.test [127.0.0.1]:PORT',
      'S: 220 mx.raw.test ESMTP',
      'C: EHLO out.sender.test',
      'S: 250-mx.raw.test',
      'S: 250-PIPELINING',
      'S: 250-8BITMIME',
      'S: 250 SIZE 0',
      'C: MAIL FROM:<r@sender.test> SIZE=25',
      'C: RCPT TO:<anna@raw.test>',
      'C: DATA',
      'S: 250 2.0.0 ok',
      'S: 250 2.0.0 ok',
      'S: 354 go ahead',
      'C: <25 bytes>',
      'S: 250 2.0.0 queued',
    ].join('\n'),
  )
})

test('twenty mails share the two connections that a server may have', async () => {
  const mx = await raw()
  const via = transport()
  const all = await Promise.all(Array.from({ length: 20 }, () => offer(via, peer(mx))))
  expect(all.every(({ answer }) => answer.kind === 'reply' && answer.reply.code === 250)).toBe(true)
  expect(mx.connections()).toBe(2)
  expect(mx.mails.length).toBe(20)
})

test('without PIPELINING each command waits for its reply', async () => {
  const mx = await raw({ extensions: [] })
  const { answer } = await offer(transport(), peer(mx), { returnPath: '' })
  expect(answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(mx.heard.slice(2, 5)).toEqual(['MAIL FROM:<>', 'RCPT TO:<anna@raw.test>', 'DATA'])
})

test('a server that does not know EHLO is greeted with HELO', async () => {
  const mx = await raw({ script: at('EHLO', '502 5.5.1 what?') })
  expect((await offer(transport(), peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(mx.heard).toContain('HELO out.sender.test')
})

const REFUSALS: [where: Cue, stage: string, reply: string][] = [
  ['CONNECT', 'greeting', '554 5.7.1 go away'],
  ['EHLO', 'ehlo', '421 4.3.2 busy'],
  ['MAIL', 'mail', '550 5.7.1 sender refused'],
  ['RCPT', 'rcpt', '550 5.1.1 no such user'],
  ['RCPT', 'rcpt', '450 4.2.0 greylisted'],
  ['RCPT', 'rcpt', '421 4.7.0 closing'],
  ['DATA', 'data', '554 5.5.1 no'],
  ['DOT', 'content', '554 5.7.1 spam'],
  ['DOT', 'content', '451 4.3.0 later'],
]
for (const extensions of [['PIPELINING'], []]) {
  for (const [where, stage, reply] of REFUSALS) {
    // threat: smtp-connection-resets
    test(`${reply} to ${where} ${extensions.length > 0 ? 'in a group' : 'in lockstep'} is the result`, async () => {
      const mx = await raw({ extensions, script: at(where, reply) })
      const { answer } = await offer(transport(), peer(mx))
      expect(answer).toMatchObject({ kind: 'reply', stage, reply: { code: Number(reply.slice(0, 3)) } })
      expect(mx.mails.filter((mail) => mail.length > 0).length).toBe(where === 'DOT' ? 1 : 0)
    })
  }
}

test('a refused recipient in a group ends with a lone dot, and RSET opens the next mail on the same connection', async () => {
  const mx = await raw({ script: (cue, line) => (cue === 'RCPT' && line.includes('nobody') ? '550 5.1.1 no' : null) })
  const via = transport()
  expect((await offer(via, peer(mx), { recipient: 'nobody@raw.test' })).answer).toMatchObject({ reply: { code: 550 } })
  expect((await offer(via, peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(mx.connections()).toBe(1)
  expect(mx.mails.map(String)).toEqual(['', 'From: a@b.test\r\n\r\nhello\r\n'])
  expect(mx.heard).toContain('RSET')
})

test('421 to DATA behind a refused recipient ends the connection', async () => {
  let refused = 0
  const mx = await raw({
    script: (cue, line) => {
      if (cue === 'RCPT' && line.includes('nobody')) return '550 5.1.1 no'
      return cue === 'DATA' && refused++ === 0 ? '421 4.3.2 busy' : null
    },
  })
  const via = transport()
  expect((await offer(via, peer(mx), { recipient: 'nobody@raw.test' })).answer).toMatchObject({ reply: { code: 550 } })
  expect((await offer(via, peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(mx.connections()).toBe(2)
})

test('421 to a recipient in a group ends the connection without a lone dot', async () => {
  const mx = await raw({ script: at('RCPT', '421 4.7.0 closing') })
  expect((await offer(transport(), peer(mx))).answer).toMatchObject({ stage: 'rcpt', reply: { code: 421 } })
  await mx.hears('<close>')
  expect(mx.mails).toEqual([])
})

test('a kept connection that the server has closed in the meantime is not used again', async () => {
  const mx = await raw({ script: at('DOT', { do: 'say_and_drop', text: '250 2.0.0 queued\r\n' }, 1) })
  const via = transport()
  expect((await offer(via, peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  await mx.hears('<close>')
  const { answer, transcript } = await offer(via, peer(mx))
  expect(answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(transcript).toContain('connecting to')
  expect(transcript).not.toContain('the reused connection was closed')
})

for (const [name, move] of [
  ['drops', { do: 'drop' }],
  ['resets', { do: 'reset' }],
  ['says 421 and closes', { do: 'say_and_drop', text: '421 4.4.2 idle too long\r\n' }],
] as [string, Move][]) {
  test(`a kept connection that the server ${name} at the next mail is replaced once, without a fault`, async () => {
    let mails = 0
    const mx = await raw({ script: (cue) => (cue === 'MAIL' && ++mails === 2 ? move : null) })
    const via = transport()
    await offer(via, peer(mx))
    const { answer, transcript } = await offer(via, peer(mx))
    expect(answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
    expect(transcript).toContain('the reused connection was closed')
    expect(mx.connections()).toBe(2)
    expect(mx.mails.length).toBe(2)
  })
}

test('a fresh connection that is lost at MAIL is a fault: only kept ones are excused', async () => {
  const mx = await raw({ script: at('MAIL', { do: 'drop' }) })
  expect((await offer(transport(), peer(mx))).answer).toMatchObject({ kind: 'fault', stage: 'mail', afterDot: false })
  expect(mx.connections()).toBe(1)
})

const HANGS: [where: Cue, stage: string][] = [
  ['CONNECT', 'greeting'],
  ['EHLO', 'ehlo'],
  ['MAIL', 'mail'],
  ['RCPT', 'rcpt'],
  ['DATA', 'data'],
]
const drip = (where: Cue): Move => ({ do: 'drip', line: `${where === 'CONNECT' ? 220 : 250}-more\r\n`, everyMs: 5 })
for (const [name, moveAt] of [
  ['a server that falls silent is disconnected at any step', (): Move => ({ do: 'hang' })],
  ['a server that drips an endless reply is disconnected at any step', drip],
] as const) {
  // threat: hanging-mail-servers
  test(name, async () => {
    const answers = HANGS.map(async ([where]) => {
      const mx = await raw({ extensions: [], script: at(where, moveAt(where)) })
      return (await offer(transport({ timeouts: SHORT }), peer(mx))).answer
    })
    const fault = { class: 'timeout', code: '4.4.2' }
    const left = HANGS.map(([, stage]) => ({ kind: 'fault', stage, fault, afterDot: false }))
    expect(await Promise.all(answers)).toMatchObject(left)
  })
}

// threat: hanging-mail-servers
test('the whole dialogue is limited, however slow each single step is', async () => {
  const mx = await raw({ script: at('EHLO', { do: 'hang' }) })
  const { answer } = await offer(transport(), peer(mx), { budgetMs: SHORT_MS })
  expect(answer).toMatchObject({ kind: 'fault', stage: 'ehlo', fault: { class: 'timeout' } })
})

for (const [where, stage] of HANGS) {
  // threat: smtp-connection-resets
  test(`a server that resets the connection at ${where} has accepted nothing`, async () => {
    const mx = await raw({ extensions: [], script: at(where, { do: 'reset' }) })
    const { answer } = await offer(transport(), peer(mx))
    expect(answer).toMatchObject({ kind: 'fault', stage, afterDot: false })
  })
}

for (const where of ['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'DOT'] as const) {
  // threat: smtp-connection-resets
  test(`421 to ${where} and the end of the connection is that reply, not a lost connection`, async () => {
    const text = '421 4.3.2 shutting down\r\n'
    const mx = await raw({ extensions: [], script: at(where, { do: 'say_and_drop', text }) })
    const { answer } = await offer(transport(), peer(mx))
    expect(answer).toMatchObject({ kind: 'reply', reply: { code: 421, enhanced: '4.3.2' } })
  })
}

for (const [name, move] of [
  ['silent', { do: 'hang' }],
  ['lost', { do: 'drop' }],
  ['reset', { do: 'reset' }],
  ['nonsense', 'what is this'],
  ['354', '354 more?'],
] as [string, Move][]) {
  // threat: smtp-connection-resets
  test(`a connection that is ${name} after the final dot leaves the outcome unknown`, async () => {
    const mx = await raw({ script: at('DOT', move) })
    const { answer } = await offer(transport({ timeouts: { ...TIMEOUTS, finalDotMs: 120 } }), peer(mx))
    expect(answer).toMatchObject({ kind: 'fault', stage: 'content', afterDot: true })
  })
}

for (const [name, move, where, stage] of [
  ['a reply of 100 KB', `${'250-padding padding padding padding\r\n'.repeat(3000)}250 end`, 'EHLO', 'ehlo'],
  ['HTTP', { do: 'say_and_drop', text: 'HTTP/1.1 400 Bad Request\r\n'.repeat(21) }, 'CONNECT', 'greeting'],
  ['250 to DATA', '250 fine', 'DATA', 'data'],
  ['354 to MAIL', '354 go on', 'MAIL', 'mail'],
] as [string, Move, Cue, string][]) {
  // threat: broken-starttls
  test(`${name} is not SMTP: the connection is closed and the mail deferred`, async () => {
    const mx = await raw({ extensions: [], script: at(where, move) })
    const { answer } = await offer(transport(), peer(mx))
    expect(answer).toMatchObject({ kind: 'fault', stage, fault: { class: 'protocol' }, afterDot: false })
    await mx.hears('<close>')
  })
}

for (const [name, reply] of [
  ['prints a line before it', 'checking for viruses\r\n250 2.0.0 queued'],
  ['changes its code', '550-checking\r\n250 queued'],
] as const) {
  test(`a mail is delivered once to a server whose reply to the final dot ${name}, as by Postfix`, async () => {
    const mx = await raw({ script: at('DOT', reply) })
    const { answer } = await offer(transport({ timeouts: { ...TIMEOUTS, finalDotMs: 2_000 } }), peer(mx))
    expect(answer).toMatchObject({ kind: 'reply', stage: 'content', reply: { code: 250 } })
  })
}

test('any 3yz to DATA asks for the mail, as for Postfix', async () => {
  const mx = await raw({ script: at('DATA', '353 go on') })
  const { answer } = await offer(transport(), peer(mx))
  expect(answer).toMatchObject({ kind: 'reply', stage: 'content', reply: { code: 250 } })
})

test('a peer that speaks another protocol is shown with its words', async () => {
  const mx = await raw({ script: at('CONNECT', { do: 'say_and_drop', text: 'SSH-2.0-OpenSSH_9.2\r\n' }) })
  const { answer } = await offer(transport(), peer(mx))
  const message = expect.stringContaining('but sent a line that is not an SMTP reply: "SSH-2.0-OpenSSH_9.2"')
  expect(answer).toMatchObject({ fault: { message } })
})

test('connections come from the source address of the configuration', async () => {
  const mx = await raw()
  expect((await offer(transport({ sourceAddress: '127.0.0.2' }), peer(mx))).sourceAddress).toBe('127.0.0.2')
  const elsewhere = await offer(transport({ sourceAddress: '192.0.2.1' }), peer(mx))
  expect(elsewhere.answer).toMatchObject({ kind: 'fault', stage: 'connect', fault: { class: 'network' } })
})

test('a closed port is a fault at connect', async () => {
  const mx = await startRawMx()
  await mx.stop()
  const { answer } = await offer(transport(), peer(mx))
  expect(answer).toMatchObject({ kind: 'fault', stage: 'connect', fault: { class: 'network', code: '4.4.1' } })
})

test('a mail beyond the SIZE limit is not sent, and the connection serves the next', async () => {
  const mx = await raw({ extensions: ['PIPELINING', 'SIZE 30'] })
  const via = transport()
  const big = toWire([Buffer.from(`From: a@b.test\r\n\r\n${'x'.repeat(50)}\r\n`)])
  expect((await offer(via, peer(mx), { mail: big })).answer).toMatchObject({ kind: 'unfit', code: '5.3.4' })
  expect((await offer(via, peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(mx.connections()).toBe(1)
  expect(mx.mails.length).toBe(1)
})

test('an 8-bit mail is announced where 8BITMIME is offered and not sent elsewhere', async () => {
  const mail = toWire([Buffer.from('From: a@b.test\r\n\r\n\xe9\r\n', 'latin1')])
  const able = await raw({ extensions: ['8BITMIME'] })
  await offer(transport(), peer(able), { mail })
  expect(able.heard).toContain('MAIL FROM:<r@sender.test> BODY=8BITMIME')
  const unable = await raw({ extensions: [] })
  expect((await offer(transport(), peer(unable), { mail })).answer).toMatchObject({ kind: 'unfit', code: '5.6.3' })
})

test('SMTPUTF8 is requested only when an address requires it, and its lack is reported as 5.6.7', async () => {
  const able = await raw({ extensions: ['8BITMIME', 'SMTPUTF8'] })
  const via = transport()
  await offer(via, peer(able), { recipient: 'zoë@raw.test' })
  await offer(via, peer(able))
  const mails = able.heard.filter((line) => line.startsWith('MAIL'))
  expect(mails).toEqual(['MAIL FROM:<r@sender.test> SMTPUTF8', 'MAIL FROM:<r@sender.test>'])
  expect(Buffer.from(able.heard.find((line) => line.startsWith('RCPT'))!, 'latin1').toString()).toContain('zoë@')
  const unable = await raw()
  const { answer } = await offer(transport(), peer(unable), { recipient: 'zoë@raw.test' })
  expect(answer).toMatchObject({ kind: 'unfit', code: '5.6.7' })
})

// threat: header-and-recipient-injection
// threat: address-string-confusion
test('a line end in an address is never sent', async () => {
  const mx = await raw()
  const recipient = 'a@b>\r\nRCPT TO:<c@d'
  const failure = await offer(transport(), peer(mx), { recipient }).catch((error: Error) => error.message)
  expect(failure).toContain('control character')
  expect(mx.heard.some((line) => line.startsWith('MAIL'))).toBe(false)
})

test('a server that refuses the recipient, accepts DATA and then stays silent blocks nobody', async () => {
  const script = (cue: Cue): Move | null => {
    if (cue === 'RCPT') return '550 5.1.1 no such user'
    return cue === 'DOT' ? { do: 'hang' } : null
  }
  const mx = await raw({ script })
  const { answer } = await offer(transport({ timeouts: { ...TIMEOUTS, windUpMs: 50 } }), peer(mx))
  expect(answer).toMatchObject({ kind: 'reply', stage: 'rcpt', reply: { code: 550, enhanced: '5.1.1' } })
})

// threat: hanging-mail-servers
test('a server that stops reading during a large mail has not accepted it', async () => {
  const mx = await raw({ script: at('DATA', { do: 'stop_reading', text: '354 go ahead\r\n' }) })
  const big = toWire([Buffer.alloc(8_000_000, 'x')])
  const { answer } = await offer(transport({ timeouts: { ...TIMEOUTS, blockMs: 120 } }), peer(mx), { mail: big })
  expect(answer).toMatchObject({ kind: 'fault', stage: 'content', fault: { class: 'timeout' }, afterDot: false })
})

test('a refusal during a large mail counts even if the server disconnects', async () => {
  const mx = await raw({ script: at('DATA', { do: 'stop_reading', text: '354 go ahead\r\n552 5.3.4 too big\r\n' }) })
  const big = toWire([Buffer.alloc(8_000_000, 'x')])
  const { answer } = await offer(transport({ timeouts: { ...TIMEOUTS, blockMs: 120 } }), peer(mx), { mail: big })
  expect(answer).toMatchObject({ kind: 'reply', stage: 'content', reply: { code: 552, enhanced: '5.3.4' } })
})

test('a mail of five megabytes arrives whole', async () => {
  const mx = await raw()
  const body = `${'0123456789 abcdefghij\r\n'.repeat(230_000)}.dot\r\n`
  const big = toWire([Buffer.from(`From: a@b.test\r\n\r\n${body}`)])
  expect((await offer(transport(), peer(mx), { mail: big })).answer).toMatchObject({ reply: { code: 250 } })
  expect(mx.mails[0]!.toString().endsWith(body)).toBe(true)
})

test('idle connections are closed with QUIT after their time, and all of them at stop', async () => {
  const mx = await raw()
  const via = transport({ idleMs: 20 })
  await offer(via, peer(mx))
  await mx.hears('QUIT')
  const other = await raw()
  const kept = transport()
  await offer(kept, peer(other))
  await kept.stop()
  expect(other.heard).toContain('QUIT')
})

test('an idle connection stays open until its time is over', async () => {
  const mx = await raw()
  const idleMs = TEST_LIMIT_MS / 100
  const via = transport({ idleMs })
  await offer(via, peer(mx))
  for (let n = 0; n < 3; n++) {
    await Bun.sleep(0.27 * idleMs) // a sweep runs after every quarter of it
    await offer(via, peer(mx))
  }
  expect(mx.connections()).toBe(1)
  expect(mx.heard).not.toContain('QUIT')
})

test('all servers of a destination share its connections, including those that wait for mail', async () => {
  const [one, two] = [await raw(), await raw()]
  const via = transport()
  await Promise.all([1, 2].map(() => offer(via, peer(one))))
  expect(one.open()).toBe(2)
  await offer(via, peer(two))
  await one.hears('QUIT')
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => offer(via, peer(i % 2 === 0 ? one : two))))
  expect(all.every(({ answer }) => answer.kind === 'reply' && answer.reply.code === 250)).toBe(true)
  await one.hears('<close>')
  expect(one.open() + two.open()).toBeLessThanOrEqual(2)
})

test('closes a connection after its maximum of mails', async () => {
  const mx = await raw()
  const via = transport()
  for (let i = 0; i < 4; i++) await offer(via, peer(mx), { maxMails: 2 })
  expect(mx.connections()).toBe(2)
})

const CHUNKING = ['PIPELINING', 'CHUNKING']

/** Sends one mail, so that the connection is kept for the next. */
async function kept(mx: RawMx, more: Parameters<typeof transport>[0] = {}) {
  const via = transport(more)
  expect((await offer(via, peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  mx.heard.length = 0
  return via
}

test('with CHUNKING, a kept connection gets the next mail in one write', async () => {
  const mx = await raw({ extensions: CHUNKING })
  const via = await kept(mx)
  const mail = toWire([Buffer.from('.A: b\r\n\r\n.\r\n..\r\nx.\r\n.y\r\n')])
  const { answer, transcript } = await offer(via, peer(mx), { mail })
  expect(answer).toEqual({ kind: 'reply', stage: 'content', reply: { code: 250, enhanced: '2.0.0', text: 'queued' } })
  expect(mx.heard).toEqual([
    'MAIL FROM:<r@sender.test>',
    'RCPT TO:<anna@raw.test>',
    `BDAT ${mail.sizeBytes} LAST`,
    '<mail>',
  ])
  expect(mx.mails[1]!.toString()).toBe('.A: b\r\n\r\n.\r\n..\r\nx.\r\n.y\r\n')
  expect(transcript.replace(/^\d+ /gm, '').split('\n').slice(1)).toEqual([
    'C: MAIL FROM:<r@sender.test>',
    'C: RCPT TO:<anna@raw.test>',
    `C: BDAT ${mail.sizeBytes} LAST`,
    `C: <${mail.sizeBytes} bytes>`,
    'S: 250 2.0.0 ok',
    'S: 250 2.0.0 ok',
    'S: 250 2.0.0 queued',
  ])
})

test('a mail waits for the connection until the caller has noted the reply to the one before', async () => {
  const mx = await raw({ extensions: CHUNKING })
  const via = transport()
  const steps: string[] = []
  const send = async (name: string) => {
    const envelope = { returnPath: 'r@sender.test', recipient: 'anna@raw.test' }
    const destination = { name: 'raw.test', connections: 1, maxMails: 500 }
    const onCommit = () => steps.push(`${name} sent`)
    const transcript = createTranscript(nowMs)
    await via.offer({ peer: peer(mx), destination, envelope, mail: MAIL, transcript, budgetMs: 60_000, onCommit })
    for (let turn = 0; turn < 50; turn++) await null // callers between the transport and the journal
    steps.push(`${name} noted`)
  }
  await Promise.all(['first', 'second', 'third'].map(send))
  expect(steps).toEqual(['first', 'second', 'third'].flatMap((name) => [`${name} sent`, `${name} noted`]))
})

test('a fresh connection, a server without PIPELINING and a large mail use DATA despite CHUNKING', async () => {
  const large = toWire([Buffer.from(`A: b\r\n\r\n${'x'.repeat(65_536)}\r\n`)])
  for (const [extensions, mail] of [
    [['CHUNKING'], MAIL],
    [CHUNKING, large],
  ] as const) {
    const mx = await raw({ extensions: [...extensions] })
    await offer(await kept(mx), peer(mx), { mail })
    expect(mx.heard).toContain('DATA')
    expect(mx.mails.length).toBe(2)
  }
})

for (const [where, stage, reply] of REFUSALS.slice(2)) {
  if (where === 'DATA') continue
  const cue = where === 'DOT' ? 'BDAT' : where
  // threat: smtp-connection-resets
  test(`${reply} to ${cue} is the result of a mail in one write, and the next one is sent`, async () => {
    let refusals = 1
    const mx = await raw({
      extensions: CHUNKING,
      script: (at, line) =>
        at === cue && line.includes(cue === 'BDAT' ? 'BDAT' : 'nobody') && refusals-- > 0 ? reply : null,
    })
    const via = await kept(mx)
    const nobody = { recipient: 'nobody@raw.test', returnPath: cue === 'MAIL' ? 'nobody@sender.test' : 'r@sender.test' }
    const code = Number(reply.slice(0, 3))
    expect((await offer(via, peer(mx), nobody)).answer).toMatchObject({ kind: 'reply', stage, reply: { code } })
    expect(mx.mails.length).toBe(cue === 'BDAT' ? 2 : 1)
    expect((await offer(via, peer(mx))).answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
    expect(mx.connections()).toBe(code === 421 ? 2 : 1)
    expect(mx.heard.includes('RSET')).toBe(code !== 421)
  })
}

for (const [name, move] of [
  ['lost', { do: 'say_and_drop', text: '' }],
  ['nonsense', 'what is this'],
  ['354', '354 more?'],
] as [string, Move][]) {
  // threat: smtp-connection-resets
  test(`a connection that is ${name} after a mail in one write leaves the outcome unknown`, async () => {
    const mx = await raw({ extensions: CHUNKING, script: at('BDAT', move) })
    const via = await kept(mx, { timeouts: { ...TIMEOUTS, finalDotMs: 120 } })
    expect((await offer(via, peer(mx))).answer).toMatchObject({ kind: 'fault', stage: 'content', afterDot: true })
  })
}

test('a server that is silent after a mail in one write may have it', async () => {
  const mx = await raw({ extensions: CHUNKING, script: at('BDAT', { do: 'hang' }) })
  const via = await kept(mx, { timeouts: SHORT })
  expect((await offer(via, peer(mx))).answer).toMatchObject({ kind: 'fault', stage: 'mail', afterDot: true })
})

for (const [name, move] of [
  ['drops', { do: 'drop' }],
  ['resets', { do: 'reset' }],
] as [string, Move][]) {
  test(`a server that ${name} the connection without a reply gets the mail again at once`, async () => {
    const mx = await raw({ extensions: CHUNKING, script: at('BDAT', move) })
    const { answer, transcript } = await offer(await kept(mx), peer(mx))
    expect(answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
    expect(transcript).toContain('the reused connection was closed')
    expect(mx.connections()).toBe(2)
  })
}

test('a server that does not know BDAT gets its mail by DATA from then on', async () => {
  const mx = await raw({ extensions: CHUNKING, script: at('BDAT', '502 5.5.1 unknown command') })
  const via = await kept(mx)
  const { answer, transcript } = await offer(via, peer(mx))
  expect(answer).toMatchObject({ stage: 'content', reply: { code: 250 } })
  expect(transcript).toContain('the server does not know BDAT')
  for (let i = 0; i < 3; i++) await offer(via, peer(mx))
  expect(mx.heard.filter((line) => line.startsWith('BDAT'))).toHaveLength(1)
  expect(mx.connections()).toBe(2)
})
