import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { exitOf, makeTestInstallation, type TestInstallation, UNDER_WAY } from './setup.ts'
import { createSmtpClient, type Ledger, openConnection } from './smtp-client.ts'

/** Kills the built program while mail arrives by both SMTP listeners, and records the results. Everything answered
 *  with 250 is stored and reaches its endpoint or its MX; only mail without a reply may exist twice. */

const KILLS = Number(process.env.CRASH_KILLS ?? 6)
const CLIENTS = 6
/** Posts to one route at once (webhooks.max_per_webhook). */
const POSTS = 10
/** One mail of this size is large enough for a spool file. */
const LARGE_EVERY = 25
const LARGE_BYTES = 1_500_000

let installation: TestInstallation
let ports: { inbound: number; submission: number }
beforeAll(async () => {
  ports = { inbound: await freePort(), submission: await freePort() }
  installation = await makeTestInstallation({
    smtp: `[smtp.inbound]
listen = "127.0.0.1:${ports.inbound}"
[smtp.submission]
listen_tls = "127.0.0.1:${ports.submission}"`,
  })
})
afterAll(() => installation?.close())

let isSending = false
afterEach(() => {
  isSending = false
})

const KILLED = `${KILLS} times kill -9 while mail comes in: no 250 was a lie, and only what had no answer is there twice`
test(KILLED, async () => {
  let server = await installation.serve()
  await addRoute()
  const load = startLoad('kill')
  for (let kill = 0; kill < KILLS; kill++) {
    await load.goesOn()
    if (kill % 3 !== 0) await load.nextAnswer[kill % 3 === 1 ? 'inbound' : 'submitted']()
    server.kill('SIGKILL')
    await exitOf(server)
    server = await installation.serve()
  }
  const { inbound, submitted } = await load.stop()

  await until('every post', async () => (await pending()) === 0)
  const books = await inboundBooks('kill')
  checkInbound(inbound, books)
  const posts = sum(books.posts.values())
  expect(posts - books.records.size).toBeLessThanOrEqual(KILLS * POSTS)

  await until('every submitted mail to arrive', () => missing(submitted).length === 0)
  const sent = checkSubmitted(submitted)
  expect(sent.copies - sent.messages).toBeLessThanOrEqual(KILLS * UNDER_WAY)

  // Otherwise this tested little.
  expect(sum(inbound.unanswered.values())).toBeGreaterThan(0)
  if (process.env.CRASH_KILLS !== undefined) {
    console.log({
      inbound: { ...figures(inbound), records: books.records.size, posts },
      submitted: { ...figures(submitted), ...sent },
    })
  }
  server.kill('SIGTERM')
  expect(await exitOf(server)).toBe(0)
})

test('SIGTERM during incoming mail answers every finished mail and stores none twice', async () => {
  let server = await installation.serve()
  const load = startLoad('term')
  for (let round = 0; round < 2; round++) {
    await load.goesOn()
    server.kill('SIGTERM')
    expect(await exitOf(server)).toBe(0)
    server = await installation.serve()
  }
  const { inbound, submitted } = await load.stop()
  await until('every post', async () => (await pending()) === 0)
  await until('every submitted mail to arrive', () => missing(submitted).length === 0)
  const sent = checkSubmitted(submitted)
  expect(sent.copies).toBe(submitted.acknowledged.size)
  expect([sum(inbound.unanswered.values()), sum(submitted.unanswered.values())]).toEqual([0, 0])
  const books = await inboundBooks('term')
  checkInbound(inbound, books)
  expect([...books.posts.values()].filter((count) => count > 1)).toEqual([])
  server.kill('SIGTERM')
  expect(await exitOf(server)).toBe(0)
})

