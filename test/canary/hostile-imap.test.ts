import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import type { MailboxAnswer, MailboxJob } from '../../src/operating/canary/job.ts'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { openMailboxPool } from '../../src/server/canary.ts'
import { slowness } from '../support/cpu-cost.ts'
import { flood, type ImapOptions, startImapServer, type TestImapServer } from '../support/imap-server.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'

/** Servers of a mailbox that do what no server should, against the thread that looks into mailboxes. */

/** Less than the thread gives to a look. */
const LONG_MS = 40_000
/** For servers that are silent: a greeting before that must arrive in half of it. */
const SHORT_MS = TEST_LIMIT_MS / 150
const TOO_LATE = `no result after ${SHORT_MS / 1000} s`
const PASSWORD = 'let me in'
/** What one look reads at most, with what the system buffers on the way. */
const MOST_BYTES = 2 ** 22 + 12 * 2 ** 20

const events: string[] = []
const pool = openMailboxPool(
  { clock: systemClock.steady, log: silentLog, onEvent: ({ kind }) => events.push(kind) },
  { computeMs: Math.max(3_000, TEST_LIMIT_MS / 100) }, // that of the server, and more on a slow machine
)
let server: TestImapServer | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
})
afterAll(() => pool.stop())

const look = async (options: ImapOptions, change: Partial<MailboxJob> = {}): Promise<MailboxAnswer> => {
  await server?.stop()
  server = await startImapServer(options)
  return pool.run({
    host: '127.0.0.1',
    port: server.port,
    tls: 'none',
    username: 'seed',
    password: PASSWORD,
    ca: null,
    folder: 'INBOX',
    spamFolder: null,
    words: ['canary-1'],
    isRemoval: false,
    timeoutMs: LONG_MS,
    ...change,
  })
}
const FOUND = { word: 'canary-1', place: 'inbox', at: Date.parse('2026-11-21T12:00:00Z') } as const

const readsWell = async () =>
  expect(await look({})).toEqual({ found: [FOUND, { ...FOUND, place: 'spam' }], spamFolder: 'Junk', error: null })
test('a server that behaves is read', readsWell)

/** Says the text, and then the command is done. */
const saying =
  (text: string) =>
  ({ tag, socket }: { tag: string; socket: { write(text: string): unknown } }) => {
    socket.write(`${text}\r\n${tag} OK done\r\n`)
    return true
  }

