import { expect, test } from 'bun:test'
import { base32, createMintId, derivedId, firstId, isId } from './ids.ts'

const BYTES = Uint8Array.from([0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf])
const TEXT = '0123456789abcdef'

test('base32 has five bits per character, the highest first', () => {
  expect(base32(BYTES)).toBe(TEXT)
  expect(base32(BYTES.subarray(5))).toBe(TEXT.slice(8))
  expect(base32(new Uint8Array(5).fill(255))).toBe('zzzzzzzz')
  expect(base32(new Uint8Array(0))).toBe('')
})

test('an ID has the time in ten characters and the random bytes in sixteen', () => {
  let now = 31
  const mintId = createMintId({ now: () => now } as never, { bytes: () => BYTES } as never)
  expect(mintId('msg')).toBe(`msg_000000000z${TEXT}`)
  now = 32 ** 9 + 32
  expect(mintId('evt')).toBe(`evt_1000000010${TEXT}`)
  expect(isId('evt', mintId('evt'))).toBe(true)
  expect(firstId('evt', now)).toBe('evt_1000000010')
  expect(derivedId('whd', mintId('evt'), Uint8Array.from([...BYTES, 9]))).toBe(`whd_1000000010${TEXT}`)
})

test.each([
  `msg_0123456789${TEXT}0`,
  `msg_012345678${TEXT}`,
  `evt_0123456789${TEXT}`,
  `msg-0123456789${TEXT}`,
  `msg_012345678i${TEXT}`,
  `msg_012345678u${TEXT}`,
  `msg_012345678A${TEXT}`,
])('%s is not an ID of a message', (text) => {
  expect(isId('msg', text)).toBe(false)
})
