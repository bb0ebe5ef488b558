import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToNameServer } from '../../src/domains/name-server/worker.ts'
import type { ExchangeJob } from '../../src/net/https/exchange.ts'
import { createHttpsThread } from '../../src/net/https/thread.ts'
import type { MailboxJob } from '../../src/operating/canary/job.ts'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import type { Runner } from '../../src/os/runner.ts'
import { createThreadPool, JobFailed, type PoolEvent, threadRunner } from '../../src/os/thread-pool.ts'
import type { ReaderJob } from '../../src/receiving/inbound/inbound-result.ts'
import { createReaderStarter } from '../../src/server/inbound-readers.ts'
import type { ParsingJob } from '../../src/server/parsing/job.ts'
import { DATABASE_FILE, openStore } from '../../src/storage/sqlite/open.ts'
import type { ReadJob } from '../../src/storage/sqlite/reader.ts'
import * as threads from '../../src/threads.ts'
import { OWN, query, ZONE } from '../name-server/zone.ts'
import { attemptJob, deliverTwo } from '../outbound/jobs.ts'
import { TEST_LIMIT_MS, until } from '../support/patience.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/** An exception in one job of every kind, beside a job in progress that goes on in the same thread. A kind of thread or job
 *  without a row does not compile. */

const folder = mkdtempSync(join(tmpdir(), 'postrider-isolation-'))
const FAULTY = { preload: [new URL('./faulty-thread.ts', import.meta.url).href] }
const worker = (path: string) => new URL(`../../src/${path}/worker.ts`, import.meta.url).href
const undo: (() => unknown)[] = []
let events: PoolEvent[] = []
let receiver: Receiver
let silent: Bun.TCPSocketListener
beforeAll(async () => {
  receiver = await startReceiver()
  silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
})
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each()
  events = []
})
afterAll(async () => {
  silent.stop(true)
  await receiver.stop()
  rmSync(folder, { recursive: true })
})
const onEvent = (event: PoolEvent) => events.push(event)
const clock = systemClock

/** The broken job fails with its own stack; the one beside it ends as it would, in the only thread ever started. */
async function inPool(start: () => Runner, healthy: unknown, broken: unknown, reason: RegExp) {
  const limits = { count: 1, perRunner: 3, computeMs: TEST_LIMIT_MS, totalMs: TEST_LIMIT_MS }
  const settings = { hostname: 'mx.b.test', authenticationMs: 1_000, file: join(folder, DATABASE_FILE) }
  const pool = createThreadPool({ name: 'tested', start, ...limits, settings, clock, log: silentLog, onEvent })
  undo.push(() => pool.stop())
  const beside = pool.run(healthy)
  const error = await pool.run(broken).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(JobFailed)
  expect(String(error)).toMatch(reason)
  await beside
  await pool.run(healthy)
  expect(events).toEqual([{ kind: 'started', pool: 'tested' }])
}

const owner = 'org_1'
const list = { kind: 'suppression_list', owner, text: 'email\na@b.example\n', format: { provider: null, kind: null } }
const parsing = (broken: object) => () =>
  inPool(
    threadRunner(() => new Worker(worker('server/parsing'), FAULTY)),
    { ...list, mostRefused: 9 },
    { owner, ...broken },
    /TypeError: .*\n +at /,
  )

const withFile = { mail: 1, report: 1, policy_report: 1 } satisfies Record<
  Exclude<ReaderJob['kind'], 'attachment' | 'post'>,
  1
>
const raw = new Uint8Array(Buffer.from('From: a@a.test\r\nTo: b@b.test\r\n\r\nHello\r\n'))
const envelope = {
  remoteAddress: '192.0.2.1',
  helo: 'a.test',
  returnPath: 'a@a.test',
  recipients: ['b@b.test'],
  protocol: 'ESMTP',
  tls: null,
}
const mail = { kind: 'mail', jobId: 1, raw, envelope, receivedAt: 0, seals: [], forwardHeader: null }

/** The file of the mail is shorter than it was. The mail beside it waits for DNS, which nobody answers here. */
const reading = (kind: keyof typeof withFile, start: () => Runner) => async () => {
  const file = join(folder, 'short.eml')
  writeFileSync(file, 'From: a@a.test\r\n')
  const fd = openSync(file, 'r')
  undo.push(() => {
    try {
      closeSync(fd)
    } catch {} // a thread may have closed it
  })
  const broken = { ...mail, kind, jobId: 2, returnPath: '', raw: { fd, byteLength: 5_000 } }
  await inPool(start, mail, broken, /a message of 5000 bytes ends after 16\n +at /)
}
const readingStored = (broken: object, start: () => Runner) => () =>
  inPool(start, mail, { jobId: 2, ...broken }, /TypeError: .*\n +at /)

