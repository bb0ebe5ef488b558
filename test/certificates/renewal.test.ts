import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OrderFailure } from '../../src/domains/certificates/acme/failure.ts'
import type { RenewalWindow } from '../../src/domains/certificates/acme/renewal-info.ts'
import type { Reach } from '../../src/domains/certificates/reach.ts'
import { createRenewal, type Renewal } from '../../src/domains/certificates/renewal.ts'
import { certificateFiles, readStoredCertificate } from '../../src/domains/certificates/stored-certificate.ts'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { createLog } from '../../src/os/log.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

/** When a certificate is ordered, and how attempts are counted. The authority is a function here, and reachability a
 *  table. */

const START = Date.UTC(2026, 10, 21, 12)
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]
const HOST = 'mail.example.com'
const API = 'api.example.com'

let dataDir = ''
let clock: FakeClock
let lines: string[]
/** The names of each order, and its time in hours since START. */
let orders: { names: string[]; hours: number }[]
let reach: Record<string, Reach>
let domainNames: string[]
let answer: (names: readonly string[], signal: AbortSignal) => Promise<Certificate>
let wish: RenewalWindow | null | 'silence'
let replaced: (string | undefined)[]
let changes: number
let mayOrder: boolean
const PASSPHRASE = 'of the store'

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-renewal-'))
  clock = createFakeClock(START)
  lines = []
  orders = []
  reach = {}
  domainNames = []
  answer = (names) => made(names)
  changes = 0
  mayOrder = true
  wish = null
  replaced = []
})
afterEach(() => rmSync(dataDir, { recursive: true }))

/** Valid since a day ago, as selfSignedCertificate makes them. */
/** Its first certificate is right, the one behind it is broken. */
const broken = async () => {
  const { certificatePem, keyPem } = await made([HOST])
  return { keyPem, certificatePem: `${certificatePem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` }
}
const made = (names: readonly string[], days = 90) =>
  selfSignedCertificate({ names: [...names], now: clock.now(), days })

async function open(names = [HOST], settings = 'settings'): Promise<Renewal> {
  return createRenewal({
    storage: certificateFiles(dataDir, settings, PASSPHRASE),
    kept: await readStoredCertificate(dataDir, settings, PASSPHRASE),
    mayOrder: async () => mayOrder,
    directoryUrl: `https://${settings}.example/directory`,
    names: async () => names,
    domainNames: async () => domainNames,
    reachOf: async (name) => reach[name] ?? { kind: 'here' },
    windowOf: async () => {
      if (wish === 'silence') throw new OrderFailure('no response from the CA: timeout')
      return wish
    },
    order: (wanted, { signal, replaces }) => {
      replaced.push(replaces)
      orders.push({ names: [...wanted], hours: Math.round((clock.now() - START) / HOUR_MS) })
      return answer(wanted, signal)
    },
    onChange: () => {
      changes++
    },
    clock,
    random: { bytes: () => new Uint8Array(), fraction: () => 0.5 },
    log: createLog({ clock, level: 'info', format: 'text', write: (line) => lines.push(line) }),
  })
}

/** Runs the minute task for this long. */
async function pass(renewal: Renewal, ms: number, stepMs = MINUTE_MS): Promise<void> {
  for (const end = clock.now() + ms; clock.now() < end; ) {
    await renewal.renewIfDue()
    await clock.advance(stepMs)
  }
  await renewal.renewIfDue()
}

const hours = () => orders.map((order) => order.hours)
const refusing = async () => {
  throw new OrderFailure('error from the CA: no')
}

test('the first certificate is fetched at once, readable by its owner only, and kept over a restart', async () => {
  const renewal = await open([HOST, API])
  expect(renewal.certificate()).toBeNull()
  await renewal.renewIfDue()
  expect(renewal.certificate()?.names).toEqual([HOST, API])
  expect(changes).toBe(1)
  expect(statSync(join(dataDir, 'acme-certificate.pem')).mode & 0o777).toBe(0o600)
  const again = await open([HOST, API])
  expect(again.certificate()).toEqual(renewal.certificate())
  await pass(again, DAY_MS, HOUR_MS)
  expect(orders).toHaveLength(1)
})

test('a node that may not order presents what it has', async () => {
  mayOrder = false
  const renewal = await open()
  await pass(renewal, HOUR_MS)
  expect(orders).toEqual([])
  mayOrder = true
  await renewal.renewIfDue()
  const first = renewal.certificate()
  mayOrder = false
  await pass(renewal, 80 * DAY_MS, DAY_MS)
  expect(renewal.certificate()).toEqual(first)
  await pass(renewal, 10 * DAY_MS, DAY_MS)
  expect(renewal.certificate()).toBeNull()
  expect(orders).toHaveLength(1)
})

