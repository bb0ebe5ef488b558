import { describe, expect, test } from 'bun:test'
import {
  attachmentsIn,
  type ParsedMail,
  packParsed,
  packRaw,
  unpackParsed,
  unpackRaw,
  unpackRawBeside,
} from './inbound-content.ts'

const parsed: ParsedMail = {
  textBody: 'Guten Tag\n\u2028ünïcode 😀',
  htmlBody: '<p>Guten Tag</p>',
  headers: { subject: 'a\nb', 'message-id': '<1@a.example>', ['__proto__']: 'odd' },
  attachments: [{ filename: 'a.pdf', contentType: 'application/pdf', sizeBytes: 12, contentId: null }],
  replyText: 'Guten Tag',
  replyHtml: '<p>Guten Tag</p>',
}

describe('stored inbound mail', () => {
  test('raw mail round-trips byte for byte into its own buffer, also off the thread', async () => {
    for (const length of [0, 20, 70_000]) {
      const raw = Uint8Array.from({ length }, (_, at) => (at * 7) % 256)
      for (const back of [unpackRaw(packRaw(raw)), await unpackRawBeside(packRaw(raw))]) {
        expect(Buffer.compare(back, raw)).toBe(0)
        expect(back.buffer.byteLength).toBe(back.byteLength)
      }
    }
  })

  test('the attachments of parsed mail are read without the rest', async () => {
    expect(await attachmentsIn(packParsed(parsed))).toEqual(parsed.attachments)
  })

  test('parsed mail round-trips, including a header named __proto__', () => {
    const back = unpackParsed(packParsed(parsed))
    expect(JSON.stringify(back)).toBe(JSON.stringify(parsed))
    expect(Object.keys(back.headers)).toContain('__proto__')
  })

  test('empty mail is valid', () => {
    const empty: ParsedMail = { textBody: '', htmlBody: '', headers: {}, attachments: [] }
    expect(unpackParsed(packParsed(empty))).toEqual({ ...empty, replyText: null, replyHtml: null })
    expect(unpackRaw(packRaw(new Uint8Array()))).toHaveLength(0)
  })

  test('refuses a blob with one wrong bit, truncated, empty or of the other kind', async () => {
    const blob = packRaw(Buffer.from('Subject: x\r\n\r\nhello'))
    const bent = blob.slice()
    bent[bent.length - 1]! ^= 1
    for (const bad of [bent, blob.slice(0, -1), blob.slice(0, 3), new Uint8Array(), packParsed(parsed)]) {
      expect(() => unpackRaw(bad)).toThrow('stored content')
      expect(unpackRawBeside(bad)).rejects.toThrow('stored content')
    }
    expect(() => unpackParsed(blob)).toThrow('stored content')
    expect(attachmentsIn(blob)).rejects.toThrow('stored content')
  })
})
