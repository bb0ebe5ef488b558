import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authenticate } from 'mailauth'
import { createReaders, type Readers } from '../../src/inbound/readers.ts'
import type { FromReader, ReadingJob, ToReader } from '../../src/inbound/reading.ts'
import { unpackParsed, unpackRaw } from '../../src/mail/inbound-content.ts'
import { unpackMime } from '../../src/mail/mime-content.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { silentLog } from '../../src/platform/log.ts'
import { systemRandom } from '../../src/platform/random.ts'
import { createResolver, mailauthResolver } from '../../src/platform/resolver.ts'
import type { Zone } from '../../src/platform/zone-server.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { KEY_PEM, KEY_RECORD, mail, signed, startMailZone } from './signed-mail.ts'

let zone: Zone
/** One real thread for all that needs no thread of its own. */
let shared: Readers
let open: Readers[] = []
beforeAll(async () => {
  zone = await startMailZone()
  shared = readers()
  open = []
})
afterEach(async () => {
  for (const each of open) await each.stop()
  open = []
})
afterAll(async () => {
  await shared.stop()
  await zone.stop()
})

const realThread = () => new Worker(new URL('../../src/inbound/worker.ts', import.meta.url).href)
const BANK = ['From: The Bank <ceo@bank.test>', 'To: b@b.test', 'Subject: Hello', 'Message-ID: <1@bank.test>']
const SEAL = { domain: 'ours.test', selector: 's1', privateKeyPem: KEY_PEM }

type Job = Omit<ReadingJob, 'jobId'>
const job = (raw: Buffer, more: Partial<Job> = {}): Job => ({
  raw: new Uint8Array(raw),
  envelope: {
    remoteAddress: '127.0.0.1',
    helo: 'mx.bank.test',
    returnPath: 'b@bank.test',
    recipients: ['b@b.test'],
    protocol: 'ESMTPS',
    tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  },
  receivedAt: Date.now(),
  seals: [],
  forwardHeader: null,
  ...more,
})

/** In a file without a name. */
function filed(raw: Buffer): { fd: number; byteLength: number } {
  const path = join(tmpdir(), `filed-${Bun.randomUUIDv7()}`)
  writeFileSync(path, raw)
  const fd = openSync(path, 'r')
  unlinkSync(path)
  return { fd, byteLength: raw.length }
}