// threat: hostile-imap-server
describe('the look ends in time, with a reason and without much memory', () => {
  const cases: [what: string, options: ImapOptions, reason: RegExp, timeoutMs?: number][] = [
    ['no greeting', { at: { greeting: () => true } }, /greeting/, SHORT_MS],
    ['a greeting without end', { at: { greeting: ({ socket }) => flood(socket, 'x'.repeat(1000)) } }, /Line length/],
    [
      'untagged answers without end',
      { at: { LIST: ({ socket }) => flood(socket, '* OK [ALERT] hello\r\n'.repeat(50)) } },
      /too much/,
    ],
    [
      'folders without end',
      { at: { LIST: ({ socket }) => flood(socket, '* LIST () "/" x\r\n'.repeat(1000)) } },
      /too much/,
    ],
    ['empty lines without end', { at: { EXAMINE: ({ socket }) => flood(socket, '\r\n'.repeat(500)) } }, /too much/],
    ['a literal of 4 GB', { at: { LIST: saying('* LIST () "/" {4294967296}') } }, /Literal size/],
    [
      'an answer of many literals',
      { at: { LIST: ({ socket }) => flood(socket, `* LIST () "/" {60000}\r\n${'x'.repeat(60_000)} `) } },
      /Response size/,
    ],
    [
      'a literal that never ends',
      { at: { LIST: ({ socket }) => socket.write('* LIST () "/" {60000}\r\nxx') } },
      new RegExp(`${TOO_LATE}|timeout`, 'i'),
      SHORT_MS,
    ],
    [
      'a byte at a time',
      {
        at: {
          LIST: ({ socket }) => {
            const timer = setInterval(() => socket.write('x'), 20)
            socket.once('close', () => clearInterval(timer))
            return true
          },
        },
      },
      new RegExp(TOO_LATE),
      SHORT_MS,
    ],
    ['a million matches', { at: { SEARCH: saying(`* SEARCH${' 1234567'.repeat(100_000)}`) } }, /Line length/],
    // forty bytes, which the library would write out as 16 million numbers
    [
      'matches as a range of all numbers',
      {
        at: {
          EXAMINE: saying('* 4294967295 EXISTS'),
          SEARCH: saying('* ESEARCH (TAG "A1") UID ALL 1:4294967295'),
        },
      },
      /too much/,
    ],
    [
      'the same range as a literal, in other notation',
      {
        at: {
          EXAMINE: saying('* 4294967295 EXISTS'),
          SEARCH: saying('* esearch (TAG "A1") UID ALL {9}\r\n0x1:4.2e9'),
        },
      },
      /too much/,
    ],
    [
      'all mails removed again and again',
      { at: { LIST: saying('* VANISHED 1:4294967295\r\n'.repeat(50)) } },
      /too much/,
    ],
    ['all mails removed before', { at: { EXAMINE: saying('* VANISHED (EARLIER) 4294967295:1') } }, /too much/],
    ['an end in the middle', { at: { FETCH: ({ socket }) => Boolean(socket.end('* 1 FETCH (UI')) } }, /./],
    ['BYE', { at: { LOGIN: ({ socket }) => socket.write('* BYE go away\r\n') } }, /./],
    [
      'a login that is refused',
      {
        at: { LOGIN: ({ tag, socket }) => socket.write(`${tag} NO [AUTHENTICATIONFAILED] ${'no '.repeat(9000)}\r\n`) },
      },
      /^login failed: (no )+/,
    ],
    [
      'a folder that is missing',
      { at: { EXAMINE: ({ tag, socket }) => socket.write(`${tag} NO [NONEXISTENT] no such folder\r\n`) } },
      /^folder INBOX: no such folder/,
    ],
  ]
  for (const [what, options, reason, timeoutMs = LONG_MS] of cases) {
    test(what, async () => {
      const { found, error } = await look(options, { timeoutMs })
      expect(error).toMatch(reason)
      expect(error!.length).toBeLessThan(500)
      expect(found).toEqual([])
      expect(server!.written()).toBeLessThan(MOST_BYTES)
    })
  }

  const nonsense: [what: string, options: ImapOptions, answer: Partial<MailboxAnswer>][] = [
    ['brackets', { at: { LIST: saying(`* LIST ${'('.repeat(60_000)}`) } }, { found: [FOUND], spamFolder: null }],
    [
      'a date that is none',
      { at: { FETCH: saying('* 1 FETCH (UID 7 INTERNALDATE "yesterday")') } },
      {
        found: [
          { ...FOUND, at: null },
          { ...FOUND, at: null, place: 'spam' },
        ],
      },
    ],
    [
      'a FETCH that does not end',
      { at: { FETCH: saying('* 1 FETCH (UID 7 ((("') } },
      {
        found: [
          { ...FOUND, at: null },
          { ...FOUND, at: null, place: 'spam' },
        ],
      },
    ],
    ['bytes that are no answer', { at: { EXAMINE: saying('\0\x01\xff {} (" NIL') } }, {}],
  ]
  for (const [what, options, answer] of nonsense) {
    test(`${what}: ignored`, async () => {
      const found: MailboxAnswer['found'] = [FOUND, { ...FOUND, place: 'spam' }]
      expect(await look(options)).toEqual({ found, spamFolder: 'Junk', error: null, ...answer })
    })
  }

  test('a mailbox of billions of mails is read like any other', async () => {
    const { found, error } = await look({ at: { EXAMINE: saying('* 4294967295 EXISTS\r\n* 4294967295 RECENT') } })
    expect([found.length, error]).toEqual([2, null])
  })

  test('matches as a range are read, and ten are looked at', async () => {
    const range = '* ESEARCH (TAG "A1") UID ALL 7:900'
    const { found, error } = await look({ at: { EXAMINE: saying('* 2000 EXISTS'), SEARCH: saying(range) } })
    expect([found.length, error]).toEqual([2, null])
  })

  test('of many matches, ten are looked at', async () => {
    const { found, error } = await look({ at: { SEARCH: saying(`* SEARCH${' 7'.repeat(5_000)}`) } })
    expect([found.length, error]).toEqual([2, null])
    const fetches = server!.lines.filter((line) => line.includes('FETCH'))
    for (const line of fetches) expect(line.length).toBeLessThan(100)
  })
})

