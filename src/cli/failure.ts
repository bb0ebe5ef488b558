import { accessSync, closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { accessAdvice } from '../config/access-advice.ts'
import type { ConfigFault } from '../config/fault.ts'
import { fileFault } from '../config/file-fault.ts'
import { formatFaults } from '../config/load.ts'
import { codeOf, SYSTEM_WORDS } from '../config/system-error.ts'
import { Refusal } from '../model/refusal.ts'
import { EncryptionKeyUnusable } from '../storage/encryption.ts'
import { DatabaseUnusable, StoreMismatch, StoreMoved } from '../storage/errors.ts'
import { DATABASE_FILE } from '../storage/sqlite/open.ts'
import { StoreDamaged, StoreUnavailable } from '../storage/store.ts'

/** Exit codes of commands; the man page lists them. 130 means Ctrl-C (128 + SIGINT). */
export const EXIT = { done: 0, failed: 1, usage: 2, inUse: 3, replaced: 4, interrupted: 130 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A command that failed: the message for standard error and the exit code. All commands throw it if the config is
 *  invalid (exit code 2) or the store cannot be opened, so their docstrings list only other causes. */
export class CommandFailure extends Error {
  readonly code: ExitCode
  constructor(message: string, code: ExitCode = EXIT.failed) {
    super(message)
    this.name = 'CommandFailure'
    this.code = code
  }
}

/** A fault in the arguments: one line, exit code 2. */
export function usageFault(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.usage)
}

/** All faults of a config, one line each, exit code 2. */
export function configFailure(faults: readonly ConfigFault[]): CommandFailure {
  return new CommandFailure(formatFaults(faults), EXIT.usage)
}

/** Error that a command threw → the failure to print. A Refusal becomes one line with its field, invalid arguments
 *  become one line each, system errors name their file. Null for a bug, for which the caller prints the stack. */
export function toFailure(thrown: unknown): CommandFailure | null {
  if (thrown instanceof CommandFailure) return thrown
  if (thrown instanceof Refusal) return fromRefusal(thrown)
  if (thrown instanceof EncryptionKeyUnusable || thrown instanceof StoreMoved) return usageFault(thrown.message)
  if (thrown instanceof DatabaseUnusable) {
    return new CommandFailure(thrown.message, thrown.isWrongUrl ? EXIT.usage : EXIT.failed)
  }
  const isStore = thrown instanceof StoreUnavailable || thrown instanceof StoreDamaged
  if (thrown instanceof StoreMismatch || isStore) return new CommandFailure(thrown.message)
  if (!(thrown instanceof Error)) return null
  const code = codeOf(thrown)
  if (code === 'ERR_DLOPEN_FAILED') return new CommandFailure(libraryMessage(thrown))
  if (code.startsWith('SQLITE_')) return new CommandFailure(databaseMessage(thrown, code))
  return SYSTEM_ERROR.test(code) ? new CommandFailure(systemMessage(thrown, code)) : null
}

/** The runtime writes the SQLite library of the executable to the temporary folder and maps it from there. */
const libraryMessage = (error: Error) =>
  `the SQLite library cannot be loaded: ${error.message}. Set TMPDIR to a writable folder that is not mounted noexec`

/** An error of SQLite with what to do, if its code has a common cause (sqlite.org/rescode.html). */
function databaseMessage(error: Error, code: string): string {
  const [, kind = '', detail = ''] = code.split('_')
  const advice = SQLITE_ADVICE[`${kind}_${detail}`] ?? SQLITE_ADVICE[kind]
  return `database error: ${error.message} (${code})${advice === undefined ? '' : `. ${advice}`}`
}

const NO_LOCKS =
  'The file system has no locks, or no memory that processes share (some network file systems): move data_dir to a local disk'

const SQLITE_ADVICE: Readonly<Record<string, string>> = {
  IOERR_SHMSIZE: 'The disk may be full: free some space',
  IOERR_LOCK: NO_LOCKS,
  IOERR_UNLOCK: NO_LOCKS,
  IOERR_RDLOCK: NO_LOCKS,
  IOERR_SHMLOCK: NO_LOCKS,
  IOERR_SHMMAP: NO_LOCKS,
  PROTOCOL: NO_LOCKS,
  FULL: 'The disk is full: free some space',
  IOERR: 'The disk failed: see the kernel log (dmesg)',
  BUSY: 'Another process uses the database: wait for it or stop it. If none does, the file system has no locks: use a local disk',
  LOCKED: 'Another process uses the database: wait for it or stop it',
  READONLY: 'The file or its file system is read-only: check its owner, its mode and the mount',
  CANTOPEN: 'Check that the folder exists, its owner and its mode',
  PERM: 'Check the owner and the mode of the file',
  CORRUPT: 'The file is damaged: restore a backup (postrider restore)',
  NOTADB: 'The file is not a database: restore a backup (postrider restore)',
  NOMEM: 'The machine is out of memory',
}

/** A system error in plain words if it has a common cause, with its file if it names one; else its own message. */
function systemMessage(error: Error, code: string): string {
  const words = SYSTEM_WORDS[code]
  if ('path' in error && typeof error.path === 'string') {
    return words === undefined && !isDenied(code) ? error.message : `${error.path}: ${fileFault(error, error.path)}`
  }
  return words === undefined ? error.message : `${error.message} (${words})`
}

/** Whether the user of the process lacks a right, or may lack it. */
const isDenied = (code: string) => /^(?:EACCES|EPERM|SQLITE_(?:CANTOPEN|PERM|READONLY))/.test(code)

/** Error of opening the store → the failure to print, which names the database or the data directory. Returns a bug
 *  unchanged. */
export function storeFailure(thrown: unknown, dataDir: string): unknown {
  const failure = toFailure(thrown)
  if (failure === null) return thrown
  const place = thrown instanceof DatabaseUnusable ? 'database.url' : `data_dir ${dataDir}`
  const cause = thrown instanceof StoreUnavailable ? thrown.cause : thrown
  if (cause instanceof Error && isDenied(codeOf(cause)) && !('path' in cause)) {
    const at = deniedIn(dataDir)
    const advice = writeFault(at) === 'EROFS' ? SYSTEM_WORDS.EROFS : accessAdvice(at)
    return new CommandFailure(`${place}: ${advice}`, failure.code)
  }
  return new CommandFailure(`${place}: ${failure.message}`, failure.code)
}

/** The data directory, or the first file of the database in it that cannot be written if the directory can. */
function deniedIn(dataDir: string): string {
  const isOpen = (path: string, flags: string) => {
    try {
      closeSync(openSync(path, flags))
      return true
    } catch (error) {
      return codeOf(error) === 'ENOENT'
    }
  }
  if (!isOpen(dataDir, 'r') || writeFault(dataDir) !== '') return dataDir
  const database = join(dataDir, DATABASE_FILE)
  return [database, `${database}-wal`, `${database}-shm`].find((file) => !isOpen(file, 'r+')) ?? database
}

/** Code of the error that writing there would meet; '' for none. */
function writeFault(path: string): string {
  try {
    accessSync(path, constants.W_OK)
    return ''
  } catch (error) {
    return codeOf(error)
  }
}

/** Codes of system errors, such as EACCES, ENOSPC and EADDRINUSE (errno(3)). */
const SYSTEM_ERROR = /^E[A-Z0-9]+$/

function fromRefusal(refusal: Refusal): CommandFailure {
  const { reason, message, field, faults } = refusal
  if (reason !== 'validation_error') return new CommandFailure(field === undefined ? message : `${field}: ${message}`)
  // These messages already start with the field.
  return usageFault(faults === undefined ? message : faults.map((fault) => fault.message).join('\n'))
}
