import { fstatSync } from 'node:fs'

export type LogFormat = 'auto' | 'json' | 'text'
/** At the other end of standard error: somebody who looks, systemd's journal, or a program or file. */
export type LogReader = 'terminal' | 'journal' | 'program'

export interface LogStyle {
  readonly isJson: boolean
  /** The journal has a time of its own for each line. */
  readonly hasTime: boolean
  /** In front of a line, by its level. */
  readonly prefix: Readonly<Record<'debug' | 'info' | 'warn' | 'error', string>>
}

/** What the config says and who reads → how lines look. The journal takes a priority in front of a line (sd-daemon(3))
 *  and strips it, so `journalctl -p warning` finds what matters, in JSON too. */
export function styleFor(format: LogFormat, reader: LogReader): LogStyle {
  const isJson = format === 'json' || (format === 'auto' && reader !== 'terminal')
  const isJournal = reader === 'journal'
  return { isJson, hasTime: !isJournal, prefix: isJournal ? PRIORITIES : NOTHING }
}

/** Who reads this process's standard error. The journal names the device and inode of the stream it gave (JOURNAL_STREAM,
 *  systemd.exec(5)); a child that wrote its errors elsewhere would have inherited the name alone. Never throws. */
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
