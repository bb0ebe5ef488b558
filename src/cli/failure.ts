import type { ConfigFault } from '../config/fault.ts'
import { formatFaults } from '../config/load.ts'
import { Refusal } from '../model/refusal.ts'
import { EncryptionKeyUnusable } from '../storage/encryption.ts'
import { DatabaseUnusable, StoreMismatch, StoreMoved } from '../storage/errors.ts'
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
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''
  if (code.startsWith('SQLITE_')) return new CommandFailure(`database error: ${thrown.message} (${code})`)
  return SYSTEM_ERROR.test(code) ? new CommandFailure(systemMessage(thrown, code)) : null
}

/** A system error in plain words if it names a file and has a common cause; else its own message. */
function systemMessage(error: Error, code: string): string {
  const words = SYSTEM_WORDS[code]
  return words !== undefined && 'path' in error && typeof error.path === 'string'
    ? `${error.path}: ${words}`
    : error.message
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not a folder',
  EEXIST: 'exists already',
}

/** Error of opening the store → the failure to print, which names the database or the data directory. Returns a bug
 *  unchanged. */
export function storeFailure(thrown: unknown, dataDir: string): unknown {
  const failure = toFailure(thrown)
  if (failure === null) return thrown
  const place = thrown instanceof DatabaseUnusable ? 'database.url' : `data_dir ${dataDir}`
  return new CommandFailure(`${place}: ${failure.message}`, failure.code)
}

/** Codes of system errors, such as EACCES, ENOSPC and EADDRINUSE (errno(3)). */
const SYSTEM_ERROR = /^E[A-Z0-9]+$/

function fromRefusal(refusal: Refusal): CommandFailure {
  const { reason, message, field, faults } = refusal
  if (reason !== 'validation_error') return new CommandFailure(field === undefined ? message : `${field}: ${message}`)
  // These messages already start with the field.
  return usageFault(faults === undefined ? message : faults.map((fault) => fault.message).join('\n'))
}
