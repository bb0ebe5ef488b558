import { expect, test } from 'bun:test'
import { serverSent } from './server-sent.ts'

const STREAM =
  '\ufeff: hello\r\nretry: 3000\r\n\r\nid: evt_0\n\n:\n\nid: evt_1\r\nevent: message.delivered\r\ndata: {"to":"böb"}\r\n\r\n' +
  'data: a\ndata:b\ndata\n\nid: evt_2\rdata:  c\r\revent: only\n\nretry: soon\nid: bad\0\ndata: d\n\ndata: never ends'
const EVENTS = [
  { id: 'evt_0', data: null },
  { id: 'evt_1', data: '{"to":"böb"}' },
  { id: 'evt_1', data: 'a\nb\n' },
  { id: 'evt_2', data: ' c' },
  { id: 'evt_2', data: 'd' },
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
