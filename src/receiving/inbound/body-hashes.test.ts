import { describe, expect, test } from 'bun:test'
import { dkimBody } from 'mailauth/lib/dkim/body'
import { costMs, expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { TEST_LIMIT_MS } from '../../../test/support/patience.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { systemClock } from '../../os/clock.ts'
import { authenticate } from './authenticate.ts'
import { hashBody } from './body-hashes.ts'

/** Bodies of the bytes that canonicalization acts on, from a seed. */
function bodies(count: number, bits: readonly string[], length = 40): Buffer[] {
  let state = 7
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  return Array.from({ length: count }, () =>
    Buffer.from(Array.from({ length: next(length) }, () => bits[next(bits.length)]!).join('')),
  )
}

const UNTIDY = ['\r\n', '\r\n\r\n', ' ', '\t', '  ', 'a', 'bc', '.', ' \r\n', '\t \r\n', 'é']
/** Hardly anything to canonicalize, as in most mail. */
const TIDY = ['a b', 'c ', 'words of it', '\r\nd', '\r\n\r\n', 'é']

describe('body hashes', () => {
  test.each(['simple', 'relaxed'])('equal mailauth’s hashes of the same %s body', async (kind) => {
    const long = bodies(6, UNTIDY, 100_000)
    for (const body of [...bodies(1_500, UNTIDY), ...bodies(500, TIDY), ...long, manyLineEnds]) {
      const theirs = dkimBody(kind, 'sha256', '')
      theirs.update(body)
      const hash = theirs.digest('base64')
      const start = body.toString().slice(0, 200)
      const ours = await hashBody(body, kind === 'relaxed', 'sha256')
      expect({ start, ...ours }).toEqual({ start, hash, canonicalizedLength: theirs.canonicalizedLength })
    }
  })

  // threat: dkim-body-cost
  test.each([
    ['short lines that end in a tab', 'x\t\r\n'],
    ['lines of one blank', ' \r\n'],
    ['a line without an end', 'x'],
    ['empty lines', 'x\r\n\r\n'],
  ])('25 MB of %s cost no second', async (_, text) => {
    const body = Buffer.alloc(25_000_000, text)
    await expectCostUnder(1_000, async () => {
      await hashBody(body, true, 'sha256')
      await hashBody(body, false, 'sha256')
    })
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