test('a certificate is renewed when two thirds of its lifetime are over, again and again', async () => {
  const renewal = await open()
  await pass(renewal, 200 * DAY_MS, HOUR_MS)
  // It is a day old on arrival.
  expect(hours()).toEqual([0, 59, 118, 177].map((days) => days * 24))
  expect(changes).toBe(4)
})

test('a certificate of another authority, like a staging environment, is replaced, and presented until then', async () => {
  const staging = await open([HOST], 'staging')
  await staging.renewIfDue()
  const real = await open([HOST], 'real')
  expect(real.certificate()).toEqual(staging.certificate())
  await real.renewIfDue()
  expect(real.certificate()).not.toEqual(staging.certificate())
  expect(replaced).toEqual([undefined, undefined])
  await pass(await open([HOST], 'real'), DAY_MS, HOUR_MS)
  expect(orders).toHaveLength(2)
})

describe('renewal information of the authority', () => {
  const within = (from: number, to: number): RenewalWindow => ({
    startsAt: START + from * DAY_MS,
    endsAt: START + to * DAY_MS,
    retryAfterMs: null,
  })

  test('for an earlier renewal is followed, at a random moment of its window that does not change', async () => {
    const renewal = await open()
    await renewal.renewIfDue()
    const first = renewal.certificate()
    wish = within(10, 12)
    await pass(renewal, 11 * DAY_MS, HOUR_MS)
    wish = null // nothing is known of the new one
    await pass(renewal, 3 * DAY_MS, HOUR_MS)
    expect(hours()).toEqual([0, 11 * 24])
    expect(replaced).toEqual([undefined, first!.certificatePem])
  })

  test('with a window in the past gives one renewal, and not one after the other', async () => {
    const renewal = await open()
    await renewal.renewIfDue()
    wish = within(-20, -10)
    await pass(renewal, 5 * DAY_MS, HOUR_MS)
    expect(hours()).toEqual([0, 24, 48, 72, 96, 120])
  })

  test('for a later renewal, or without an answer, changes nothing', async () => {
    const renewal = await open()
    wish = within(80, 85)
    await pass(renewal, 30 * DAY_MS, HOUR_MS)
    wish = 'silence'
    await pass(renewal, 31 * DAY_MS, HOUR_MS)
    expect(hours()).toEqual([0, 59 * 24])
    expect(lines.filter((line) => line.includes('warn') || line.includes('error'))).toEqual([])
  })

  test('names the replaced certificate in the first order only, not in those after a failure', async () => {
    const renewal = await open()
    await renewal.renewIfDue()
    answer = refusing
    await pass(renewal, 60 * DAY_MS, HOUR_MS)
    expect(replaced.slice(1).map((each) => each !== undefined)).toEqual([true, ...replaced.slice(2).map(() => false)])
    expect(replaced.length).toBeGreaterThan(2)
  })
})

