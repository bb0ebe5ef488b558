import { writeSync } from 'node:fs'
import type { Clock } from './clock.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Record<string, unknown>

/** One line per fact. Secrets never reach it: a field whose name says so is struck out. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log that adds `fields` to every line. */
  child(fields: LogFields): Log
  /** Takes effect for this log and all its children (SIGHUP). */
  setLevel(level: LogLevel): void
}

export type LogFormat = 'json' | 'text'
type Write = (line: string) => void

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const SECRET_FIELD = /secret|password|authorization|private|api_?key$|token/i

/** Options → a Log that writes one line per call to standard error (standard output belongs to the
 *  ready line and to records). An Error among the fields becomes its message and stack. Never throws. */
export function createLog(options: { clock: Clock; level: LogLevel; format: LogFormat; write?: Write }): Log {
  const state = { level: RANK[options.level] }
  const write = options.write ?? writeStandardError
  const make = (base: LogFields): Log => {
    const line = (level: LogLevel, message: string, fields?: LogFields) => {
      if (RANK[level] < state.level) return
      const time = new Date(options.clock.now()).toISOString()
      const rest = redact({ ...base, ...fields })
      write(options.format === 'json' ? jsonLine(time, level, message, rest) : textLine(time, level, message, rest))
    }
    return {
      debug: (message, fields) => line('debug', message, fields),
      info: (message, fields) => line('info', message, fields),
      warn: (message, fields) => line('warn', message, fields),
      error: (message, fields) => line('error', message, fields),
      child: (fields) => make({ ...base, ...fields }),
      setLevel: (level) => {
        state.level = RANK[level]
      },
    }
  }
  return make({})
}

/** A log that says nothing, for tests and short commands. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
  setLevel: () => {},
}

const jsonLine = (time: string, level: LogLevel, message: string, fields: LogFields) =>
  `${JSON.stringify({ time, level, message, ...fields })}\n`

const textLine = (time: string, level: LogLevel, message: string, fields: LogFields) => {
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${plain(value)}`)
  return `${time} ${level.padEnd(5)} ${message}${rest.join('')}\n`
}

const plain = (value: unknown) =>
  typeof value === 'string' && /^[\w@.:/+-]+$/.test(value) ? value : JSON.stringify(value)

/** Field names are few and come with every line. */
const secretFields = new Map<string, boolean>()

function isSecret(field: string): boolean {
  let known = secretFields.get(field)
  if (known === undefined) {
    known = SECRET_FIELD.test(field)
    if (secretFields.size < 1_000) secretFields.set(field, known)
  }
  return known
}

function redact(fields: LogFields): LogFields {
  const clean: LogFields = {}
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (isSecret(key)) clean[key] = '[redacted]'
    else if (value instanceof Error) clean[key] = { name: value.name, message: value.message, stack: value.stack }
    else clean[key] = value
  }
  return clean
}

/** Lines of one turn of the event loop go out in one write: at thousands of mails a second a write each would cost
 *  more than the mail. What a kill -9 takes with it is at most that turn's lines. */
let unwritten = ''

function writeStandardError(line: string): void {
  if (unwritten === '') setImmediate(flushLog)
  unwritten += line
}

/** Writes what is gathered; called by itself each turn, and to be called before the process ends. Never throws:
 *  a closed or full standard error must not stop mail. */
export function flushLog(): void {
  const lines = unwritten
  unwritten = ''
  try {
    if (lines !== '') writeSync(2, lines)
  } catch {}
}

process.on('exit', flushLog)
