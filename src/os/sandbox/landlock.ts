import { closeSync, constants, openSync, statSync } from 'node:fs'
import { kernel, pinned } from './kernel.ts'
import { LANDLOCK } from './system-calls.ts'

/** Landlock version of the kernel; 0 = none, or disabled. landlock(7) */
function landlockVersion(): number {
  try {
    return Math.max(0, kernel().call(LANDLOCK.createRuleset, 0, 0, CREATE_RULESET_VERSION))
  } catch {
    return 0
  }
}

/** Restricts the calling thread, and every thread and program it starts from now on: it may read and execute the
 *  given files and directories, and do nothing else with files, open no TCP connection, and reach no outside process
 *  by abstract sockets or signals, as far as the kernel's version supports this. Returns the version; 0 without
 *  Landlock. Rights of versions above 7 are not used. Throws if the kernel refuses. */
export function restrictToReading(paths: readonly string[]): number {
  const version = landlockVersion()
  if (version === 0) return 0
  const { call, errno } = kernel()
  const rights = restrictedRights(version)
  const ruleset = pinned(rights)
  const fd = call(LANDLOCK.createRuleset, ruleset.address, rights.byteLength, 0)
  if (fd < 0) throw new Error(`landlock_create_ruleset failed with errno ${errno()}`)
  try {
    for (const path of paths) allowReading(fd, path)
    if (call(LANDLOCK.restrictSelf, fd, 0) !== 0) {
      throw new Error(`landlock_restrict_self failed with errno ${errno()}`)
    }
  } finally {
    closeSync(fd)
  }
  return version
}

/** All rights that a version of at least 1 can restrict, as struct landlock_ruleset_attr {handled_access_fs,
 *  handled_access_net, scoped}; earlier versions have fewer of its fields. */
export function restrictedRights(version: number): Buffer {
  const files = FILE_RIGHTS[version] ?? ALL_FILE_RIGHTS
  const fields = [BigInt(files)]
  if (version >= 4) fields.push(BIND_TCP | CONNECT_TCP)
  if (version >= 6) fields.push(ABSTRACT_SOCKETS | SIGNALS)
  return Buffer.from(BigUint64Array.from(fields).buffer)
}

/** A missing path is skipped: nothing can be read from it. */
function allowReading(ruleset: number, path: string): void {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (isFolder === undefined) return
  const parent = openSync(path, O_PATH | constants.O_RDONLY)
  try {
    const rule = Buffer.alloc(12) // struct landlock_path_beneath_attr {allowed_access, parent_fd}, packed
    rule.writeBigUInt64LE(BigInt(EXECUTE | READ_FILE | (isFolder ? READ_DIR : 0)), 0)
    rule.writeInt32LE(parent, 8)
    const { hold, address } = pinned(rule)
    if (kernel().call(LANDLOCK.addRule, ruleset, PATH_BENEATH, address, 0) !== 0 || hold.length === 0) {
      throw new Error(`landlock_add_rule failed for ${path} with errno ${kernel().errno()}`)
    }
  } finally {
    closeSync(parent)
  }
}

// linux/landlock.h
const CREATE_RULESET_VERSION = 1
const PATH_BENEATH = 1
const EXECUTE = 1
const READ_FILE = 4
const READ_DIR = 8
/** Rights by version: 1 has 13 rights on files, 2 adds refer, 3 truncate, 5 ioctl on devices. */
const FILE_RIGHTS = [0, 0x1fff, 0x3fff, 0x7fff, 0x7fff]
const ALL_FILE_RIGHTS = 0xffff
const BIND_TCP = 1n
const CONNECT_TCP = 2n
const ABSTRACT_SOCKETS = 1n
const SIGNALS = 2n
const O_PATH = 0o10000000
