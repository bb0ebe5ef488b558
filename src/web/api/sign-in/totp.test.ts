import { expect, test } from 'bun:test'
import { base32, codeOfStep, stepOfCode, totpUri } from './totp.ts'

const SECRET = Buffer.from('12345678901234567890')

test('codes are those of RFC 6238 appendix B, with six digits', () => {
  const times = [59, 1111111109, 1111111111, 1234567890, 2000000000, 20000000000]
  expect(times.map((seconds) => codeOfStep(SECRET, Math.floor(seconds / 30)))).toEqual([
    '287082',
    '081804',
    '050471',
    '005924',
    '279037',
    '353130',
  ])
})

test('a code is accepted in its step, the one before and the one after', () => {
  const code = codeOfStep(SECRET, 100)
  const at = (seconds: number) => stepOfCode(SECRET, code, seconds * 1000)
  expect([at(100 * 30), at(100 * 30 + 29), at(99 * 30), at(101 * 30 + 29)]).toEqual([100, 100, 100, 100])
  expect([at(99 * 30 - 1), at(102 * 30)]).toEqual([null, null])
})

test('anything else is no code', () => {
  for (const code of ['', '12345', '1234567', 'abcdef', codeOfStep(SECRET, 5), '００５９２４']) {
    expect(stepOfCode(SECRET, code, 3_000_000)).toBeNull()
  }
})

test('base32 has the vectors of RFC 4648 §10, without padding', () => {
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  }
  for (const [text, encoded] of Object.entries(vectors)) expect(base32(Buffer.from(text))).toBe(encoded)
})

test('the URI names server and account', () => {
  expect(totpUri(SECRET, { issuer: 'Postrider mail.example.com', account: 'ann+a@example.com' })).toBe(
    'otpauth://totp/Postrider%20mail.example.com:ann%2Ba%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Postrider%20mail.example.com',
  )
})
