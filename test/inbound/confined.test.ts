import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import { unpackRaw } from '../../src/mail/inbound-content.ts'
import { systemClock } from '../../src/os/clock.ts'
import { createLog } from '../../src/os/log.ts'
import type { ChildRunner } from '../../src/os/sandbox/child-runner.ts'
import { startChild } from '../../src/os/sandbox/child-runner.ts'
import type { Readers } from '../../src/receiving/inbound/readers.ts'
import { createReaderStarter, type Separated } from '../../src/server/inbound-readers.ts'
import { slowness } from '../support/cpu-cost.ts'
import { TEST_LIMIT_MS, until } from '../support/patience.ts'
import { openReaders } from './reader-setup.ts'
import { createInboundSetup } from './setup.ts'
import { KEY_PEM, mail, startMailZone } from './signed-mail.ts'

/** Real child processes under the real kernel. Without seccomp or Landlock this is an error with
 *  REAL_PEERS=required, and otherwise a warning. */
const PROBED: Separated = await createReaderStarter({}).probe()
if (PROBED.kind !== 'confined') {
  const why = `no confined process here: ${JSON.stringify(PROBED)}`
  if (process.env.REAL_PEERS === 'required') throw new Error(why)
  console.warn(`skipped: ${why}`)
}

type Skill = 'reads-mail' | 'reads-nothing'
const hostileCommand = (skill: Skill) => [process.execPath, join(import.meta.dir, 'hostile-reader.ts'), 'first', skill]
const MB = 2 ** 20
/** For mails that never end. How long a process computes is unknown, so the time that it waits for a processor counts too, and
 *  a new one reads its first healthy mail slowly. */
const COMPUTE_MS = TEST_LIMIT_MS / 100
const SEAL = { domain: 'ours.test', selector: 's1', privateKeyPem: KEY_PEM }

let zone: Zone
const children: ChildRunner[] = []
let open: Readers[] = []
let logged: string[] = []
beforeAll(async () => {
  zone = await startMailZone()
})
afterEach(async () => {
  for (const each of open) await each.stop()
  for (const each of children.splice(0)) each.end()
  open = []
  logged = []
})
afterAll(() => zone.stop())

function startHostile({ memoryBytes = 600 * MB, skill = 'reads-mail' as Skill } = {}): ChildRunner {
  const child = startChild({ command: hostileCommand(skill), memoryBytes, maxMessageBytes: 100 * MB })
  children.push(child)
  return child
}

function hostileReaders(options: Parameters<typeof openReaders>[1] = {}): Readers {
  const log = createLog({ clock: systemClock, level: 'info', format: 'json', write: (line) => void logged.push(line) })
  const readers = openReaders(zone, { start: () => startHostile(), log, ...options })
  open.push(readers)
  return readers
}

/** For mails that all are hostile. */
const startUnskilled = () => startHostile({ skill: 'reads-nothing' })

const jobOf = (headers: string[]) => ({
  raw: new Uint8Array(mail(headers)),
  envelope: {
    remoteAddress: '127.0.0.1',
    helo: 'mx.bank.test',
    returnPath: 'b@bank.test',
    recipients: ['b@b.test'],
    protocol: 'ESMTPS',
    tls: null,
  },
  receivedAt: Date.now(),
  seals: [SEAL],
  forwardHeader: null,
})
const doing = (what: string) => jobOf([`X-Do: ${what}`, 'From: a@a.test', 'Subject: hostile'])
const healthy = (subject = 'healthy') => jobOf(['From: a@a.test', `Subject: ${subject}`])
const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !isZombie(pid)
const isZombie = (pid: number) =>
  Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
    .stdout.toString()
    .startsWith('Z')

const untilGone = (pid: number) => until(`process ${pid} to end`, () => !isAlive(pid))

