import { expect, test } from 'bun:test'
import { createLog } from './log.ts'
import { createMailLog } from './mail-log.ts'

test('a mail event is one line with what happened, the message, and fields in snake case', () => {
  const lines: string[] = []
  const clock = { now: () => Date.UTC(2026, 10, 21), sleep: async () => {} }
  const log = createLog({ clock, level: 'info', format: 'json', write: (line) => lines.push(line) })
  createMailLog(log).deferred({
    message: 'msg_1',
    delivery: 'dlv_1',
    attempt: 2,
    host: 'mx.example.org',
    durationMs: 31,
    reply: '451 4.3.0 busy',
    nextAttemptAt: Date.UTC(2026, 10, 21, 1),
  })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: '2026-11-21T00:00:00.000Z',
      level: 'info',
      message: 'deferred',
      message_id: 'msg_1',
      delivery_id: 'dlv_1',
      attempt: 2,
      host: 'mx.example.org',
      reply: '451 4.3.0 busy',
      duration_ms: 31,
      next_attempt_at: '2026-11-21T01:00:00.000Z',
    },
  ])
})
