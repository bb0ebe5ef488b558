import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { packContent } from './content.ts'
import { isMime, packMime, unpackMime } from './mime-content.ts'

test('a finished mail round-trips byte for byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (mime) => {
      const blob = packMime(mime)
      expect(isMime(blob)).toBe(true)
      expect([...unpackMime(blob)]).toEqual([...mime])
    }),
    { numRuns: 50 },
  )
})

test('distinguishes finished mail from composed mail', () => {
  const from = { name: null, address: 'a@example.com', local: 'a', domain: 'example.com' }
  const composed = packContent({
    ...{ from, to: [], cc: [], replyTo: [], subject: 's', dateAt: 0, messageId: '<a@b>', html: null, text: 't' },
    ...{ headers: [], attachments: [], boundarySeed: 'seed' },
  })
  expect(isMime(composed)).toBe(false)
  expect(isMime(new Uint8Array(0))).toBe(false)
  expect(() => unpackMime(composed)).toThrow('unknown form')
})

test('refuses a blob that was truncated or changed anywhere', () => {
  const blob = packMime(Buffer.from('From: a@example.com\r\n\r\nHello, hello, hello.\r\n'))
  for (let at = 0; at < blob.length; at++) {
    const changed = blob.slice()
    changed[at]! ^= 0x40
    expect(() => unpackMime(changed)).toThrow('stored content')
    expect(() => unpackMime(blob.slice(0, at))).toThrow('stored content')
  }
})
