import { expect, test } from 'bun:test'
import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { createRequire } from 'node:module'
import { unwrapEC2Signature as original } from '../../node_modules/@simplewebauthn/server/esm/helpers/iso/isoCrypto/unwrapEC2Signature.js'

const { unwrapEC2Signature } = createRequire(import.meta.url)('./ecdsa-signature.mjs')

const CURVES = [
  ['P-256', 1],
  ['P-384', 2],
  ['P-521', 3],
] as const

test.each(CURVES)('signatures of %s become those that the package makes, and verify', (namedCurve, crv) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve })
  for (let count = 0; count < 300; count++) {
    const data = randomBytes(8)
    const der = new Uint8Array(sign('sha256', data, privateKey))
    const raw = unwrapEC2Signature(der, crv)
    expect(raw).toEqual(original(der, crv))
    expect(verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw)).toBe(true)
  }
})

test('numbers with leading zeros and with few digits keep their place', () => {
  const der = Uint8Array.of(0x30, 7, 2, 2, 0, 0xff, 2, 1, 5)
  const raw = unwrapEC2Signature(der, 1)
  expect(raw).toEqual(original(der, 1))
  expect([raw[31], raw[63], raw.length]).toEqual([0xff, 5, 64])
})

test('anything else throws', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const der = new Uint8Array(sign('sha256', Buffer.from('data'), privateKey))
  for (let length = 0; length < der.length; length++)
    expect(() => unwrapEC2Signature(der.slice(0, length), 1)).toThrow()
  expect(() => unwrapEC2Signature(Uint8Array.of(...der, 0), 1)).toThrow()
  expect(() => unwrapEC2Signature(der, 9)).toThrow()
  const long = Uint8Array.of(0x30, 38, 2, 33, 1, ...new Uint8Array(32), 2, 1, 5)
  expect(() => unwrapEC2Signature(long, 1)).toThrow()
})