const looking = (isRemoval: boolean) => () => {
  const login = { host: '127.0.0.1', port: silent.port, tls: 'none', username: 'u', password: 'p', ca: null } as const
  const healthy: MailboxJob = { ...login, folder: 'INBOX', spamFolder: null, words: [], isRemoval, timeoutMs: 500 }
  const broken = { ...healthy, timeoutMs: 1n }
  return inPool(threadRunner(threads.startMailboxThread), healthy, broken, /TypeError: .*\n +at /)
}

async function request(broken: Partial<ExchangeJob> | 'probe') {
  const kinds = {
    endpoints: {
      allowed: ['127.0.0.0/8'],
      ca: receiver.ca,
      keepsAlive: true,
      userAgent: 'test',
      dns: { servers: ['127.0.0.1:1'] },
    },
  }
  const thread = createHttpsThread({
    start: threadRunner(threads.startHttpsThread),
    kinds,
    clock,
    log: silentLog,
    onEvent,
  })
  undo.push(() => thread.stop())
  const exchange = thread.exchange('endpoints')
  const job: ExchangeJob = {
    url: receiver.url,
    method: 'POST',
    headers: {},
    body: '{}',
    maxBytes: 4096,
    timeoutMs: TEST_LIMIT_MS,
    as: 'excerpt',
  }
  receiver.script('hang')
  const before = receiver.requests.length
  const beside = exchange(job)
  await receiver.received(before + 1)
  const probe = { ip: '127.0.0.1', port: 1, host: 'a.test', path: '/\r\n', maxBytes: 9, timeoutMs: TEST_LIMIT_MS }
  const failing = broken === 'probe' ? thread.probe(probe) : exchange({ ...job, ...broken })
  const error = await failing.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TypeError)
  expect((error as Error).stack).toContain('request-bytes.ts')
  receiver.release(200)
  expect(await beside).toMatchObject({ kind: 'answered', status: 200 })
  expect(events).toEqual([{ kind: 'started', pool: 'https' }])
}

/** The reply to RCPT meets a bug. What the server says next is no reply to it. */
async function deliveringEvent(isKept: boolean) {
  expect(await deliverTwo(folder, { recipient: 'second@remote.test' }, isKept)).toEqual({
    results: { dlv_1: 'delivered', dlv_2: 'internal error: a bug in an event' },
    events: [{ kind: 'started', pool: 'delivery' }],
    connections: isKept ? 1 : 2,
  })
}

type NameServerJob = 'udp' | 'tcp' | Exclude<ToNameServer['kind'], 'loaded'>

async function answering(job: NameServerJob) {
  const runner = threadRunner(() => new Worker(worker('domains/name-server'), FAULTY))()
  undo.push(() => runner.end())
  const said: Record<string, unknown>[] = []
  let end: string | null = null
  runner.onMessage((message) => said.push(message as Record<string, unknown>))
  runner.onEnd((reason) => {
    end = reason
  })
  const saying = (kind: string) => said.find((message) => message.kind === kind)
  runner.send({
    kind: 'start',
    board: null,
    settings: { listen: [{ host: '127.0.0.1', port: 0 }], responsesPerSecond: 100 },
  })
  runner.send({ kind: 'zone', name: ZONE, records: OWN })
  runner.send({ kind: 'loaded' })
  await until('the port', () => saying('bound'))
  const [port = 0] = saying('bound')!.ports as number[]
  const first = await asked(port, ZONE)
  expect(first.length).toBeGreaterThan(50)
  if (job === 'udp') {
    const socket = await Bun.udpSocket({ connect: { hostname: '127.0.0.1', port } })
    undo.push(() => socket.close())
    socket.send(query(`poison.${ZONE}`, 'TXT'))
  } else if (job === 'tcp') expect(await asked(port, `poison.${ZONE}`)).toHaveLength(0)
  else if (job === 'zone') runner.send({ kind: 'zone', name: ZONE, records: null })
  else runner.send({ kind: 'domains', domains: [{ id: 'dom_1', records: null }] })
  const isQuery = job === 'udp' || job === 'tcp'
  await until('the report', () => (isQuery ? saying('counts')?.counts : saying('not_put')))
  if (isQuery) await until('the count', () => said.some(({ counts }) => (counts as { failed?: number })?.failed === 1))
  else expect(saying('not_put')).toMatchObject({ error: expect.stringMatching(/TypeError: .*\n +at /) })
  expect(await asked(port, ZONE)).toEqual(first)
  expect(end).toBeNull()
}

/** The answer over TCP; empty without one. */
async function asked(port: number, name: string): Promise<Buffer> {
  const packet = query(name, 'TXT')
  const socket = connect(port, '127.0.0.1')
  socket.write(Buffer.concat([Buffer.from([0, packet.length]), packet]))
  return new Promise((resolve) => {
    socket.once('data', (bytes: Buffer) => {
      resolve(bytes)
      socket.destroy()
    })
    socket.once('close', () => resolve(Buffer.alloc(0)))
  })
}

