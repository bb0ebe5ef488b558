import { describe, expect, test } from 'bun:test'
import { createFrameReader, encodeFrame, FrameFault, MAX_JSON_BYTES } from './frames.ts'

const bytesOf = (message: unknown) => Buffer.concat(encodeFrame(message).pieces)

/** The messages in these bytes, in pieces of this size. */
function read(
  bytes: Uint8Array,
  size = bytes.length || 1,
  options: { maxBytes?: number; takeFile?: () => number } = {},
) {
  const messages: unknown[] = []
  const feed = createFrameReader({ maxBytes: 1_000_000, ...options, onMessage: (message) => messages.push(message) })
  for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size))
  return messages
}
/** A frame with any lengths. */
function frame(total: number, json: number, body: string): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(total, 0)
  head.writeUInt32LE(json, 4)
  return Buffer.concat([head, Buffer.from(body)])
}

describe('messages as frames', () => {
  const MESSAGES = [
    { kind: 'a', text: 'ä\ud800', none: null, list: [1, { deep: true }] },
    { job: { raw: new Uint8Array([1, 2, 3]), more: [new Uint8Array(), new Uint8Array([255])] } },
    7,
    [],
  ]
  test.each([1, 3, 8, 64, 10_000])('round-trip in pieces of %i bytes', (size) => {
    const bytes = Buffer.concat(MESSAGES.map(bytesOf))
    expect(read(bytes, size)).toEqual(MESSAGES)
  })

  test('transfer files as descriptors', () => {
    const { pieces, files } = encodeFrame({ job: { raw: { fd: 12, byteLength: 5 } } })
    expect(files).toEqual([12])
    expect(read(Buffer.concat(pieces), 8, { takeFile: () => 3 })).toEqual([{ job: { raw: { fd: 3, byteLength: 5 } } }])
  })

  test('keep a key named __proto__ as data', () => {
    const json = '{"__proto__":{"isAdmin":true},"b":{"$bytes":0}}'
    const [message] = read(frame(json.length, json.length, json)) as [Record<string, unknown>]
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined()
    expect(Object.keys(message)).toEqual(['__proto__', 'b'])
  })
})

describe('invalid frames', () => {
  // threat: reader-lies
  test.each<[string, Uint8Array]>([
    ['larger than allowed', frame(1_000_001, 2, '{}')],
    ['with more JSON than there is', frame(2, 3, '{}')],
    ['with too much JSON', frame(0xffffffff, MAX_JSON_BYTES + 1, '')],
    ['without JSON', frame(0, 0, '')],
    ['incomplete JSON', frame(1, 1, '{')],
    ['with bytes beyond its end', frame(12, 12, '{"$bytes":1}')],
    ['with bytes before its beginning', frame(13, 13, '{"$bytes":-1}')],
    ['with half a byte', frame(16, 14, '{"$bytes":0.5}xx')],
    ['with an invalid byte count', frame(16, 16, '{"$bytes":"1e9"}')],
    ['with a file where none is expected', frame(11, 11, '{"$file":1}')],
  ])('reading ends at %s', (_, bytes) => {
    expect(() => read(bytes, 5, { maxBytes: 1_000_000 })).toThrow(FrameFault)
  })

  test('deep nesting is a fault or a value, and never a stack overflow', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    try {
      read(frame(deep.length, deep.length, deep), deep.length, { maxBytes: 2_000_000 })
    } catch (error) {
      expect(error).toBeInstanceOf(FrameFault)
    }
  })
})
