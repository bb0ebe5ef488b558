import { writeSync } from 'node:fs'
import { visible } from '../net/visible-text.ts'
import type { Clock } from './clock.ts'
import { type LogFormat, type LogReader, standardErrorReader, styleFor } from './log-style.ts'

export type { LogFormat } from './log-style.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
/** Of a line, beside its own three: one more of those names would hide what the line says. */
export type LogFields = Record<string, unknown> & { [Name in 'time' | 'level' | 'message']?: never }

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

type Write = (line: string) => void

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const SECRET_FIELD = /secret|password|authorization|private|api_?key$|token/i

/** Options → a Log that writes one line per call to standard error (standard output belongs to the
 *  ready line and to records), in the style of whoever reads there. An Error among the fields becomes its message and
 *  stack. Never throws. */
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
      // Whoever reads it may do so at a terminal; what is escaped is the same value to readers of JSON.
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

/** A log that says nothing, for tests and short commands. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
  setLevel: () => {},
}

const NO_FIELDS: LogFields = {}

/** Written by hand: a busy server logs two lines for each mail, and copying the fields to have them stringified took as
 *  long as storing the mail's row. Field names are words of ours and need no escaping. */
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

/** Value → JSON; what JSON has no form for becomes its own words. Never throws. */
function text(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(String(value))
  }
}

/** The same millisecond comes many times. */
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

/** A field as it may be shown: secrets struck out by their name, errors with message and stack. */
function shown(key: string, value: unknown): unknown {
  if (value === undefined) return undefined
  if (isSecret(key)) return '[redacted]'
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { name, message, stack, ...(cause === undefined ? {} : { cause: String(cause) }) }
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