test('a kill during a large mail leaves no file, and the mail can be sent again', async () => {
  const spool = join(installation.folder, 'data/spool')
  const server = await installation.serve()
  const connection = await openConnection(ports.inbound, false)
  await connection.say('EHLO client.example', '250')
  await connection.say('MAIL FROM:<ann@author.example>', '250')
  await connection.say('RCPT TO:<in@example.com>', '250')
  await connection.say('DATA', '354')
  connection.socket.write(inboundMail('spooled', 5_000_000).slice(0, 4_000_000))
  await until('the mail to be on the disk', () => spoolFiles(server, spool).length > 0)
  server.kill('SIGKILL')
  await exitOf(server)
  connection.close()
  // Also covers a death between creating the file and removing its name.
  writeFileSync(join(spool, `mail-${'0f'.repeat(16)}.part`), 'left behind')

  const next = await installation.serve()
  expect(readdirSync(spool)).toEqual([])
  const ledger = newLedger()
  const client = createSmtpClient({ port: ports.inbound, envelope: () => INBOUND, ledger })
  await client.deliver('spooled', inboundMail('spooled', 5_000_000))
  client.close()
  await until('the post', async () => (await pending()) === 0)
  checkInbound(ledger, await inboundBooks('spooled'))
  expect([readdirSync(spool), spoolFiles(next, spool)]).toEqual([[], []])
  next.kill('SIGTERM')
  expect(await exitOf(next)).toBe(0)
})

const INBOUND = { from: 'ann@author.example', to: 'in@example.com' }

/** Both listeners under load until `stop`, which resolves when every client has its last 250. */
function startLoad(run: string) {
  const inbound = newLedger()
  const submitted = newLedger()
  isSending = true
  const drive = async (name: string, client: ReturnType<typeof createSmtpClient>, mailOf: MailOf) => {
    for (let n = 0; isSending; n++) await client.deliver(`${name}-${n}`, mailOf(`${name}-${n}`, n))
    client.close()
  }
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const receive = createSmtpClient({ port: ports.inbound, envelope: () => INBOUND, ledger: inbound })
    const submit = createSmtpClient({
      port: ports.submission,
      password: installation.key,
      envelope: (token) => ({ from: 'us@example.com', to: `${token}@example.org` }),
      ledger: submitted,
    })
    const withKeys = index % 2 === 0
    await Promise.all([
      drive(`${run}-${index}`, receive, (token, n) =>
        inboundMail(token, n % LARGE_EVERY === index ? LARGE_BYTES : 100),
      ),
      drive(`${run}-${withKeys ? 'keyed' : 'plain'}-${index}`, submit, (token) => submittedMail(token, withKeys)),
    ])
  })
  return {
    /** Resolves at some moment after both listeners have accepted ten more mails. */
    goesOn: async () => {
      const [taken, handedIn] = [inbound.acknowledged.size, submitted.acknowledged.size]
      const isFurther = () => inbound.acknowledged.size >= taken + 10 && submitted.acknowledged.size >= handedIn + 10
      await until('mails at both listeners', isFurther)
      await Bun.sleep(200 * Math.random())
    },
    /** Resolves as soon as a client has its next 250: what was just promised must be stored. */
    nextAnswer: { inbound: () => nextAnswer(inbound), submitted: () => nextAnswer(submitted) },
    stop: async () => {
      isSending = false
      await Promise.all(clients)
      expect([...inbound.refusals, ...submitted.refusals].filter((line) => !line.startsWith('421'))).toEqual([])
      return { inbound, submitted }
    },
  }
}
const nextAnswer = (ledger: Ledger) =>
  new Promise<void>((resolve) => {
    ledger.onAcknowledged = resolve
  })
type MailOf = (token: string, n: number) => string

async function addRoute(): Promise<void> {
  const url = installation.receiver.url.replace('/hook', '/inbound')
  const route = {
    name: 'all that comes in',
    match: { type: 'address', value: 'in@example.com' },
    action: { type: 'webhook', config: { url } },
  }
  expect((await installation.api('POST', '/v1/inbound-routes', route)).status).toBe(201)
}

const newLedger = (): Ledger => ({
  acknowledged: new Map(),
  unanswered: new Map(),
  refusals: [],
  onAcknowledged: () => {},
})

function inboundMail(token: string, bytes: number): string {
  const head = `From: ann@author.example\r\nTo: in@example.com\r\nSubject: ${token}\r\nMessage-ID: <${token}@author.example>\r\n`
  const line = `this is mail ${token}\r\n`
  return `${head}\r\n${line.repeat(Math.ceil(bytes / line.length))}end of ${token}\r\n`
}

function submittedMail(token: string, withKey: boolean): string {
  const key = withKey ? `X-Service-Idempotency-Key: ${token}\r\n` : ''
  return `From: us@example.com\r\nTo: ${token}@example.org\r\nSubject: token ${token}\r\n${key}\r\nHello\r\n`
}

interface Books {
  /** Inbound message id → token. */
  records: Map<string, string>
  /** Token → how often its mail was posted, complete. */
  posts: Map<string, number>
}