// threat: hostile-imap-server
test('a flood from another machine costs the main thread and memory little', async () => {
  const code = `import { flood, startImapServer } from ${JSON.stringify(new URL('../support/imap-server.ts', import.meta.url).href)}
    const server = await startImapServer({ at: { LIST: ({ socket }) => flood(socket, '* LIST () "/" x\\r\\n'.repeat(1000)) } })
    console.log(server.port)`
  const flooding = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe' })
  try {
    const { value } = await flooding.stdout.getReader().read()
    const port = Number(new TextDecoder().decode(value))
    const [cpuMs, rss] = [mainThreadMs(), process.memoryUsage.rss()]
    for (let at = 0; at < 3; at++) expect((await look({}, { port })).error).toMatch(/too much/)
    expect(mainThreadMs() - cpuMs).toBeLessThan(200 * (await slowness()))
    expect(process.memoryUsage.rss() - rss).toBeLessThan(100 * 2 ** 20)
  } finally {
    flooding.kill()
  }
})

/** CPU time of the main thread. Its clock has 100 ticks a second. */
function mainThreadMs(): number {
  const fields = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const certificateOf = (name: string) => selfSignedCertificate({ names: [name], now: systemClock.now() })
const [other, here] = await Promise.all([certificateOf('other.example'), certificateOf('localhost')])

// threat: hostile-imap-server
describe('the password goes to the right server only', () => {
  const withTls = ({ keyPem: key, certificatePem: cert }: typeof here, isImplicit: boolean) => ({
    key,
    cert,
    isImplicit,
  })
  const cases: [what: string, options: ImapOptions, change: Partial<MailboxJob>, reason: RegExp][] = [
    ['without STARTTLS', {}, { tls: 'starttls' }, /STARTTLS/],
    [
      'with STARTTLS that is refused',
      { capabilities: 'STARTTLS', at: { STARTTLS: ({ tag, socket }) => socket.write(`${tag} NO not today\r\n`) } },
      { tls: 'starttls' },
      /STARTTLS/,
    ],
    [
      'with text behind the answer to STARTTLS',
      {
        capabilities: 'STARTTLS',
        tls: withTls(here, false),
        at: { STARTTLS: ({ tag, socket }) => socket.write(`${tag} OK go\r\n* OK [CAPABILITY IMAP4rev1] hello\r\n`) },
      },
      { tls: 'starttls', host: 'localhost', ca: here.certificatePem },
      /./,
    ],
    [
      'with PREAUTH before STARTTLS',
      { capabilities: 'STARTTLS', at: { greeting: ({ socket }) => socket.write('* PREAUTH welcome\r\n') } },
      { tls: 'starttls' },
      /PREAUTH/,
    ],
    [
      'with the certificate of another name',
      { tls: withTls(other, true) },
      { tls: 'implicit', host: 'localhost', ca: other.certificatePem },
      /certificate|altname/i,
    ],
    [
      'with the certificate of another name after STARTTLS',
      { capabilities: 'STARTTLS', tls: withTls(other, false) },
      { tls: 'starttls', host: 'localhost', ca: other.certificatePem },
      /certificate|altname/i,
    ],
    [
      'with a certificate of nobody',
      { tls: withTls(here, true) },
      { tls: 'implicit', host: 'localhost' },
      /certificate/i,
    ],
    ['without TLS', {}, { tls: 'implicit' }, /./],
    ['with a handshake that never ends', { at: { greeting: () => true } }, { tls: 'implicit', timeoutMs: 1_000 }, /./],
  ]
  for (const [what, options, change, reason] of cases) {
    test(what, async () => {
      const { found, error } = await look(options, change)
      expect(error).toMatch(reason)
      expect(found).toEqual([])
      expect(server!.lines.filter((line) => line.includes('LOGIN') || line.includes('AUTHENTICATE'))).toEqual([])
    })
  }

  test('it is read with the right certificate', async () => {
    const { certificatePem: ca } = here
    const { error } = await look({ tls: withTls(here, true) }, { tls: 'implicit', host: 'localhost', ca })
    expect(error).toBeNull()
    expect(server!.lines.some((line) => line.includes('LOGIN'))).toBe(true)
  })
})

test('after all of these, the same thread reads a server that behaves', async () => {
  await readsWell()
  expect(events).toEqual(['started'])
})
