import { expect, test } from 'bun:test'
import { serverSent } from './server-sent.ts'

const STREAM =
  '\ufeff: hello\r\nretry: 3000\r\n\r\nid: evt_0\n\n:\n\nid: evt_1\r\nevent: message.delivered\r\ndata: {"to":"böb"}\r\n\r\n' +
  'data: a\ndata:b\ndata\n\nid: evt_2\rdata:  c\r\revent: only\n\nretry: soon\nid: bad\0\ndata: d\n\ndata: never ends'
const EVENTS = [
  { id: '', type: 'message', data: null },
  { id: 'evt_0', type: 'message', data: null },
  { id: 'evt_1', type: 'message.delivered', data: '{"to":"böb"}' },
  { id: 'evt_1', type: 'message', data: 'a\nb\n' },
  { id: 'evt_2', type: 'message', data: ' c' },
  { id: 'evt_2', type: 'message', data: 'd' },
]

test('events are complete wherever the stream is split', async () => {
  const bytes = new TextEncoder().encode(STREAM)
  for (const size of [1, 2, 3, 7, 64, bytes.length]) {
    const pauses: number[] = []
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const events = await Array.fromAsync(serverSent(pieces(), (ms) => pauses.push(ms)))
    expect([size, events, pauses]).toEqual([size, EVENTS, [3_000]])
  }
})

test('an ID alone sets the position once its block ends', async () => {
  const sent = async function* () {
    for (const text of ['retry: 3000\nid: 1\n', '\n:\n\n', 'id: 2\ndata: x']) yield new TextEncoder().encode(text)
  }
  expect(await Array.fromAsync(serverSent(sent(), () => {}))).toEqual([{ id: '1', type: 'message', data: null }])
})

// threat: formulas-and-terminal-controls
test.each([
  ['a line', 'x'.repeat(1_000_000), 'stream line exceeds'],
  ['an event', `data: ${'x'.repeat(1_000)}\n`.repeat(1_000), 'stream event exceeds'],
])('%s that never ends is refused', async (_, text, why) => {
  const endless = async function* () {
    for (;;) yield new TextEncoder().encode(text)
  }
  expect(Array.fromAsync(serverSent(endless(), () => {}))).rejects.toThrow(why)
})