/** What the program and the route's endpoint have of the mails of one run. Throws when a mail is incomplete. */
async function inboundBooks(run: string): Promise<Books> {
  const records = new Map<string, string>()
  for (let cursor = ''; ; ) {
    const page = await read(`/v1/inbound-messages?limit=100${cursor}`)
    for (const { id, message_id } of page.data) {
      const token = tokenOf(message_id)
      if (token.startsWith(run)) records.set(id, token)
    }
    if (!page.has_more) break
    cursor = `&cursor=${page.next_cursor}`
  }
  const posts = new Map<string, number>()
  for (const { body } of installation.receiver.requests) {
    const { message_id, subject, text_body } = JSON.parse(body)
    const token = tokenOf(message_id)
    if (!token.startsWith(run)) continue
    const lines: string[] = text_body.trimEnd().split('\n')
    const isWhole = lines.pop() === `end of ${token}` && lines.every((line) => line === `this is mail ${token}`)
    if (subject !== token || !isWhole) throw new Error(`not the mail of ${token}: ${body.slice(0, 500)}`)
    posts.set(token, (posts.get(token) ?? 0) + 1)
  }
  return { records, posts }
}

/** Every 250 names an existing record; every record was posted; a mail exists twice only if a client had to repeat
 *  it. */
function checkInbound({ acknowledged, unanswered }: Ledger, { records, posts }: Books): void {
  const promised = [...acknowledged].map(([token, reply]) => [
    token,
    /^250 2\.0\.0 (inb_\w+) accepted$/.exec(reply)?.[1],
  ])
  expect(promised.filter(([token, id]) => records.get(id!) !== token)).toEqual([])
  const counts = countOf(records.values())
  expect([...counts.keys()].filter((token) => !acknowledged.has(token))).toEqual([])
  expect([...counts].filter(([token, count]) => count > 1 + (unanswered.get(token) ?? 0))).toEqual([])
  expect([...counts].filter(([token, count]) => (posts.get(token) ?? 0) < count)).toEqual([])
  expect([...posts.keys()].filter((token) => !counts.has(token))).toEqual([])
}

/** Every 250 names a message that the MX has; a mail became two messages only if a client without a key had to
 *  repeat it. */
function checkSubmitted({ acknowledged, unanswered }: Ledger): { messages: number; copies: number } {
  let messages = 0
  let copies = 0
  for (const [token, reply] of acknowledged) {
    const got = installation.sink.mails.get(token)!
    const different = new Set(got)
    const allowed = token.includes('keyed') ? 1 : 1 + (unanswered.get(token) ?? 0)
    if (!different.has(messageIdOf(reply)) || different.size > allowed) {
      throw new Error(`${token}: answered ${reply}, ${allowed - 1} times not, arrived as ${got}`)
    }
    messages += different.size
    copies += got.length
  }
  return { messages, copies }
}

/** Tokens whose 250 named a message that the MX does not have yet. */
function missing({ acknowledged }: Ledger): string[] {
  const isThere = (token: string, reply: string) => installation.sink.mails.get(token)?.includes(messageIdOf(reply))
  return [...acknowledged].flatMap(([token, reply]) => (isThere(token, reply) ? [] : [token]))
}

/** A 250 of submission → the Message-ID of the outgoing mail. */
function messageIdOf(reply: string): string {
  return `<${/^250 2\.0\.0 queued as msg_(\w+)$/.exec(reply)?.[1]}@example.com>`
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the program says
async function read(path: string): Promise<any> {
  return (await installation.api('GET', path)).json()
}

async function pending(): Promise<number> {
  return (await read('/v1/inbound-messages?status=pending&limit=1')).data.length
}

/** Spool files that the process has open, with or without a name. */
function spoolFiles({ pid }: ChildProcess, spool: string): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((fd) => {
    const file = linkOf(join(folder, fd))
    return file.startsWith(spool) ? [file] : []
  })
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed meanwhile
  }
}

const figures = ({ acknowledged, unanswered }: Ledger) => ({
  acknowledged: acknowledged.size,
  unanswered: sum(unanswered.values()),
})
const tokenOf = (messageId: string) => messageId.slice(1, messageId.indexOf('@'))
const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0)
const countOf = (tokens: Iterable<string>) =>
  new Map([...Map.groupBy(tokens, (token) => token)].map(([token, { length }]) => [token, length]))