const composing = () => {
  const { content, signingKeys, signedAt, recipientParts } = attemptJob({})
  const healthy = { content, signingKeys, signedAt, recipientParts }
  return inPool(threadRunner(threads.startComposingThread), healthy, { ...healthy, content: null }, /Error: .*\n +at /)
}

const readers = (start: () => Runner): Record<ReaderJob['kind'], () => Promise<void>> => ({
  mail: reading('mail', start),
  report: reading('report', start),
  policy_report: reading('policy_report', start),
  attachment: readingStored({ kind: 'attachment', raw: null, place: 1 }, start),
  post: readingStored({ kind: 'post', message: { sizeBytes: 1 }, parsed: null, raw: 'absent' }, start),
})

const ROWS = {
  startDeliveryThread: {
    attempt: async () => {
      const { results, events } = await deliverTwo(folder, { recipient: null })
      expect(results).toEqual({ dlv_1: 'delivered', dlv_2: expect.stringMatching(/^internal error: /) })
      expect(events).toEqual([{ kind: 'started', pool: 'delivery' }])
    },
    'attempt, in an event': () => deliveringEvent(false),
    'attempt, in an event of a kept connection': () => deliveringEvent(true),
  },
  startComposingThread: { compose: composing },
  startParsingThread: {
    stored: parsing({ kind: 'stored', content: null }),
    inbound_record: parsing({ kind: 'inbound_record', content: null }),
    analyze: parsing({ kind: 'analyze', input: null }),
    template_parse: parsing({ kind: 'template_parse', texts: null }),
    template_compile: parsing({
      kind: 'template_compile',
      mjml: '<mjml><mj-body><mj-section><mj-column><mj-text>poison</mj-text></mj-column></mj-section></mj-body></mjml>',
      at: '',
    }),
    template_preview: parsing({ kind: 'template_preview', texts: null }),
    template_fill: parsing({ kind: 'template_fill', template: null }),
    author_mail: parsing({ kind: 'author_mail', head: null }),
    suppression_list: parsing({ kind: 'suppression_list', text: null }),
  } satisfies Record<ParsingJob['kind'], unknown>,
  startStorageThread: {
    read: async () => {
      await (await openStore({ dataDir: folder, now: 0 })).close()
      const healthy: ReadJob = { name: 'waiting', owner, args: [0] }
      const broken: ReadJob = { name: 'messages', owner, args: [null] }
      await inPool(threadRunner(threads.startStorageThread), healthy, broken, /TypeError: .*\n +at /)
    },
  },
  startHttpsThread: { exchange: () => request({ headers: { a: 'b\r\n' } }), probe: () => request('probe') },
  startNameServerThread: {
    udp: () => answering('udp'),
    tcp: () => answering('tcp'),
    zone: () => answering('zone'),
    domains: () => answering('domains'),
  } satisfies Record<NameServerJob, unknown>,
  startReaderThread: readers(threadRunner(threads.startReaderThread)),
  startMailboxThread: { look: looking(false), remove: looking(true) },
  'a confined process': readers(() => createReaderStarter({}).start()),
} satisfies Record<keyof typeof threads | 'a confined process', Record<string, () => Promise<void>>>

for (const [thread, kinds] of Object.entries(ROWS))
  for (const [kind, breaks] of Object.entries(kinds))
    test(`an exception in one job ends that job alone: ${thread}, ${kind}`, breaks)

test('every thread has a row', () => {
  const started = Object.keys(ROWS).filter((name) => name.startsWith('start'))
  expect(started.toSorted()).toEqual(Object.keys(threads).toSorted())
})

/** `bun test` takes over what nothing catches in a thread, so that this runs in a program of its own. */
// threat: exception-in-one-job
test('an exception that a job left behind ends that job alone, and one of no job ends the thread with its stack', async () => {
  const program = Bun.spawn([process.execPath, new URL('./stray-program.ts', import.meta.url).pathname], {
    stdout: 'pipe',
  })
  const found = JSON.parse(await new Response(program.stdout).text())
  const alone = { failed: 'JobFailed: Error: left behind', beside: 'waited', deaths: [], started: 1 }
  expect(found).toEqual({
    timer: alone,
    event: alone,
    rejection: { ...alone, beside: 'waited', deaths: [expect.stringMatching(LEFT)], started: 3 },
    'the only rejection': { ...alone, beside: null },
    late: { failed: null, beside: 'waited', deaths: [expect.stringMatching(LEFT)], started: 2 },
  })
})
const LEFT = /^Error: left behind\n +at stray .*pool-worker\.ts/
