import { expect, test } from 'bun:test'
import { parseMailbox } from './address.ts'
import { type MailContent, packContent, unpackContent } from './content.ts'

const content: MailContent = {
  from: parseMailbox('Zoë <a@own.example>')!,
  to: [parseMailbox('b@other.example')!],
  cc: [],
  replyTo: [],
  subject: 'Grüße 🎉 \ud800',
  dateAt: 1_790_000_000_000,
  messageId: '<1@own.example>',
  html: '<p>x</p>'.repeat(1000),
  text: null,
  headers: [['X-A', 'b']],
  attachments: [
    { filename: 'a.bin', contentType: 'a/b', contentId: null, content: Uint8Array.from({ length: 256 }, (_, n) => n) },
    { filename: 'empty', contentType: 'a/b', contentId: 'x', content: new Uint8Array(0) },
    { filename: 'ü', contentType: 'a/b', contentId: null, content: Uint8Array.of(0, 13, 10) },
  ],
  boundarySeed: 'seed',
}

test('content round-trips, also from a view into a larger buffer', () => {
  const blob = packContent(content)
  const larger = new Uint8Array(blob.length + 10)
  larger.set(blob, 5)
  for (const bytes of [blob, larger.subarray(5, 5 + blob.length)]) {
    const found = unpackContent(bytes)
    const plain = found.attachments.map((each) => ({ ...each, content: new Uint8Array(each.content) }))
    expect<unknown>({ ...found, attachments: plain }).toEqual(content)
  }
})

test('attachment bytes are views into the blob', () => {
  const blob = packContent(content)
  expect(unpackContent(blob).attachments.every((each) => each.content.buffer === blob.buffer)).toBe(true)
})

test('refuses a blob truncated anywhere or with one bit changed', () => {
  const blob = packContent(content)
  for (let length = 0; length < blob.length; length++) expect(() => unpackContent(blob.slice(0, length))).toThrow()
  for (let at = 0; at < blob.length; at++) {
    const damaged = blob.slice()
    damaged[at]! ^= 1 << (at % 8)
    expect(() => unpackContent(damaged)).toThrow()
  }
  expect(() => unpackContent(Buffer.concat([blob, Buffer.of(0)]))).toThrow()
})

test('html and text of any length and script round-trip', () => {
  for (const letters of [0, 1, 40_000, 43_600, 65_400, 131_000, 131_072, 400_000]) {
    for (const letter of ['x', 'ü', '日', '🎉']) {
      const bodies = { html: letter.repeat(letters), text: `${letter}\n` }
      expect(unpackContent(packContent({ ...content, ...bodies }))).toMatchObject(bodies)
    }
  }
})