describe('failures', () => {
  test('are an hour apart, then six, then a day, also after restarts', async () => {
    answer = refusing
    let renewal = await open()
    for (let day = 0; day < 16; day++) {
      await pass(renewal, DAY_MS / 4, 10 * MINUTE_MS)
      renewal = await open()
    }
    expect(hours()).toEqual([0, 1, 7, 31, 55, 79])
    answer = (names) => made(names)
    await pass(renewal, DAY_MS, HOUR_MS)
    expect(renewal.certificate()?.names).toEqual([HOST])
    expect(lines.filter((line) => line.includes('certificate not issued'))).toHaveLength(6)
  })

  test('count before they happen: a process that dies during one has made it', async () => {
    answer = () => new Promise(() => {})
    void (await open()).renewIfDue()
    await clock.advance(0)
    while (orders.length === 0) await clock.advance(0)
    const renewal = await open()
    answer = (names) => made(names)
    await pass(renewal, HOUR_MS - 2 * MINUTE_MS)
    expect(hours()).toEqual([0])
    await pass(renewal, 5 * MINUTE_MS)
    expect(hours()).toEqual([0, 1])
  })

  test('caused by our own stop do not count', async () => {
    answer = (_names, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new OrderFailure('stopped'))))
    const renewal = await open()
    const tended = renewal.renewIfDue()
    while (orders.length === 0) await clock.advance(0)
    await renewal.stop()
    await tended
    answer = (names) => made(names)
    await pass(await open(), 3 * MINUTE_MS)
    expect(orders).toHaveLength(2)
  })

  test('wait for as long as the authority says', async () => {
    answer = async () => {
      throw new OrderFailure('error from the CA: too many', { retryAfterMs: 3 * DAY_MS })
    }
    await pass(await open(), 7 * DAY_MS, HOUR_MS)
    expect(hours()).toEqual([0, 72, 144])
  })

  test('start again with other settings', async () => {
    answer = refusing
    await pass(await open(), 2 * HOUR_MS)
    await pass(await open([HOST], 'another authority'), 2 * MINUTE_MS)
    expect(hours()).toEqual([0, 1, 2])
  })

  test('leave the previous certificate in place, which is presented until it expires', async () => {
    const renewal = await open()
    await renewal.renewIfDue()
    const first = renewal.certificate()
    answer = refusing
    await pass(renewal, 88 * DAY_MS, 6 * HOUR_MS)
    expect(renewal.certificate()).toEqual(first)
    expect(changes).toBe(1)
    await pass(renewal, 2 * DAY_MS, 6 * HOUR_MS)
    expect(renewal.certificate()).toBeNull()
    expect(changes).toBe(2)
    expect((await open()).certificate()).toBeNull()
  })

  test.each<[string, () => Promise<Certificate>, string]>([
    ['another name', () => made(['other.example.com']), `without ${HOST}`],
    ['invalid PEM', async () => ({ certificatePem: 'nothing', keyPem: 'nothing' }), 'sent an invalid certificate'],
    [
      'another key',
      async () => ({ ...(await made([HOST])), keyPem: (await made([HOST])).keyPem }),
      'private key does not match',
    ],
    ['a chain that no listener can open with', broken, 'sent an invalid certificate'],
  ])('include a certificate of %s', async (_what, given, words) => {
    answer = given
    const renewal = await open()
    await pass(renewal, HOUR_MS)
    expect(renewal.certificate()).toBeNull()
    expect(changes).toBe(0)
    expect(lines.filter((line) => line.includes(words))).not.toBeEmpty()
  })

  // threat: hostile-certificate-authority
  test('of a file with a chain that no listener can open with count as no certificate', async () => {
    await certificateFiles(dataDir, 'settings', PASSPHRASE).keepCertificate(await broken())
    expect((await open()).certificate()).toBeNull()
  })

  test('that are unforeseen are logged with the error, and reported as internal', async () => {
    answer = async () => {
      throw new TypeError('undefined is not')
    }
    await (await open()).renewIfDue()
    expect(lines.join('')).toContain('TypeError')
    expect((await readStoredCertificate(dataDir, 'settings', PASSPHRASE)).progress.trouble).toBe(
      'internal error; see the log',
    )
  })

  test('delay a reload by at most a quarter of an hour', async () => {
    answer = refusing
    const renewal = await open()
    await renewal.renewIfDue()
    renewal.retryNow()
    await renewal.renewIfDue()
    expect(orders).toHaveLength(1)
    await clock.advance(15 * MINUTE_MS)
    renewal.retryNow()
    await renewal.renewIfDue()
    expect(orders).toHaveLength(2)
  })
})