describe.skipIf(PROBED.kind !== 'confined')('a confined reader', () => {
  // threat: reader-breakout
  test('cannot open a file or a socket, nor start, signal, trace or write into a process', () => {
    expect(PROBED).toMatchObject({ kind: 'confined', broken: [] })
    expect(PROBED.landlock).toBeGreaterThan(0)
  })

  test('without its confinement could do nearly all of that', async () => {
    const script = `import { breakOut } from ${JSON.stringify(join(import.meta.dir, '../../src/os/sandbox/self-test.ts'))}
      console.log(JSON.stringify(breakOut(process.ppid)))`
    const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
    const broken = JSON.parse(stdout.toString()) as string[]
    expect(broken).toContain('open a file')
    expect(broken).toContain('create an internet socket')
    expect(broken).toContain('run a program')
    expect(broken).toContain('start a process')
    expect(broken).toContain('signal its parent')
  })

  test('has no environment, only its three descriptors, no rights and no way to get any', async () => {
    const child = startUnskilled()
    const reported = Promise.withResolvers<{ atStart: { env: string[]; files: string[][]; status: string } }>()
    child.onMessage((message) => (message as { kind: string }).kind === 'report' && reported.resolve(message as never))
    child.send({ kind: 'start', board: null, settings: {} })
    child.send({ kind: 'job', id: 1, job: { kind: 'report', jobId: 1, raw: doing('tell').raw, returnPath: '' } })
    const { env, files, status } = (await reported.promise).atStart
    expect(env).toEqual([])
    const given = files.filter(([, to]) => !/^anon_inode:|^\/proc\/|^\/dev\/null$|^$/.test(to!))
    expect(given.map(([fd, to]) => `${fd} ${to!.replace(/\[\d+\]/, '')}`).sort()).toEqual([
      '0 socket:',
      '1 socket:',
      expect.stringMatching(/^2 (pipe|socket):$/),
    ])
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    expect(status).toMatch(/^CapPrm:\s+0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
  })

  test('that is killed during a mail loses nothing: another reads it', async () => {
    zone.fail('bank.test', 'timeout')
    const readers = hostileReaders()
    const reading = readers.read(healthy('survivor'))
    const first = await untilStarted(1)
    await first.confined
    zone.fail('bank.test', null)
    process.kill(first.pid, 'SIGKILL')
    const { head, parseError } = await reading
    expect({ subject: head.subject, parseError }).toEqual({ subject: 'survivor', parseError: null })
    expect(children.length).toBeGreaterThan(1)
  })

  test('dies with its parent, also in a loop and by kill -9', async () => {
    const script = `
      import { startChild } from ${JSON.stringify(join(import.meta.dir, '../../src/os/sandbox/child-runner.ts'))}
      const child = startChild({ command: ${JSON.stringify(hostileCommand('reads-nothing'))}, memoryBytes: ${600 * MB}, maxMessageBytes: 1e6 })
      await child.confined
      child.send({ kind: 'start', board: null, settings: {} })
      child.onMessage(({ kind }) => { if (kind === 'at_work') console.log(child.pid) })
      const raw = new Uint8Array(Buffer.from('X-Do: loop'))
      child.send({ kind: 'job', id: 1, job: { kind: 'report', jobId: 1, raw, returnPath: '' } })
      await new Promise(() => setInterval(() => {}, 1000))`
    const parent = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
    let pid = 0
    for await (const piece of parent.stdout) {
      pid = Number(Buffer.from(piece).toString())
      break
    }
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await parent.exited
    await untilGone(pid)
  })

  test('that ends, or is stopped while it starts, leaves no process', async () => {
    const child = startHostile()
    child.end()
    await untilGone(child.pid)
  })

  // threat: exception-in-one-job
  test('that throws outside of a job is replaced, and the log has its stack', async () => {
    const readers = hostileReaders({ start: startUnskilled })
    await expect(readers.read(doing('throw-later'))).rejects.toThrow('451 4.3.0')
    const deaths = logged.filter((line) => line.includes('thread ended'))
    expect(deaths.map((line) => JSON.parse(line))).toMatchObject(
      Array(2).fill({
        pool: 'inbound',
        cause: 'died',
        error: expect.stringMatching(/^Error: left behind\n +at .*hostile-reader/),
      }),
    )
  })

  // threat: reader-memory
  test.each(['eat', 'eat-buffers'])(
    'that takes memory without limit (%s) is ended; the mail is deferred',
    async (what) => {
      const readers = hostileReaders({
        start: () => startHostile({ memoryBytes: 300 * MB }),
        limits: { computeMs: 20_000 },
      })
      const before = process.memoryUsage.rss()
      await expect(readers.read(doing(what))).rejects.toThrow('451 4.3.0')
      expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MB)
      expect((await readers.read(healthy())).head.subject).toBe('healthy')
    },
  )
})

