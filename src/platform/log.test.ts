import { expect, test } from 'bun:test'
import { createLog, type LogFormat } from './log.ts'

const NOW = Date.UTC(2026, 10, 21, 9)

function logged(format: LogFormat, fields: Record<string, unknown>): string {
  const lines: string[] = []
  const clock = { now: () => NOW, sleep: async () => {} }
  createLog({ clock, level: 'info', format, write: (line) => lines.push(line) }).info('hello', fields)
  return lines.join('')
}

test('a json line is one object of time, level, message and the fields', () => {
  const line = logged('json', { id: 'msg_1', size: 12, is_late: false, next: null, nothing: undefined, list: ['a"b'] })
  expect(line).toBe(
    '{"time":"2026-11-21T09:00:00.000Z","level":"info","message":"hello","id":"msg_1","size":12,"is_late":false,"next":null,"list":["a\\"b"]}\n',
  )
})

test('a text line is for people, and stays one line whatever a field holds', () => {
  expect(logged('text', { id: 'msg_1', reply: '451 4.3.0\nbusy' })).toBe(
    '2026-11-21T09:00:00.000Z info  hello id=msg_1 reply="451 4.3.0\\nbusy"\n',
  )
})

test('a field whose name speaks of a secret is struck out', () => {
  for (const name of ['secret', 'smarthost_password', 'authorization', 'private_key_pem', 'api_key', 'access_token']) {
    expect(logged('json', { [name]: 'hunter2' })).not.toContain('hunter2')
  }
})

test('an error shows its message, stack and cause', () => {
  const { error } = JSON.parse(logged('json', { error: new TypeError('no', { cause: new Error('disk full') }) }))
  expect([error.name, error.message, error.cause]).toEqual(['TypeError', 'no', 'Error: disk full'])
  expect(error.stack).toContain('log.test.ts')
})

test('what JSON has no form for is still a line', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const line = JSON.parse(logged('json', { big: 10n, circle, not: Number.NaN, none: Number.POSITIVE_INFINITY }))
  expect([line.big, line.not]).toEqual(['10', null])
})

test('a level below the set one says nothing, and the level can change for all children', () => {
  const lines: string[] = []
  const clock = { now: () => NOW, sleep: async () => {} }
  const log = createLog({ clock, level: 'warn', format: 'json', write: (line) => lines.push(line) })
  const child = log.child({ room: 'outbound' })
  child.info('quiet')
  log.setLevel('debug')
  child.debug('loud', { n: 1 })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { time: '2026-11-21T09:00:00.000Z', level: 'debug', message: 'loud', room: 'outbound', n: 1 },
  ])
})