describe('names', () => {
  const elsewhere: Reach = { kind: 'elsewhere', reason: `${API} resolves to 192.0.2.1, which is not this machine` }

  test('that lead elsewhere cost no attempt, are logged once, and are added when they lead here', async () => {
    reach[HOST] = { kind: 'elsewhere', reason: `${HOST} has no A or AAAA record` }
    const renewal = await open()
    await pass(renewal, HOUR_MS)
    expect(orders).toEqual([])
    expect(lines).toHaveLength(1)
    expect((await readStoredCertificate(dataDir, 'settings', PASSPHRASE)).progress.trouble).toBe(
      `${HOST} has no A or AAAA record`,
    )
    delete reach[HOST]
    await pass(renewal, 6 * MINUTE_MS)
    expect(renewal.certificate()?.names).toEqual([HOST])
    expect((await readStoredCertificate(dataDir, 'settings', PASSPHRASE)).progress.trouble).toBeNull()
  })

  test('that are valid do not wait for one that is not', async () => {
    reach[API] = elsewhere
    const renewal = await open([HOST, API])
    await pass(renewal, HOUR_MS)
    expect(orders.map(({ names }) => names)).toEqual([[HOST]])
    delete reach[API]
    await pass(renewal, 6 * MINUTE_MS)
    expect(renewal.certificate()?.names).toEqual([HOST, API])
  })

  test('stay for a while when they lead elsewhere at a renewal', async () => {
    const renewal = await open([HOST, API])
    await renewal.renewIfDue()
    reach[API] = elsewhere
    await pass(renewal, 70 * DAY_MS, HOUR_MS)
    expect(orders).toHaveLength(1)
    await pass(renewal, 11 * DAY_MS, HOUR_MS)
    expect(orders.map(({ names }) => names)).toEqual([[HOST, API], [HOST]])
  })

  test('behind an address that may be forwarded are tried', async () => {
    reach[HOST] = { kind: 'unknown' }
    domainNames = ['links.example.net']
    reach['links.example.net'] = { kind: 'unknown' }
    const renewal = await open()
    await renewal.renewIfDue()
    expect(renewal.certificate()?.names).toEqual([HOST])
  })

  test('of domains are added once a day, and only those that lead here', async () => {
    const renewal = await open()
    await renewal.renewIfDue()
    domainNames = ['one.example.net', 'two.example.net', 'away.example.net']
    reach['away.example.net'] = elsewhere
    await pass(renewal, 26 * HOUR_MS)
    domainNames.push('three.example.net')
    await pass(renewal, 26 * HOUR_MS)
    expect(orders.map((order) => order.names)).toEqual([
      [HOST],
      [HOST, 'one.example.net', 'two.example.net'],
      [HOST, 'one.example.net', 'two.example.net', 'three.example.net'],
    ])
    expect(hours()).toEqual([0, 24, 48])
  })

  // threat: certificate-order-disturbed
  test('of a domain that the authority refuses do not delay the others', async () => {
    domainNames = ['evil.example.net', 'good.example.net']
    answer = async (names) => {
      if (!names.includes('evil.example.net')) return made(names)
      throw new OrderFailure('evil.example.net: refused', { refusedNames: ['evil.example.net'] })
    }
    const renewal = await open()
    await pass(renewal, 12 * MINUTE_MS)
    expect(renewal.certificate()?.names).toEqual([HOST, 'good.example.net'])
    await pass(renewal, 6 * DAY_MS, HOUR_MS)
    expect(orders).toHaveLength(2)
    await pass(renewal, 2 * DAY_MS, HOUR_MS)
    expect(orders).toHaveLength(3)
    expect(renewal.certificate()?.names).toEqual([HOST, 'good.example.net'])
  })

  test('are a hundred at most, our own first', async () => {
    domainNames = Array.from({ length: 150 }, (_, at) => `host${at}.example.net`)
    const renewal = await open()
    await renewal.renewIfDue()
    expect(renewal.certificate()?.names).toHaveLength(100)
    expect(renewal.certificate()?.names[0]).toBe(HOST)
  })
})

describe('a clock that is set', () => {
  const TEN_YEARS_MS = 3650 * DAY_MS

  test('ten years ahead and back costs an attempt or two, and no wait of ten years', async () => {
    const renewal = await open()
    await renewal.renewIfDue()
    const first = renewal.certificate()
    answer = refusing // by then the certificate of the authority itself has expired
    clock.jump(TEN_YEARS_MS)
    await pass(renewal, 30 * MINUTE_MS)
    expect(renewal.certificate()).toBeNull()
    clock.jump(-TEN_YEARS_MS)
    await pass(renewal, 2 * MINUTE_MS)
    expect(renewal.certificate()).toEqual(first)
    expect(orders).toHaveLength(2)
    answer = (names) => made(names)
    await pass(renewal, 62 * DAY_MS, HOUR_MS)
    expect(orders).toHaveLength(3)
    expect(changes).toBe(4)
  })

  test('ahead for good gets expired certificates, three days apart, with a hint in the log', async () => {
    answer = (names) => selfSignedCertificate({ names: [...names], now: START, days: 90 })
    clock.jump(TEN_YEARS_MS)
    const renewal = await open()
    await pass(renewal, 7 * DAY_MS, HOUR_MS)
    expect(orders).toHaveLength(3)
    expect(renewal.certificate()).toBeNull()
    expect(lines.join('')).toContain('Check the clock of this machine.')
    clock.jump(-TEN_YEARS_MS)
    await renewal.renewIfDue()
    expect(renewal.certificate()?.names).toEqual([HOST])
    expect(orders).toHaveLength(3)
  })
})

test('damaged files count as missing', async () => {
  await (await open()).renewIfDue()
  writeFileSync(join(dataDir, 'acme-progress.json'), '{"failures": "many"')
  const pem = join(dataDir, 'acme-certificate.pem')
  writeFileSync(pem, readFileSync(pem, 'utf8').slice(0, 600))
  const renewal = await open()
  expect(renewal.certificate()).toBeNull()
  await renewal.renewIfDue()
  expect(orders).toHaveLength(2)
})
