import { describe, expect, test } from 'bun:test'
import golden from '../../../test/golden/webhook-signatures.json' with { type: 'json' }
import { type SignatureVerdict, signEnveloped, signInbound, verifySignature } from './sign.ts'

const NOW = 1_795_244_400_000
const T = NOW / 1000
const SECRET = golden.enveloped[0]!.secrets.secret
const BODY = golden.enveloped[0]!.body
const OTHER = 'whsec_b3RoZXI='
const IDS = { deliveryId: 'ibd_1', messageId: 'inb_1', routeId: 'rte_1' }

describe('golden headers', () => {
  for (const { name, headers, ...request } of golden.enveloped) {
    test(`enveloped: ${name}`, () => {
      expect(signEnveloped(request) as Record<string, string>).toEqual(headers)
      expect(signEnveloped({ ...request, body: Buffer.from(request.body) }) as Record<string, string>).toEqual(headers)
    })
  }
  for (const { name, headers, ...request } of golden.inbound) {
    test(`inbound: ${name}`, async () => {
      expect(await signInbound({ ...request, body: Buffer.from(request.body) })).toEqual({ ...headers })
    })
  }
})

const signed = (secret = SECRET, body = BODY) =>
  signEnveloped({ secrets: { secret, previous: null }, eventId: 'evt_1', body, attempt: 1, now: NOW })[
    'X-Service-Signature'
  ]!

test('a signature is valid up to 300 seconds before and after, and stale beyond', () => {
  const table: [number, SignatureVerdict][] = [
    [0, 'valid'],
    [300_999, 'valid'],
    [-300_000, 'valid'],
    [301_000, 'stale'],
    [-300_001, 'stale'],
  ]
  for (const [offsetMs, verdict] of table) {
    expect([offsetMs, verifySignature(signed(), BODY, SECRET, NOW + offsetMs)]).toEqual([offsetMs, verdict])
  }
  expect(verifySignature(signed(), BODY, SECRET, NOW + 11_000, 10)).toBe('stale')
})

test('another secret, another body and another time are a mismatch', () => {
  expect(verifySignature(signed(OTHER), BODY, SECRET, NOW)).toBe('mismatch')
  expect(verifySignature(signed(), `${BODY} `, SECRET, NOW)).toBe('mismatch')
  expect(verifySignature(signed().replace(`t=${T}`, `t=${T + 1}`), BODY, SECRET, NOW)).toBe('mismatch')
  expect(verifySignature(signed().replace(`t=${T}`, `t=0${T}`), BODY, SECRET, NOW)).toBe('mismatch')
})

test('a wrong signature is a mismatch even when it is old', () => {
  expect(verifySignature(signed(OTHER), BODY, SECRET, NOW + 3_600_000)).toBe('mismatch')
})

test('either of two signatures is enough, in either place', () => {
  const [mine, other] = [signed(), signed(OTHER)].map((header) => header.slice(header.indexOf('v1=')))
  expect(verifySignature(`t=${T},${mine},${other}`, BODY, SECRET, NOW)).toBe('valid')
  expect(verifySignature(`t=${T},${other},${mine}`, BODY, SECRET, NOW)).toBe('valid')
  expect(verifySignature(`t=${T},${other},${mine}`, BODY, OTHER, NOW)).toBe('valid')
})

test('fields of later versions and spaces after commas are ignored', () => {
  expect(verifySignature(signed().replace(',', ', v0=abc, v2=xyz, '), BODY, SECRET, NOW)).toBe('valid')
})

test('the inbound header passes the same verifier, also for a body of several slices', async () => {
  for (const body of [Buffer.from(BODY), Buffer.alloc(2_500_000, BODY)]) {
    const headers = await signInbound({ secret: SECRET, ...IDS, body, attempt: 1, now: NOW })
    expect(verifySignature(headers['X-Inbound-Signature']!, body, SECRET, NOW)).toBe('valid')
  }
})

test('an invalid signature header is malformed', () => {
  const hex = 'a'.repeat(64)
  const headers = [
    '',
    'nonsense',
    `v1=${hex}`,
    `t=${T}`,
    `t=,v1=${hex}`,
    `t=${NOW},v1=${hex}`,
    `t=-1,v1=${hex}`,
    `t=${T}.5,v1=${hex}`,
    `t=${T},t=${T},v1=${hex}`,
    `t=${T},v1=`,
    `t=${T},v1=${hex}a`,
    `t=${T},v1=${hex.toUpperCase()}`,
    `t=${T},v1=${'ä'.repeat(32)}`,
    `${signed()},v1=short`,
  ]
  for (const header of headers) {
    expect([header, verifySignature(header, BODY, SECRET, NOW)]).toEqual([header, 'malformed'])
  }
})
