import { expect, test } from 'bun:test'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { createLog, type LogFormat } from './log.ts'
import { type LogReader, standardErrorReader } from './log-style.ts'

const NOW = Date.UTC(2026, 10, 21, 9)

function logged(format: LogFormat, fields: Record<string, unknown>, reader?: LogReader): string {
  const lines: string[] = []
  const clock = { now: () => NOW, sleep: async () => {} }
  createLog({ clock, level: 'info', format, ...(reader && { reader }), write: (line) => lines.push(line) }).info(
    'hello',
    fields,
  )
  return lines.join('')
}

test('a json line is one object of time, level, message and the fields', () => {
  const line = logged('json', { id: 'msg_1', size: 12, is_late: false, next: null, nothing: undefined, list: ['a"b'] })
  expect(line).toBe(
    '{"time":"2026-11-21T09:00:00.000Z","level":"info","message":"hello","id":"msg_1","size":12,"is_late":false,"next":null,"list":["a\\"b"]}\n',
  )
})

test('a text line is readable, and stays one line whatever a field contains', () => {
  expect(logged('text', { id: 'msg_1', reply: '451 4.3.0\nbusy' })).toBe(
    '2026-11-21T09:00:00.000Z info  hello id=msg_1 reply="451 4.3.0\\nbusy"\n',
  )
})

// threat: terminal-log
test('a line cannot control the terminal that shows it, and JSON keeps its values', () => {
  for (const format of ['text', 'json'] as const) {
    const line = logged(format, { subject: 'a\x9b31m\u202eb\n\x1b]0;t\x07' })
    expect(line).toMatch(/^[ -~]*\n$/)
    expect(line).toContain('a\\u009b31m\\u202eb')
    if (format === 'json') expect(JSON.parse(line).subject).toBe('a\x9b31m\u202eb\n\x1b]0;t\x07')
  }
})

test('a field whose name suggests a secret is redacted', () => {
  for (const name of ['secret', 'smarthost_password', 'authorization', 'private_key_pem', 'api_key', 'access_token']) {
    expect(logged('json', { [name]: 'hunter2' })).not.toContain('hunter2')
  }
})

test('an error shows its message, stack and cause', () => {
  const { error } = JSON.parse(logged('json', { error: new TypeError('no', { cause: new Error('disk full') }) }))
  expect([error.name, error.message, error.cause]).toEqual(['TypeError', 'no', 'Error: disk full'])
  expect(error.stack).toContain('log.test.ts')
})

test('a value that JSON cannot express still gives a line', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const line = JSON.parse(logged('json', { big: 10n, circle, not: Number.NaN, none: Number.POSITIVE_INFINITY }))
  expect([line.big, line.not]).toEqual(['10', null])
})

test('a level below the set one logs nothing, and the level can change for all children', () => {
  const lines: string[] = []
  const clock = { now: () => NOW, sleep: async () => {} }
  const log = createLog({ clock, level: 'warn', format: 'json', write: (line) => lines.push(line) })
  const child = log.child({ part: 'outbound' })
  child.info('quiet')
  log.setLevel('debug')
  child.debug('loud', { n: 1 })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { time: '2026-11-21T09:00:00.000Z', level: 'debug', message: 'loud', part: 'outbound', n: 1 },
  ])
})

test('auto is text on a terminal and JSON for programs; the journal gets priorities and no times', () => {
  const readers: LogReader[] = ['terminal', 'program', 'journal']
  const lines = (format: LogFormat) => readers.map((reader) => logged(format, { id: 'msg_1' }, reader).trimEnd())
  const text = '2026-11-21T09:00:00.000Z info  hello id=msg_1'
  const json = '{"time":"2026-11-21T09:00:00.000Z","level":"info","message":"hello","id":"msg_1"}'
  expect(lines('auto')).toEqual([text, json, `<6>${json}`])
  expect(lines('text')).toEqual([text, text, '<6>info  hello id=msg_1'])
  expect(lines('json')).toEqual([json, json, `<6>${json}`])
})

test('the format is that of the journal if the stream is the one that systemd named', () => {
  const fd = openSync('/dev/null', 'w')
  const { dev, ino } = fstatSync(fd)
  const reader = (named: string | undefined, isTTY = false) =>
    standardErrorReader({ JOURNAL_STREAM: named }, { fd, isTTY })
  expect(reader(`${dev}:${ino}`)).toBe('journal')
  expect(reader(`${dev}:${ino + 1}`)).toBe('program')
  expect(reader(undefined)).toBe('program')
  expect(reader(undefined, true)).toBe('terminal')
  closeSync(fd)
  expect(standardErrorReader({ JOURNAL_STREAM: '0:0' }, { fd, isTTY: false })).toBe('program')
})
