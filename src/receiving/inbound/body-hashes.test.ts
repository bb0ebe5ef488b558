import { describe, expect, test } from 'bun:test'
import { dkimBody } from 'mailauth/lib/dkim/body'
import { costMs } from '../../../test/support/cpu-cost.ts'
import { TEST_LIMIT_MS } from '../../../test/support/patience.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { systemClock } from '../../os/clock.ts'
import { authenticate } from './authenticate.ts'
import { createBodyHashes } from './body-hashes.ts'

/** Bodies of the bytes that canonicalization acts on, from a seed. */
function bodies(count: number, bits: readonly string[]): Buffer[] {
  let state = 7
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  return Array.from({ length: count }, () =>
    Buffer.from(Array.from({ length: next(40) }, () => bits[next(bits.length)]!).join('')),
  )
}

const UNTIDY = ['\r\n', '\r\n\r\n', ' ', '\t', '  ', 'a', 'bc', '.', ' \r\n', '\t \r\n', 'é']
/** Hardly anything to canonicalize, as in most mail. */
const TIDY = ['a b', 'c ', 'words of it', '\r\nd', '\r\n\r\n', 'é']
const LIMITS = ['', 0, 1, 2, 7, 1_000] as const

describe('body hashes', () => {
  test.each(['simple', 'relaxed'])('equal mailauth’s hashes for %s bodies split anywhere, for each l=', (kind) => {
    for (const [at, body] of [
      ...bodies(1_500, UNTIDY),
      ...bodies(500, TIDY),
      Buffer.from('\r\n'.repeat(20_000)),
      manyLineEnds,
    ].entries()) {
      const size = at % 5 === 0 ? body.length + 1 : 1 + (at % 7)
      const hashes = createBodyHashes()
      const pairs = LIMITS.map((most) => ({
        ours: hashes.add(kind === 'relaxed', 'sha256', most === '' ? Number.POSITIVE_INFINITY : most),
        theirs: dkimBody(kind, 'sha256', most),
      }))
      for (let from = 0; from < body.length; from += size) hashes.update(body.subarray(from, from + size))
      for (const { ours, theirs } of pairs) {
        theirs.update(body)
        const expected = [theirs.digest('base64'), theirs.canonicalizedLength - theirs.bodyHashedBytes]
        const found = [ours.digest('base64'), ours.unhashedBytes()]
        expect({ body: body.toString().slice(0, 200), found }).toEqual({
          body: body.toString().slice(0, 200),
          found: expected,
        })
      }
    }
  })

  // threat: dkim-body-cost
  test('twenty signatures of different l= cost no more than four times one', async () => {
    const one = await cost(signed(1))
    const twenty = await cost(signed(20))
    expect(twenty).toBeLessThan(4 * one + 100)
  })
})

const manyLineEnds = Buffer.from(`a${'\r\n'.repeat(20_000)}b${'x \t\r\n'.repeat(5_000)}`)

function signed(count: number): Uint8Array {
  const signatures = Array.from(
    { length: count },
    (_, at) =>
      `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x.test; s=s; h=from; l=${at}; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA\r\n`,
  )
  return Buffer.from(`${signatures.join('')}From: a@x.test\r\n\r\n${'a b \t\r\n'.repeat(300_000)}`)
}

const nothing = async () => ({ kind: 'nxdomain' as const })
const resolver = new Proxy({}, { get: () => nothing }) as Resolver

function cost(raw: Uint8Array): Promise<number> {
  const claim = { raw, remoteAddress: '192.0.2.1', helo: 'x.test', returnPath: 'a@x.test', from: 'a@x.test' }
  const options = { resolver, clock: systemClock, hostname: 'h.test', limitMs: TEST_LIMIT_MS }
  return costMs(() => authenticate(claim, options), 4)
}
