import { fstatSync } from 'node:fs'

export type LogFormat = 'auto' | 'json' | 'text'
/** Reader of standard error: a terminal, systemd's journal, or a program or file. */
export type LogReader = 'terminal' | 'journal' | 'program'

export interface LogStyle {
  readonly isJson: boolean
  /** False for the journal, which adds a time to each line. */
  readonly hasTime: boolean
  /** Prefix of a line, by level. */
  readonly prefix: Readonly<Record<'debug' | 'info' | 'warn' | 'error', string>>
}

/** Config and reader → style of the log lines. The journal strips a priority prefix (sd-daemon(3)), so `journalctl
 *  -p warning` filters by level, in JSON too. */
export function styleFor(format: LogFormat, reader: LogReader): LogStyle {
  const isJson = format === 'json' || (format === 'auto' && reader !== 'terminal')
  const isJournal = reader === 'journal'
  return { isJson, hasTime: !isJournal, prefix: isJournal ? PRIORITIES : NOTHING }
}

/** Detects the reader of this process's standard error. The journal passes the device and inode of its stream
 *  (JOURNAL_STREAM, systemd.exec(5)); a child whose standard error was redirected inherits only the variable. Never
 *  throws. */
export function standardErrorReader(
  env: Record<string, string | undefined> = process.env,
  stream: { isTTY?: boolean; fd: number } = process.stderr,
): LogReader {
  if (stream.isTTY) return 'terminal'
  return env.JOURNAL_STREAM && env.JOURNAL_STREAM === identityOf(stream.fd) ? 'journal' : 'program'
}

// err, warning, info, debug of syslog(3)
const PRIORITIES = { error: '<3>', warn: '<4>', info: '<6>', debug: '<7>' }
const NOTHING = { error: '', warn: '', info: '', debug: '' }

function identityOf(fd: number): string | null {
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}