describe.skipIf(PROBED.kind !== 'confined')('a mail that crashes its readers', () => {
  // threat: poisonous-inbound-mail
  // threat: parser-exhaustion
  // threat: unreadable-mail
  test('gets 451 and is then stored without parsing; its neighbours are read, and the reader is replaced', async () => {
    const readers = hostileReaders({ limits: { computeMs: COMPUTE_MS } })
    await readers.read(healthy()) // warm-up
    const neighbour = readers.read(healthy('neighbour'))
    await expect(readers.read(doing('loop'))).rejects.toThrow('451 4.3.0')
    expect((await neighbour).parseError).toBeNull()
    const again = await readers.read(doing('loop'))
    expect(again.parseError).toBe('parsing took too long or crashed the parser')
    expect(again.verdicts).toEqual({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', arc: 'none' })
    expect(again.head.subject).toBe('hostile')
    expect(Buffer.from(unpackRaw(again.raw)).toString()).toContain('X-Do: loop')
    expect(logged.join()).toContain('message deferred: it crashed two parsers')
    expect(logged.join()).toContain('accepted without parsing')
  })

  test('at a return path gets 451 and is then accepted as an unreadable report', async () => {
    const readers = hostileReaders({ start: startUnskilled, limits: { computeMs: COMPUTE_MS } })
    const { raw } = doing('loop')
    await expect(readers.report({ raw, returnPath: '' })).rejects.toThrow('451 4.3.0')
    expect((await readers.report({ raw, returnPath: '' })).content).toEqual({ kind: 'unreadable' })
  })

  test('is stored with the reason after one deferral', async () => {
    const setup = await createInboundSetup({
      readers: hostileReaders({ start: startUnskilled, limits: { computeMs: COMPUTE_MS } }),
    })
    await setup.addRoute({ type: 'catch_all', value: null })
    const raw = mail(['X-Do: loop', 'From: a@a.test', 'Subject: hostile']).toString()
    await expect(setup.send(['ann@ours.test'], raw)).rejects.toThrow('451 4.3.0')
    expect(await setup.send(['ann@ours.test'], raw)).toMatch(/^inb_\S+ accepted$/)
    await setup.store.close()
  })
})

describe.skipIf(PROBED.kind !== 'confined')('a compromised reader', () => {
  const deeds = [
    'no-message',
    'unknown-kind',
    'answer-to-nothing',
    'answer-of-another-kind',
    'answer-without-parts',
    'answer-with-a-bomb',
    'lookup-for-another',
    'lookup-of-nonsense',
    'lookup-flood',
    'sign-dkim',
    'sign-for-another-domain',
    'sign-with-another-key',
    'sign-again-and-again',
    'message-flood',
  ]
  // threat: reader-lies
  test.each(deeds)('that does %s is ended and harms nothing', async (deed) => {
    const readers = hostileReaders({ start: startUnskilled })
    const asked = zone.queries.length
    const memory = process.memoryUsage.rss()
    await expect(readers.read(doing(deed))).rejects.toThrow('451 4.3.0')
    expect(process.memoryUsage.rss() - memory).toBeLessThan(200 * MB)
    expect(zone.queries.length - asked).toBeLessThan(1_000)
    expect(logged.join()).toContain('inbound parser violated its sandbox and was stopped')
  })

  // threat: reader-traffic
  test.each(['large-message-flood', 'large-ready-flood', 'stderr-flood'])(
    'that makes a %s is ended before its deadline',
    async (deed) => {
      // Enough memory for messages that a busy machine has not read yet.
      const start = () => startHostile({ skill: 'reads-nothing', memoryBytes: 3_000 * MB })
      const readers = hostileReaders({ start, limits: { computeMs: 60_000, totalMs: 60_000 } })
      const before = process.cpuUsage()
      await expect(readers.read(doing(deed))).rejects.toThrow('451 4.3.0')
      const { user, system } = process.cpuUsage(before)
      // Of two readers: usually 250 ms. Without an end it would be almost two minutes.
      expect((user + system) / 1000).toBeLessThan(5_000 * (await slowness()))
      expect(logged.join()).toMatch(/the process sends more than its jobs need|the process wrote too much to stderr/)
    },
  )

  // threat: reader-traffic
  test('that fills its heap is ended before its deadline', async () => {
    const readers = hostileReaders({ start: startUnskilled, limits: { computeMs: 60_000, totalMs: 60_000 } })
    await expect(readers.read(doing('eat'))).rejects.toThrow('451 4.3.0')
    expect(logged.join()).toContain('the process exceeded its memory limit')
  })

  test('does not stop other readers', async () => {
    const readers = hostileReaders()
    const neighbours = ['one', 'two', 'three'].map((subject) => readers.read(healthy(subject)))
    await expect(readers.read(doing('answer-with-a-bomb'))).rejects.toThrow('451 4.3.0')
    const read = await Promise.all(neighbours)
    expect(read.map(({ head, parseError }) => [head.subject, parseError])).toEqual([
      ['one', null],
      ['two', null],
      ['three', null],
    ])
  })
})

async function untilStarted(count: number): Promise<ChildRunner> {
  await until(`${count} readers`, () => children.length >= count)
  return children[count - 1]!
}
