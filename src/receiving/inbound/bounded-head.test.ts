import { describe, expect, test } from 'bun:test'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { TEST_LIMIT_MS } from '../../../test/support/patience.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { systemClock } from '../../os/clock.ts'
import { authenticate } from './authenticate.ts'
import { bounded, HEAD_LIMITS } from './bounded-head.ts'

const nothing = async () => ({ kind: 'nxdomain' as const })
const resolver = new Proxy({}, { get: () => nothing }) as Resolver
const mailOf = (...head: string[]) => new Uint8Array(Buffer.from(`${head.join('\r\n')}\r\n\r\nbody\r\n`))
const FROM = 'From: a@x.test'
const names = (count: number) => Array.from({ length: count }, (_, at) => `x-a${at}`)
const lines = (count: number) => Array.from({ length: count }, (_, at) => `X-A${at}: b`)
const signature = (h: readonly string[], at = 0) =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x${at}.test; s=s; h=${h.join(':')}; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA`
const seal = (h: readonly string[], i: number) => [
  `ARC-Seal: i=${i}; a=rsa-sha256; t=1; cv=${i === 1 ? 'none' : 'pass'}; d=x.test; s=s; b=AAAA`,
  `ARC-Message-Signature: i=${i}; a=rsa-sha256; c=relaxed/relaxed; d=x.test; s=s; h=${h.join(':')}; bh=x; b=AAAA`,
  `ARC-Authentication-Results: i=${i}; x.test; spf=pass`,
]
/** A fold of many blanks. */
const blanks = `${' '.repeat(60_000)}\r\n `
const ideographs = (at: number) =>
  `a@${String.fromCharCode(...times(19_900, (n) => 0x4e00 + ((n + at * 7) % 20_000)))}.test`
const quoted = (count: number) =>
  times(count, (n) => encodeURIComponent(String.fromCharCode(0x4e00 + (n % 20_000))).replaceAll('%', '=')).join('')
const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))

const authenticated = (raw: Uint8Array) =>
  authenticate(
    { raw, remoteAddress: '192.0.2.1', helo: 'x.test', returnPath: 'a@x.test', from: 'a@x.test' },
    { resolver, clock: systemClock, hostname: 'h.test', limitMs: TEST_LIMIT_MS },
  )

describe('an expensive header', () => {
  const { signatures, signedNames, fields, linesInField, fromBytes } = HEAD_LIMITS
  // threat: dkim-header-cost
  test.each<[string, Uint8Array]>([
    [
      '20 signatures of 4,500 names over 4,900 lines',
      mailOf(FROM, ...times(20, (at) => signature(['from', ...names(4_500)], at)), ...lines(4_900)),
    ],
    [
      'the maximum of signatures, names and fields',
      mailOf(
        FROM,
        ...times(signatures, (at) => signature(['from', ...names(signedNames - 10)], at)),
        ...lines(fields - 25),
      ),
    ],
    [
      '50 ARC sets of 1,500 names',
      mailOf(...times(50, (at) => seal(names(1_500), 50 - at)).flat(), FROM, ...lines(1_800)),
    ],
    [
      '50 ARC sets of the maximum size',
      mailOf(...times(50, (at) => seal(names(signedNames - 10), 50 - at)).flat(), FROM, ...lines(fields - 200)),
    ],
    ['one field of 4,990 lines', mailOf(FROM, `X: a${'\r\n b'.repeat(4_990)}`)],
    ['fields of the most lines', mailOf(FROM, ...times(2, () => `X: a${'\r\n b'.repeat(linesInField - 2)}`))],
    ['a From of 125,000 colons', mailOf(`From: ${'a:'.repeat(125_000)}`)],
    ['a From of the most bytes', mailOf(`From: ${'a:'.repeat(fromBytes / 2 - 10)}`)],
    ['5,000 From fields', mailOf(...times(5_000, (at) => `From: a@d${at}.test`))],
    [
      'signatures of 3,000 tags',
      mailOf(FROM, ...times(20, (at) => `${signature(['from'], at)}${';a=b'.repeat(3_000)}`)),
    ],
    ['a seal with its colon on the next line', mailOf(`ARC-Seal\r\n:i=1; a=b${blanks.repeat(4)}x;`, FROM)],
    ['a seal that begins with a blank', mailOf(` ARC-Seal: i=1; a=b${blanks.repeat(2)}x`, FROM)],
    ['a seal with a line that is no field', mailOf(`ARC-Seal: i=1; a=b\r\n:x${blanks.repeat(2)}y`, FROM)],
    [
      '990 signatures with their colons on the next line',
      mailOf(FROM, ...times(990, (at) => signature(['from'], at).replace(':', '\r\n:'))),
    ],
    ['From with many letters behind its first line', mailOf(`From: a@b.test,\r\n:${times(4, ideographs).join(', ')}`)],
    ['i= with 26,000 letters in quoted-printable', mailOf(FROM, `${signature(['from'])}; i=@${quoted(26_000)}.test`)],
    ['i= of 900,000 letters', mailOf(FROM, `${signature(['from'])}; i=${'a'.repeat(900_000)}@x.test`)],
    [
      '20 signatures over a megabyte of tabs',
      mailOf(...times(20, (at) => signature(['from', 'x'], at)), FROM, `X: ${'\ta'.repeat(500_000)}`),
    ],
    ['180,000 empty results', mailOf(`ARC-Authentication-Results: i=1;${';'.repeat(180_000)}b`, FROM)],
  ])('%s: takes under 150 ms', async (_, raw) => {
    await expectCostUnder(150, () => authenticated(raw), 6)
  })
})

describe('the header that is processed', () => {
  const text = (raw: Uint8Array) => Buffer.from(raw).toString()

  test('is the whole mail for ordinary mail', () => {
    const raw = mailOf(FROM, signature(['from', ...names(60)]), ...lines(500))
    expect(bounded(raw)).toEqual({ raw: Buffer.from(raw), fault: null })
  })

  test('omits signatures and seals with too many names and keeps the others', () => {
    const { signedNames } = HEAD_LIMITS
    const [sealed, ...rest] = [seal(names(signedNames + 1), 1), FROM, signature(['from'])]
    const { raw, fault } = bounded(mailOf(signature(names(signedNames + 1)), ...sealed!, ...(rest as string[])))
    expect(fault).toBeNull()
    expect(text(raw)).toBe(text(mailOf(sealed![0]!, sealed![2]!, FROM, signature(['from']))))
  })

  test.each([
    ['fields', mailOf(...lines(HEAD_LIMITS.fields + 1), FROM)],
    ['lines of one field', mailOf(`X: a${'\r\n b'.repeat(HEAD_LIMITS.linesInField + 1)}`, FROM)],
    ['lines', mailOf(...times(4, () => `X: a${'\r\n b'.repeat(1_500)}`), FROM)],
  ])('is From alone when there are too many %s', (_, raw) => {
    expect(bounded(raw)).toEqual({ raw: Buffer.from(`${FROM}\r\n\r\n`), fault: 'header too large' })
  })

  test('is empty when From itself is too large', () => {
    const raw = mailOf(`From: ${'a@x.test, '.repeat(2_000)}`)
    expect(bounded(raw)).toEqual({ raw: Buffer.from('\r\n'), fault: 'header too large' })
  })

  const L = HEAD_LIMITS
  /** A header of that many bytes before the empty line, in lines of 1,002 bytes. */
  const ofBytes = (count: number) => {
    const rest = count - FROM.length - 2
    const whole = times(Math.floor(rest / 1_002) - 1, (at) => `X-${String(at).padStart(4, '0')}: ${'a'.repeat(992)}`)
    const last = rest - whole.length * 1_002 - 2
    return mailOf(FROM, ...whole, `X: ${'a'.repeat(last - 3)}`)
  }
  const folded = (blank: string, count: number) => `X: a${`\r\n${blank}b`.repeat(count - 1)}`
  test.each<[string, number, (count: number) => Uint8Array]>([
    ['fields', L.fields, (count) => mailOf(FROM, ...lines(count - 1))],
    ['lines of a field folded by spaces', L.linesInField, (count) => mailOf(FROM, folded(' ', count))],
    ['lines of a field folded by tabs', L.linesInField, (count) => mailOf(FROM, folded('\t', count))],
    [
      'lines',
      L.lines,
      (count) => mailOf(FROM, ...times(4, () => folded(' ', (L.lines - 4) / 4)), ...lines(count - L.lines + 3)),
    ],
    ['bytes', L.bytes, ofBytes],
    ['bytes of From', L.fromBytes, (count) => mailOf(`From: ${'a'.repeat(count - 8)}`)],
  ])('may have the maximum of %s', (_, most, mail) => {
    expect([most, most + 1].map((count) => bounded(mail(count)).fault)).toEqual([null, 'header too large'])
  })

  test.each<[string, number, (count: number) => string]>([
    ['names', L.signedNames, (count) => `DKIM-Signature: h=${names(count).join(':')}`],
    ['blanks in a row', L.blanksInRow, (count) => `DKIM-Signature: a${' '.repeat(count)}b`],
    ['bytes of i=', L.identityBytes, (count) => `DKIM-Signature: i=${'a'.repeat(count - 3)}; v=1`],
    ['bytes beyond ASCII', L.foreignBytes, (count) => `DKIM-Signature: ${'é'.repeat(count / 2)}`],
  ])('keeps a signature with the maximum of %s', (_, most, field) => {
    const keeps = (count: number) => text(bounded(mailOf(FROM, field(count))).raw).includes('DKIM-Signature')
    expect([most, most + 2].map(keeps)).toEqual([true, false])
  })

  test('keeps the maximum number of signatures, and the first ones', () => {
    const { raw, fault } = bounded(mailOf(FROM, ...times(L.signatures + 2, (at) => signature(['from'], at))))
    expect(fault).toBeNull()
    expect(text(raw)).toBe(text(mailOf(FROM, ...times(L.signatures, (at) => signature(['from'], at)))))
  })

  test('keeps fewer signatures of a large header', () => {
    const large = `X: ${'a'.repeat(L.signedBytes / 4)}`
    const { raw } = bounded(mailOf(FROM, large, ...times(5, (at) => signature(['from'], at))))
    expect(text(raw)).toBe(text(mailOf(FROM, large, ...times(3, (at) => signature(['from'], at)))))
  })

  test('is empty when the domain of the author is too long', () => {
    const ofDomain = (count: number) => bounded(mailOf(`From: a@${'d'.repeat(count)}`))
    expect(ofDomain(L.authorNameBytes).fault).toBeNull()
    expect(ofDomain(L.authorNameBytes + 1)).toEqual({ raw: Buffer.from('\r\n'), fault: 'header too large' })
  })
})
