import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { OrderFailure } from '../../src/domains/certificates/acme/failure.ts'
import { orderCertificate } from '../../src/domains/certificates/acme/order.ts'
import { certificateId } from '../../src/domains/certificates/acme/renewal-info.ts'
import { createPlainPages } from '../../src/domains/certificates/plain-pages.ts'
import { type Ask, createAsk } from '../../src/net/https/requests.ts'
import { type AcmeAuthority, startAcmeAuthority } from '../support/acme-authority.ts'
import { silentResolver } from '../support/silent-resolver.ts'

/** An order against an authority that checks everything. */

const accountKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pages = createPlainPages(() => '')
const shown: string[] = []
let plain: ReturnType<typeof Bun.serve>
let authority: AcmeAuthority

beforeAll(() => {
  plain = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: pages.fetch })
})
afterAll(() => plain.stop(true))
beforeEach(async () => {
  authority = await startAcmeAuthority({ askAt: () => plain.port!, now: Date.now })
  shown.length = 0
})
afterEach(() => authority.stop())

/** Sleeps are short and real. */
function quickClock() {
  let now = Date.now()
  const sleeps: number[] = []
  const sleep = async (ms: number) => {
    sleeps.push(ms)
    now += ms
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { now: () => now, sleep, sleeps }
}

const ask: Ask = (...request) =>
  createAsk({ resolver: silentResolver, mayConnect: () => true, ca: authority.ca, userAgent: 'test' })(...request)

function order(names: string[], change: Partial<Parameters<typeof orderCertificate>[1]> = {}) {
  return orderCertificate(names, {
    directoryUrl: authority.directoryUrl,
    contact: 'ops@example.com',
    accountKey,
    show: (token, text) => {
      shown.push(token)
      return pages.show(token, text)
    },
    ask,
    clock: quickClock(),
    signal: new AbortController().signal,
    ...change,
  })
}

/** An order that must fail → its error. */
async function failure(names: string[], change?: Parameters<typeof order>[1]): Promise<OrderFailure> {
  const thrown = await order(names, change).then(
    () => null,
    (error: unknown) => error,
  )
  if (thrown instanceof OrderFailure) return thrown
  throw new Error(`no OrderFailure: ${thrown}`)
}

test('validates several names and gets a certificate for them with a new key', async () => {
  const names = ['mail.example.com', 'api.example.com', 'mta-sts.example.net']
  const { certificatePem, keyPem } = await order(names)
  const [leaf, root] = certificatePem.split(/(?<=-----END CERTIFICATE-----\n)/)
  const certificate = new X509Certificate(leaf!)
  expect(certificate.subjectAltName).toBe(names.map((name) => `DNS:${name}`).join(', '))
  expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true)
  expect(root).toBe(authority.root)
  expect(authority.contacts).toEqual(['mailto:ops@example.com'])

  const again = await order(names)
  expect(again.keyPem).not.toBe(keyPem)
  expect(authority.asked.filter((step) => step === 'challenge')).toHaveLength(3) // already validated
  // Nothing is answered after the order.
  for (const token of shown) {
    const answer = await fetch(`http://127.0.0.1:${plain.port}/.well-known/acme-challenge/${token}`)
    expect(answer.status).toBe(404)
  }
})

test('names the replaced certificate if the authority supports it', async () => {
  const { certificatePem } = await order(['mail.example.com'])
  await order(['mail.example.com'], { replaces: certificatePem })
  authority.window = { start: '2027-01-01T00:00:00Z', end: '2027-01-02T00:00:00Z' }
  await order(['mail.example.com'], { replaces: certificatePem })
  expect(authority.replaced).toEqual([undefined, undefined, certificateId(certificatePem)!])
})

test('replaces a rejected nonce twice, not forever', async () => {
  authority.mischief.badNonces = 2
  await order(['mail.example.com'])
  authority.mischief.badNonces = 3
  expect((await failure(['mail.example.com'])).message).toBe('error from the CA: not this nonce')
})

test('another key gives another account, with or without a contact', async () => {
  await order(['mail.example.com'])
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await order(['mail.example.com'], { accountKey: other, contact: null })
  expect(authority.contacts).toEqual(['mailto:ops@example.com', undefined])
})

test('reports all refused names', async () => {
  authority.mischief.refused = ['b.example.com', 'c.example.com']
  const refused = await failure(['a.example.com', 'b.example.com', 'c.example.com'])
  expect(refused.refusedNames).toEqual(['b.example.com', 'c.example.com'])
  expect(refused.message).toBe(
    'b.example.com: Fetching http://b.example.com/: connection refused; c.example.com: Fetching http://c.example.com/: connection refused',
  )
})

test('reports a limit with its waiting time', async () => {
  authority.mischief.limitedSeconds = 86_400
  expect(await failure(['mail.example.com'])).toMatchObject({
    message: 'error from the CA: too many',
    retryAfterMs: 86_400_000,
  })
})

