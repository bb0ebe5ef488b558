import { writeSync } from 'node:fs'
import { visible } from '../net/visible-text.ts'
import type { Clock } from './clock.ts'
import { type LogFormat, type LogReader, standardErrorReader, styleFor } from './log-style.ts'

export type { LogFormat } from './log-style.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
/** Fields of a line, besides its own three, whose names would otherwise be hidden. */
export type LogFields = Record<string, unknown> & { [Name in 'time' | 'level' | 'message']?: never }

/** Log with one line per fact. Fields whose names indicate a secret are redacted. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Returns a log that adds `fields` to every line. */
  child(fields: LogFields): Log
  /** Sets the level of this log and all its children (SIGHUP). */
  setLevel(level: LogLevel): void
}

type Write = (line: string) => void

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const SECRET_FIELD = /secret|password|authorization|private|api_?key$|token/i

/** Creates a Log. It writes one line per call to standard error, in the style of its reader. Standard output is
 *  reserved for the ready line and for records. An Error field is written with message and stack. Never throws. */
export function createLog(options: {
  clock: Clock
  level: LogLevel
  format: LogFormat
  reader?: LogReader
  write?: Write
}): Log {
  const state = { level: RANK[options.level] }
  const write = options.write ?? writeStandardError
  const reader = options.reader ?? (options.write === undefined ? standardErrorReader() : 'program')
  const style = styleFor(options.format, reader)
  const form = style.isJson ? jsonLine : style.hasTime ? textLine : timelessLine
  const timeOf = createTimeText()
  const make = (base: LogFields): Log => {
    const line = (level: LogLevel, message: string, fields: LogFields = {}) => {
      if (RANK[level] < state.level) return
      const all = base === NO_FIELDS ? fields : { ...base, ...fields }
      // A reader of JSON may use a terminal; the escaped form is the same value.
      write(`${style.prefix[level]}${visible(form(timeOf(options.clock.now()), level, message, all))}\n`)
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
  return make(NO_FIELDS)
}

/** A log that writes nothing, for tests and short commands. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
  setLevel: () => {},
}

const NO_FIELDS: LogFields = {}

/** Built by hand: a busy server logs two lines per mail, and copying the fields for JSON.stringify took as long as
 *  storing the mail's row. Field names are our constants and need no escaping. */
function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  let line = `{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}`
  for (const key in fields) {
    const value = shown(key, fields[key])
    if (value !== undefined) line += `,"${key}":${typeof value === 'number' ? String(value) : text(value)}`
  }
  return `${line}}`
}

function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return `${time} ${timelessLine(time, level, message, fields)}`
}

function timelessLine(_time: string, level: LogLevel, message: string, fields: LogFields): string {
  let line = `${level.padEnd(5)} ${message}`
  for (const key in fields) {
    const value = shown(key, fields[key])
    if (value !== undefined) line += ` ${key}=${typeof value === 'string' && PLAIN.test(value) ? value : text(value)}`
  }
  return line
}

const PLAIN = /^[\w@.:/+-]+$/

/** Value → JSON; values without a JSON form are written as text. Never throws. */
function text(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(String(value))
  }
}

/** Cached, because the same millisecond occurs many times. */
function createTimeText(): (at: number) => string {
  let last = Number.NaN
  let written = ''
  return (at) => {
    if (at !== last) {
      last = at
      written = new Date(at).toISOString()
    }
    return written
  }
}

/** Cached, because the same few field names occur on every line. */
const secretFields = new Map<string, boolean>()

function isSecret(field: string): boolean {
  let known = secretFields.get(field)
  if (known === undefined) {
    known = SECRET_FIELD.test(field)
    if (secretFields.size < 1_000) secretFields.set(field, known)
  }
  return known
}

/** Value of a field as it may be logged: secrets redacted by field name, errors with message and stack. */
function shown(key: string, value: unknown): unknown {
  if (value === undefined) return undefined
  if (isSecret(key)) return '[redacted]'
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { name, message, stack, ...(cause === undefined ? {} : { cause: String(cause) }) }
}

/** Lines of one turn of the event loop are written together: at thousands of mails per second, one write per line
 *  would cost more than the mail. A kill -9 loses at most the lines of one turn. */
let unwritten = ''

function writeStandardError(line: string): void {
  if (unwritten === '') setImmediate(flushLog)
  unwritten += line
}

/** Writes the buffered lines. Runs once per turn by itself; call it before the process ends. Never throws: a closed
 *  or full standard error must not stop mail. */
export function flushLog(): void {
  const lines = unwritten
  unwritten = ''
  try {
    if (lines !== '') writeSync(2, lines)
  } catch {}
}

process.on('exit', flushLog)
