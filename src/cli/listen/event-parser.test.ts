import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createEventParser, type StreamEvent } from './event-parser.ts'

const encoder = new TextEncoder()

/** Parses a stream in pieces that end at the given positions. */
function parse(text: string, cuts: readonly number[] = []): StreamEvent[] {
  const bytes = encoder.encode(text)
  const parser = createEventParser()
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.flatMap((end, at) => parser.push(bytes.subarray(ends[at - 1] ?? 0, end)))
}

test('parses fields, comments, line ends and unfinished events as the standard says', () => {
  const cases: [string, StreamEvent[]][] = [
    ['id: 1\nevent: a\ndata: x\n\n', [{ id: '1', type: 'a', data: 'x' }]],
    [
      'id:1\revent:a\rdata:x\r\rdata: y\r\n\r\n',
      [
        { id: '1', type: 'a', data: 'x' },
        { id: '1', type: 'message', data: 'y' },
      ],
    ],
    ['\ufeffdata: x\n\n', [{ id: '', type: 'message', data: 'x' }]],
    ['data: one\ndata:  two\ndata\n\n', [{ id: '', type: 'message', data: 'one\n two\n' }]],
    [':\n\n: a comment\n\nretry: 3000\n\nother: x\nevent: lost\n\n', []],
    ['id: 1\nid: a\0b\ndata: x\n\n', [{ id: '1', type: 'message', data: 'x' }]],
    ['data: x\n', []],
    ['data: x\n\ndata: unfinished', [{ id: '', type: 'message', data: 'x' }]],
  ]
  for (const [text, events] of cases) expect([text, parse(text)]).toEqual([text, events])
})

test('gives the same events wherever the network splits the stream', () => {
  const line = fc.constantFrom(
    'data: ü🎉',
    'data:{"a":1}',
    'event: message.delivered',
    'id: evt_1',
    ':',
    ': c',
    'retry: 3000',
    '',
  )
  const ending = fc.constantFrom('\n', '\r\n', '\r')
  const stream = fc.array(fc.tuple(line, ending), { maxLength: 30 }).map((lines) => lines.flat().join(''))
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
      // Ends with a whole line, since the parser keeps a CR at the end until the next piece.
      expect(parse(`${text}:\n`, cuts)).toEqual(parse(`${text}:\n`))
    }),
    { numRuns: 500 },
  )
})

test('an id alone is not an event, but sets the position once its line ends', () => {
  const parser = createEventParser()
  const idAfter = (text: string) => {
    expect(parser.push(encoder.encode(text))).toEqual([])
    return parser.lastId()
  }
  expect(idAfter('retry: 3000\nid: 1\n')).toBeNull()
  expect(idAfter('\n:\n\n')).toBe('1')
  expect(idAfter('id: 2\ndata: x')).toBe('1')
})

// threat: formulas-and-terminal-controls
test('reads one byte at a time, and limits a line or an event that never ends', () => {
  const text = 'id: 1\r\ndata: ü\r\n\r\n'
  expect(
    parse(
      text,
      Array.from(encoder.encode(text), (_, at) => at),
    ),
  ).toEqual([{ id: '1', type: 'message', data: 'ü' }])
  const parser = createEventParser()
  const megabyte = encoder.encode('x'.repeat(1_000_000))
  expect(parser.push(megabyte)).toEqual([])
  expect(() => parser.push(megabyte)).toThrow('stream line exceeds')
  const endless = createEventParser()
  const lines = encoder.encode(`data: ${'x'.repeat(1_000)}\n`.repeat(1_000))
  expect(endless.push(lines)).toEqual([])
  expect(() => endless.push(lines)).toThrow('stream event exceeds')
})