describe('slow authorities', () => {
  test('are polled as often as they ask, within bounds', async () => {
    authority.retryAfter = '45'
    authority.mischief.stuck = 'order'
    const clock = quickClock()
    const { message } = await failure(['mail.example.com'], { clock })
    expect(message).toBe('timed out waiting for the CA, last status: processing')
    expect(new Set(clock.sleeps)).toEqual(new Set([45_000]))
    expect(clock.sleeps.length).toBe((15 * 60) / 45)
    authority.retryAfter = '86400'
    const patient = quickClock()
    await failure(['other.example.com'], { clock: patient })
    expect(Math.max(...patient.sleeps)).toBe(60_000)
  })

  test('time out when they never validate', async () => {
    authority.retryAfter = '60'
    authority.mischief.stuck = 'authorization'
    expect((await failure(['mail.example.com'])).message).toBe('timed out waiting for the CA, last status: pending')
  })

  test('are abandoned when the server stops', async () => {
    const ending = new AbortController()
    authority.mischief.stuck = 'order'
    const clock = quickClock()
    const sleep = async (ms: number) => {
      if (authority.orders.length > 0) ending.abort()
      await clock.sleep(ms)
    }
    expect((await failure(['mail.example.com'], { clock: { ...clock, sleep }, signal: ending.signal })).message).toBe(
      'stopped',
    )
  })
})

// threat: hostile-certificate-authority
describe('an authority that has all the time', () => {
  test('of which every answer takes half a minute ends the order in a quarter of an hour', async () => {
    const clock = quickClock()
    const slowly: Ask = async (...request) => {
      await clock.sleep(29_000)
      return ask(...request)
    }
    const startedAt = clock.now()
    const names = Array.from({ length: 40 }, (_, at) => `n${at}.example.com`)
    expect((await failure(names, { clock, ask: slowly })).message).toBe('the CA takes too long')
    expect(clock.now() - startedAt).toBeLessThan(16 * 60_000)
  })

  test('and never answers does not hold up a stop', async () => {
    const ending = new AbortController()
    const silent: Ask = () => {
      queueMicrotask(() => ending.abort())
      return new Promise(() => {})
    }
    expect((await failure(['mail.example.com'], { ask: silent, signal: ending.signal })).message).toBe('stopped')
  })

  test('and asks to prove the same name again and again is refused', async () => {
    authority.mischief.authorizations = 500
    expect((await failure(['mail.example.com'])).message).toBe('the CA asks to prove more than the names')
    expect(authority.asked).not.toContain('authorization')
  })
})

// threat: hostile-certificate-authority
test('thousands of challenges or problems are refused unread: they held the main thread for 0.3 s', async () => {
  const saying =
    (step: string, status: number, said: object): Ask =>
    async (url, request) => {
      const answer = await ask(url, request)
      const isMeant = answer.kind === 'answered' && url.includes(`/${step}`)
      return isMeant ? { ...answer, status, text: JSON.stringify(said) } : answer
    }
  const many = Array.from({ length: 20_000 }, () => ({ type: '', detail: 'x' }))
  const authorization = { status: 'pending', identifier: { value: 'mail.example.com' }, challenges: many }
  const challenged = saying('authorization/', 200, authorization)
  expect((await failure(['mail.example.com'], { ask: challenged })).message).toStartWith('unexpected response')
  const problems = saying('new-order', 400, { type: '', detail: 'no', subproblems: many })
  expect((await failure(['mail.example.com'], { ask: problems })).message).toBe('error from the CA: no')
})

// threat: hostile-certificate-authority
describe('a chain', () => {
  test('is kept without the text around its certificates', async () => {
    authority.mischief.certificate = 'among other text'
    const { certificatePem, keyPem } = await order(['mail.example.com'])
    expect(certificatePem).not.toMatch(/PRIVATE|html/)
    expect(new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))).toBe(true)
  })

  test('of more than ten certificates, which no client reads, is refused', async () => {
    authority.mischief.certificate = 'too many'
    expect((await failure(['mail.example.com'])).message).toBe('the CA sent a chain of 22 certificates, more than 10')
  })
})

describe('authority failures:', () => {
  test.each(['directory', 'nonce', 'authorization', 'order', 'certificate'])(
    '%s is retried when cut off',
    async (step) => {
      authority.mischief.cut = { [step]: 2 }
      await order(['mail.example.com'])
    },
  )

  test.each(['directory', 'authorization', 'account', 'new-order', 'finalize'])(
    '%s that is cut off repeatedly fails the order',
    async (step) => {
      authority.mischief.cut = { [step]: 100 }
      expect((await failure(['mail.example.com'])).message).toStartWith('no response from the CA: ')
      const asked = authority.asked.filter((each) => each === step).length
      expect(asked).toBe(['directory', 'authorization'].includes(step) ? 3 : 1)
    },
  )

  test.each(['directory', 'new-order', 'authorization', 'order'])(
    '%s with another content type fails the order',
    async (garbage) => {
      authority.mischief.garbage = garbage
      expect((await failure(['mail.example.com'])).message).toBe('the CA returned invalid JSON: <html>502</html>')
    },
  )

  // threat: certificate-order-disturbed
  test('redirects by the authority are not followed', async () => {
    for (const finalizeAt of ['https://10.0.0.1/finalize', 'http://127.0.0.1/finalize', 'not a URL']) {
      authority.mischief.finalizeAt = finalizeAt
      expect((await failure(['mail.example.com'])).message).toBe(
        `the CA returned a URL of another origin: ${finalizeAt}`,
      )
    }
  })

  test('an untrusted authority receives no request', async () => {
    const ask = createAsk({ resolver: silentResolver, mayConnect: () => true, userAgent: 'test' })
    expect((await failure(['mail.example.com'], { ask })).message).toBe(
      'no response from the CA: certificate is not trusted',
    )
    expect(authority.asked).toEqual([])
  })
})