function readers(options: { spawn?: () => Worker; count?: number; clock?: Clock; authenticationMs?: number } = {}) {
  const { spawn = realThread, count = 1, clock = systemClock, authenticationMs = 20_000 } = options
  const settings = { hostname: 'mx.b.test', dnsServers: [zone.address], authenticationMs }
  const made = createReaders({ spawn, count, settings, clock, log: silentLog })
  open.push(made)
  return made
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** What the next host finds on a mail that was sent on. */
function atTheTarget(raw: Uint8Array) {
  const resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  const asked = mailauthResolver(resolver) as never
  const options = { ip: '127.0.0.5', helo: 'x', sender: 'v@ours.test', mta: 'target.test', strict: true }
  return authenticate(Buffer.from(raw), { ...options, disableBimi: true, resolver: asked })
}

describe('a mail that comes in', () => {
  test('is authenticated, parsed, and stored with our trace in front', async () => {
    const raw = signed(mail([...BANK, 'Authentication-Results: other.test; spf=pass'], 'Hello\r\n'), 'bank.test')
    const reading = await shared.read(job(raw))
    expect(reading.verdicts).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' })
    expect(reading.head).toEqual({
      from: 'ceo@bank.test',
      fromHeader: 'The Bank <ceo@bank.test>',
      subject: 'Hello',
      messageId: '<1@bank.test>',
      hops: 0,
      loop: null,
    })
    expect(reading.parseError).toBeNull()
    expect(unpackParsed(reading.parsed).textBody).toBe('Hello\n')
    const stored = textOf(unpackRaw(reading.raw))
    expect(stored.endsWith(raw.toString())).toBe(true)
    const trace = stored.slice(0, -raw.length).replace(/\r\n (?=\S)/g, ' ')
    expect(trace).toMatch(
      /^Return-Path: <b@bank\.test>\r\nAuthentication-Results: mx\.b\.test; spf=pass smtp\.mailfrom=bank\.test; dkim=pass header\.d=bank\.test header\.s=s1 header\.a=rsa-sha256 header\.b=\S+; dmarc=pass \(p=reject\) header\.from=bank\.test; arc=none\r\nReceived: from mx\.bank\.test \(\[127\.0\.0\.1\]\) by mx\.b\.test with ESMTPS \(TLSv1\.3 TLS_AES_256_GCM_SHA384\) id \S+ for <b@b\.test>; .* \+0000\r\n$/,
    )
  })

  test('loses what it says of itself in our name, in what is stored, shown and sent on', async () => {
    const forged = 'Authentication-Results: MX.b.test; dmarc=pass header.from=bank.test'
    const raw = mail([forged, ...BANK, forged])
    const reading = await shared.read(job(raw, { seals: [SEAL] }))
    const stored = textOf(unpackRaw(reading.raw))
    expect(stored).not.toContain('MX.b.test')
    expect(stored.match(/Authentication-Results/g)).toHaveLength(1)
    expect(unpackParsed(reading.parsed).headers).not.toHaveProperty('authentication-results')
    expect(textOf(unpackMime(reading.forwards[0]!))).not.toContain('MX.b.test')
  })

  test.each([' dkim=pass', '\t(x)', 'garbage without colon'])(
    'that begins with %j adds nothing to our fields',
    async (line) => {
      const reading = await shared.read(job(mail([line, ...BANK]), { seals: [SEAL] }))
      for (const bytes of [unpackRaw(reading.raw), unpackMime(reading.forwards[0]!)]) {
        expect(textOf(bytes)).toContain(`+0000\r\nX-Unnamed:\r\n${line}\r\nFrom: `)
      }
    },
  )

  test('many at once keep to their own answers', async () => {
    const pool = readers({ count: 2 })
    const subjects = Array.from({ length: 40 }, (_, at) => `number ${at}`)
    const found = await Promise.all(subjects.map((subject) => pool.read(job(mail([`Subject: ${subject}`])))))
    expect(found.map(({ head }) => head.subject)).toEqual(subjects)
  })

  test('DNS that never answers is temperror within the time that was given', async () => {
    for (const name of ['bank.test', 's1._domainkey.bank.test', '_dmarc.bank.test']) zone.fail(name, 'timeout')
    const reading = await readers({ authenticationMs: 50 }).read(job(signed(mail(BANK), 'bank.test')))
    for (const name of ['bank.test', 's1._domainkey.bank.test', '_dmarc.bank.test']) zone.fail(name, null)
    expect(reading.verdicts).toEqual({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', arc: 'none' })
    expect(reading.parseError).toBeNull()
  })

  test('several of some megabytes come through, one after another', async () => {
    const pool = readers({ count: 2 })
    const raw = signed(mail(BANK, `${'x'.repeat(70)}\r\n`.repeat(60_000)), 'bank.test')
    const found = await Promise.all([1, 2, 3].map(() => pool.read(job(raw))))
    for (const reading of found) {
      expect(reading.verdicts.dkim).toBe('pass')
      expect(unpackParsed(reading.parsed).textBody).toHaveLength(71 * 60_000)
    }
  })

  test('one in a file is read where it lies; main needs none of it', async () => {
    const { fd, byteLength } = filed(mail(['Subject: filed', 'From: a@a.test'], `${'x'.repeat(70)}\r\n`.repeat(50_000)))
    const read = () => Promise.reject(new Error('asked for'))
    const reading = await shared.read({ ...job(Buffer.from('')), raw: { fd, byteLength, read } })
    closeSync(fd)
    expect(reading.head.subject).toBe('filed')
    expect(textOf(unpackRaw(reading.raw))).toMatch(/^Return-Path: [\s\S]*Subject: filed\r\n[\s\S]*x\r\n$/)
  })

  test('in a file that the thread cannot read, it is looked for once more, and its failure is told', async () => {
    const { fd, byteLength } = filed(mail(['Subject: short']))
    const broken = { fd, byteLength: byteLength + 1, read: () => Promise.reject(new Error('EIO')) }
    expect(await shared.read({ ...job(Buffer.from('')), raw: broken }).catch(String)).toBe('Error: EIO')
    const whole = { ...broken, read: async () => new Uint8Array(mail(['Subject: short'])) }
    const reading = await shared.read({ ...job(Buffer.from('')), raw: whole })
    closeSync(fd)
    expect([reading.head.subject, reading.parseError]).toEqual(['short', 'it could not be read'])
  })

  test('its attachments come again from what is stored', async () => {
    const part = '--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n'
    const raw = mail([...BANK, 'Content-Type: multipart/mixed; boundary=b'], `${part}${part}--b--\r\n`)
    const pool = shared
    const reading = await pool.read(job(raw))
    expect(unpackParsed(reading.parsed).attachments.map(({ sizeBytes }) => sizeBytes)).toEqual([5, 5])
    expect(await pool.attachments(unpackRaw(reading.raw))).toEqual(['aGVsbG8=', 'aGVsbG8='])
  })
})

describe('a mail that is sent on', () => {
  beforeEach(() => zone.set('s1._domainkey.ours.test', 'TXT', [KEY_RECORD]))

  test('is sealed: the target finds a chain that passes, with what we found in it', async () => {
    const raw = signed(mail(['Return-Path: <old@x.test>', ...BANK]), 'bank.test')
    const reading = await shared.read(job(raw, { seals: [SEAL, SEAL], forwardHeader: 'X-Service-Loop: tag' }))
    expect(reading.forwards).toHaveLength(2)
    const forward = unpackMime(reading.forwards[0]!)
    const found = await atTheTarget(forward)
    const vouched = { spf: { result: 'pass' }, dkim: [{ result: 'pass' }], dmarc: { result: 'pass' } }
    expect(found.arc).toMatchObject({
      status: { result: 'pass' },
      authenticationResults: { mta: 'mx.b.test', ...vouched },
    })
    expect(found.dkim.results[0]!.status.result).toBe('pass')
    const names = textOf(forward).match(/^[A-Za-z-]+(?=:)/gm)
    expect(names?.slice(0, 5)).toEqual([
      'ARC-Seal',
      'ARC-Message-Signature',
      'ARC-Authentication-Results',
      'X-Service-Loop',
      'Received',
    ])
    expect(names).not.toContain('Return-Path')
  })

  test('that was sealed before gets the next seal, and the whole chain passes', async () => {
    const pool = shared
    const first = await pool.read(job(signed(mail(BANK), 'bank.test'), { seals: [SEAL] }))
    const again = await pool.read(job(Buffer.from(unpackMime(first.forwards[0]!)), { seals: [SEAL] }))
    expect(again.verdicts.arc).toBe('pass')
    const found = await atTheTarget(unpackMime(again.forwards[0]!))
    expect(found.arc).toMatchObject({ i: 2, status: { result: 'pass' } })
  })

  test('with a broken chain, a header beyond measure or a key of no use goes on unsealed', async () => {
    const pool = shared
    const first = await pool.read(job(signed(mail(BANK), 'bank.test'), { seals: [SEAL] }))
    const broken = textOf(unpackMime(first.forwards[0]!)).replace(/Hello\r\n$/, 'Hullo\r\n')
    const again = await pool.read(job(Buffer.from(broken), { seals: [SEAL] }))
    expect(again.verdicts.arc).toBe('fail')
    expect(textOf(unpackMime(again.forwards[0]!)).match(/^ARC-Seal/gm)).toHaveLength(1)
    const long = mail([`X-Long: a${'\r\n b'.repeat(200_000)}`, ...BANK])
    const odd = await pool.read(job(long, { seals: [SEAL] }))
    expect(textOf(unpackMime(odd.forwards[0]!))).toStartWith('Received: ')
    const keyless = await pool.read(job(mail(BANK), { seals: [{ ...SEAL, privateKeyPem: 'none' }] }))
    expect(textOf(unpackMime(keyless.forwards[0]!))).toStartWith('Received: ')
  })
})

describe('threads that fail', () => {
  /** A thread that we play: it hears what main says, and says what the test wants. */
  function playedThread(answer: (message: ToReader, say: (message: FromReader) => void, die: () => void) => void) {
    const target = new EventTarget()
    const say = (data: FromReader) => queueMicrotask(() => target.dispatchEvent(new MessageEvent('message', { data })))
    const die = () => queueMicrotask(() => target.dispatchEvent(new Event('close')))
    const postMessage = (message: ToReader) => {
      if (message.kind !== 'start') answer(message, say, die)
    }
    return Object.assign(target, { postMessage, terminate: () => {} }) as unknown as Worker
  }
  const subjectOf = (message: ToReader) => (message.kind === 'read' ? textOf(message.job.raw as Uint8Array) : '')

  test('a mail whose thread dies twice comes back unread, raw and headers kept; the others are read', async () => {
    let started = 0
    const spawn = () => {
      started++
      const real = realThread()
      const post = real.postMessage.bind(real)
      real.postMessage = ((message: ToReader) => {
        if (subjectOf(message).includes('Subject: poison')) real.terminate()
        else post(message)
      }) as typeof real.postMessage
      return real
    }
    const pool = readers({ spawn })
    const good = pool.read(job(mail(['Subject: good one'])))
    const poison = pool.read(job(mail(['Subject: poison', 'ARC-Seal: i=1; x'], 'kept\r\n'), { seals: [SEAL] }))
    const other = pool.read(job(mail(['Subject: good two'])))
    expect((await good).parseError).toBeNull()
    expect((await other).parseError).toBeNull()
    const unread = await poison
    expect(started).toBeGreaterThan(2)
    expect(unread.verdicts).toEqual({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', arc: 'fail' })
    expect(unread.parseError).toBe('the thread that read it ended')
    expect(unread.head.subject).toBe('poison')
    expect(textOf(unpackRaw(unread.raw))).toMatch(/^Return-Path: [\s\S]*Subject: poison\r\n[\s\S]*kept\r\n$/)
    expect(unpackParsed(unread.parsed).headers.subject).toBe('poison')
    expect(textOf(unpackMime(unread.forwards[0]!))).toStartWith('Received: ')
  })

  test('a mail that keeps its thread too long ends it and comes back unread; its neighbour is read by the next', async () => {
    const clock = createFakeClock(Date.now())
    const seen: string[] = []
    const spawn = () =>
      playedThread((message, say) => {
        seen.push(/Subject: (\w+)/.exec(subjectOf(message))![1]!)
        if (seen.length === 3 && message.kind === 'read') {
          say({ kind: 'reading', reading: { jobId: message.job.jobId } as never })
        }
      })
    const pool = readers({ spawn, clock })
    const slow = pool.read(job(mail(['Subject: slow'])))
    await clock.advance(1000)
    const neighbour = pool.read(job(mail(['Subject: neighbour'])))
    await clock.advance(43_999)
    expect(Bun.peek.status(slow)).toBe('pending')
    await clock.advance(1)
    expect((await slow).parseError).toBe('reading it took too long')
    await neighbour
    expect(seen).toEqual(['slow', 'neighbour', 'neighbour'])
    expect(clock.naps()).toEqual([])
  })

  test('large mails wait for room, small ones pass them', async () => {
    const heard: number[] = []
    const pool = readers({ spawn: () => playedThread((message) => heard.push(subjectOf(message).length)), count: 2 })
    for (const size of [20_000_000, 20_000_001, 500]) void pool.read(job(Buffer.alloc(size, 'x')))
    expect(heard).toEqual([20_000_000, 500])
  })

  test('attachments are null when their thread dies twice', async () => {
    const pool = readers({ spawn: () => playedThread((_message, _say, die) => die()), clock: createFakeClock(0) })
    expect(await pool.attachments(new Uint8Array(mail(BANK)))).toBeNull()
  })

  test('stop answers everything that is under way, and whatever comes after it', async () => {
    const pool = readers({ spawn: () => playedThread(() => {}) })
    const under = pool.read(job(mail(BANK)))
    await pool.stop()
    expect((await under).verdicts.dmarc).toBe('temperror')
    expect((await pool.read(job(mail(BANK)))).parseError).toBe('the server was stopping')
    expect(await pool.attachments(new Uint8Array(mail(BANK)))).toBeNull()
  })

  test('a thread that is stuck in one mail is ended for it, and not for one that waits behind it', async () => {
    const clock = createFakeClock(Date.now())
    const spawn = () =>
      playedThread((message, say) => {
        if (message.kind !== 'read') return
        const { jobId } = message.job
        if (!subjectOf(message).includes('stuck')) return
        say({ kind: 'at_work', jobId })
      })
    const pool = readers({ spawn, clock })
    const patient = pool.read(job(mail(['Subject: patient'])))
    await clock.advance(10_000)
    const stuck = pool.read(job(mail(['Subject: stuck'])))
    await clock.advance(35_000)
    expect((await stuck).parseError).toBe('reading it took too long')
    expect(Bun.peek.status(patient)).toBe('pending')
  })

  test('none is there before the first mail, and one that died is not started again for nothing', async () => {
    let started = 0
    const spawn = () => {
      started++
      return playedThread((_message, _say, die) => die())
    }
    const clock = createFakeClock(0)
    const pool = readers({ spawn, clock, count: 2 })
    expect(started).toBe(0)
    const read = pool.read(job(mail(BANK)))
    expect(started).toBe(2)
    await clock.advance(120_000)
    expect((await read).parseError).toBe('the thread that read it ended')
    const before = started
    await clock.advance(120_000)
    expect(started).toBe(before)
    expect(clock.naps()).toEqual([])
  })
})
