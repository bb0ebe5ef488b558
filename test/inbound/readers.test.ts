import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authenticate } from 'mailauth'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import { type InboundPost, inboundBody } from '../../src/events/webhooks/inbound-payload.ts'
import { packRaw, unpackParsed, unpackRaw } from '../../src/mail/inbound-content.ts'
import { unpackMime } from '../../src/mail/mime-content.ts'
import { createResolver, mailauthResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { ReadingJob, Seal } from '../../src/receiving/inbound/inbound-result.ts'
import type { Readers } from '../../src/receiving/inbound/readers.ts'
import { inboundMessage } from '../support/inbound.ts'
import { openReaders, startProcess, startThread } from './reader-setup.ts'
import { KEY_PEM, KEY_RECORD, mail, signed, startMailZone } from './signed-mail.ts'

let zone: Zone
/** One of each kind, for all tests that do not require a separate reader. */
let shared: Readers
let open: Readers[] = []
beforeAll(async () => {
  zone = await startMailZone()
})
afterEach(async () => {
  for (const each of open) await each.stop()
  open = []
})
afterAll(async () => {
  await zone.stop()
})

const BANK = ['From: The Bank <ceo@bank.test>', 'To: b@b.test', 'Subject: Hello', 'Message-ID: <1@bank.test>']
const SEAL = { domain: 'ours.test', selector: 's1', privateKeyPem: KEY_PEM }

type Job = Omit<ReadingJob, 'jobId' | 'seals'> & { seals: Seal[] }
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

let start = startThread
function readers(options: Parameters<typeof openReaders>[1] = {}) {
  const made = openReaders(zone, { start, ...options })
  open.push(made)
  return made
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** What the next host sees of a forwarded mail. */
function atTheTarget(raw: Uint8Array) {
  const resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  const asked = mailauthResolver(resolver) as never
  const options = { ip: '127.0.0.5', helo: 'x', sender: 'v@ours.test', mta: 'target.test', strict: true }
  return authenticate(Buffer.from(raw), { ...options, disableBimi: true, resolver: asked })
}

describe.each([
  ['a thread', startThread],
  ['a confined process', startProcess],
])('in %s', (_, startOne) => {
  beforeAll(() => {
    start = startOne
    shared = readers()
    open = []
  })
  afterAll(() => shared.stop())

  describe('an inbound mail', () => {
    test('is authenticated, parsed, and stored with our trace fields in front', async () => {
      const raw = signed(mail([...BANK, 'Authentication-Results: other.test; spf=pass'], 'Hello\r\n'), 'bank.test')
      const reading = await shared.read(job(raw))
      expect(reading.verdicts).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' })
      expect(reading.head).toEqual({
        from: 'ceo@bank.test',
        fromHeader: 'The Bank <ceo@bank.test>',
        subject: 'Hello',
        messageId: '<1@bank.test>',
        answers: [],
        autoSubmitted: false,
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

    // threat: forged-authentication-results
    test('loses results forged in our name, in what is stored, shown and forwarded', async () => {
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
      'that starts with %j adds nothing to our fields',
      async (line) => {
        const reading = await shared.read(job(mail([line, ...BANK]), { seals: [SEAL] }))
        for (const bytes of [unpackRaw(reading.raw), unpackMime(reading.forwards[0]!)]) {
          expect(textOf(bytes)).toContain(`+0000\r\nX-Unnamed:\r\n${line}\r\nFrom: `)
        }
      },
    )

    test('read with many others gets its own results', async () => {
      const pool = readers({ count: 2 })
      const subjects = Array.from({ length: 40 }, (_, at) => `number ${at}`)
      const found = await Promise.all(subjects.map((subject) => pool.read(job(mail([`Subject: ${subject}`])))))
      expect(found.map(({ head }) => head.subject)).toEqual(subjects)
    })

    // threat: dns-verdict-errors
    test('with DNS that never answers is temperror within the given time', async () => {
      for (const name of ['bank.test', 's1._domainkey.bank.test', '_dmarc.bank.test']) zone.fail(name, 'timeout')
      const reading = await readers({ authenticationMs: 50 }).read(job(signed(mail(BANK), 'bank.test')))
      for (const name of ['bank.test', 's1._domainkey.bank.test', '_dmarc.bank.test']) zone.fail(name, null)
      expect(reading.verdicts).toEqual({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', arc: 'none' })
      expect(reading.parseError).toBeNull()
    })

    test('of some megabytes is read, several one after another', async () => {
      const pool = readers({ count: 2 })
      const raw = signed(mail(BANK, `${'x'.repeat(70)}\r\n`.repeat(60_000)), 'bank.test')
      const found = await Promise.all([1, 2, 3].map(() => pool.read(job(raw))))
      for (const reading of found) {
        expect(reading.verdicts.dkim).toBe('pass')
        expect(unpackParsed(reading.parsed).textBody).toHaveLength(71 * 60_000)
      }
    })

    test('in a file is read in place, without memory of the main thread', async () => {
      const { fd, byteLength } = filed(
        mail(['Subject: filed', 'From: a@a.test'], `${'x'.repeat(70)}\r\n`.repeat(50_000)),
      )
      const read = () => Promise.reject(new Error('asked for'))
      const reading = await shared.read({ ...job(Buffer.from('')), raw: { fd, byteLength, read } })
      closeSync(fd)
      expect(reading.head.subject).toBe('filed')
      expect(textOf(unpackRaw(reading.raw))).toMatch(/^Return-Path: [\s\S]*Subject: filed\r\n[\s\S]*x\r\n$/)
    })

    test('in a file that the thread cannot read is read again by us, and that failure is reported', async () => {
      const { fd, byteLength } = filed(mail(['Subject: short']))
      const broken = { fd, byteLength: byteLength + 1, read: () => Promise.reject(new Error('EIO')) }
      expect(await shared.read({ ...job(Buffer.from('')), raw: broken }).catch(String)).toBe('Error: EIO')
      const whole = { ...broken, read: async () => new Uint8Array(mail(['Subject: short'])) }
      const reading = await shared.read({ ...job(Buffer.from('')), raw: whole })
      closeSync(fd)
      expect([reading.head.subject, reading.parseError]).toEqual(['short', 'parsing failed'])
    })

    test('has attachments that can be read again from the store', async () => {
      const part = '--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n'
      const other = part.replace('aGVsbG8=', 'd29ybGQ=')
      const raw = mail([...BANK, 'Content-Type: multipart/mixed; boundary=b'], `${part}${other}--b--\r\n`)
      const pool = shared
      const reading = await pool.read(job(raw))
      expect(unpackParsed(reading.parsed).attachments.map(({ sizeBytes }) => sizeBytes)).toEqual([5, 5])
      const read = async (place: number) => {
        const bytes = await pool.attachment(unpackRaw(reading.raw), place)
        return bytes && Buffer.from(bytes).toString()
      }
      expect([await read(1), await read(2), await read(3)]).toEqual(['hello', 'world', null])
    })

    test('has its new part beside the whole text if it is an answer of a person', async () => {
      const text = 'Yes, please.\r\n\r\nOn 23/11/2026 09:41, Shop wrote:\r\n> Leave it outside?\r\n'
      const partsOf = async (...fields: string[]) => {
        const { head, parsed } = await shared.read(job(mail([...BANK, ...fields], text)))
        const { textBody, replyText, replyHtml } = unpackParsed(parsed)
        expect(textBody.replaceAll('\r\n', '\n')).toContain('> Leave it outside?')
        return [head.answers, head.autoSubmitted, replyText, replyHtml]
      }
      const answer = ['In-Reply-To: <3@ours.test>', 'References: <1@ours.test> <2@ours.test>']
      expect(await partsOf(...answer)).toEqual([
        ['<3@ours.test>', '<2@ours.test>', '<1@ours.test>'],
        false,
        'Yes, please.',
        null,
      ])
      expect(await partsOf()).toEqual([[], false, null, null])
      for (const mark of ['Auto-Submitted: auto-replied', 'List-Id: <l.example>', 'Precedence: list'])
        expect(await partsOf(...answer, mark)).toMatchObject([{}, true, null, null])
    })

    test('is made into the body of its post, the same bytes as here', async () => {
      const part = '--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n'
      const { parsed, raw } = await shared.read(
        job(mail([...BANK, 'Content-Type: multipart/mixed; boundary=b'], `${part}${part}--b--\r\n`)),
      )
      const ids = { id: 'inb_1', organizationId: 'org_1', domainId: 'dom_1', routeId: 'rte_1', receivedAt: 0 }
      const message = inboundMessage({ ...ids, to: Array(50).fill('ann@b.test') })
      const contents = [Buffer.from('hello'), Buffer.from('hello')]
      const made = async (post: Pick<InboundPost, 'raw'>) =>
        shared.makeBody({ message, parsed, replies: { answered: null }, ...post })
      const here = (given: Buffer[] | null) =>
        new Uint8Array(inboundBody(message, unpackParsed(parsed), given, { answered: null }))
      expect(await made({ raw })).toEqual(here(contents))
      expect(await made({ raw: 'absent' })).toEqual(here(null))
      expect(await made({ raw: 'unreadable' })).toEqual(here([]))
      expect(await made({ raw: packRaw(mail(BANK)) })).toBeNull() // it has no attachments
      expect(await made({ raw: raw.subarray(0, -1) }).catch(({ name }) => name)).toBe('JobFailed')
    })
  })

  describe('a forwarded mail', () => {
    beforeEach(() => zone.set('s1._domainkey.ours.test', 'TXT', [KEY_RECORD]))

    test('is sealed: the target verifies the chain, with our findings in it', async () => {
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

    test('with a broken chain, an oversized header or an unusable key is forwarded unsealed', async () => {
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
})
