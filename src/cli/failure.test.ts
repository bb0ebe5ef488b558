import { afterAll, expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from '../model/refusal.ts'
import { EncryptionKeyUnusable } from '../storage/encryption.ts'
import { StoreMismatch } from '../storage/errors.ts'
import { StoreDamaged, StoreUnavailable } from '../storage/store.ts'
import { CommandFailure, configFailure, EXIT, storeFailure, toFailure, usageFault } from './failure.ts'

const coded = (message: string, code: string) => Object.assign(new Error(message), { code })
const faults = [
  { field: 'a', message: 'a is wrong' },
  { field: 'b', message: 'b is missing' },
]

test('exit codes are those of the man page', () => {
  expect(EXIT).toEqual({ done: 0, failed: 1, usage: 2, inUse: 3, replaced: 4, interrupted: 130 })
})

test.each<[string, unknown, string, number]>([
  ['a failure', new CommandFailure('no', 3), 'no', 3],
  ['a failure without code', new CommandFailure('no'), 'no', 1],
  ['wrong usage', usageFault('no'), 'no', 2],
  ['a refusal', new Refusal('not_found', 'no such key'), 'no such key', 1],
  ['a refusal of a field', new Refusal('not_found', 'no such key', { field: 'id' }), 'id: no such key', 1],
  ['an invalid value', new Refusal('validation_error', 'a is wrong', { field: 'a' }), 'a is wrong', 2],
  ['invalid values', new Refusal('validation_error', 'invalid', { faults }), 'a is wrong\nb is missing', 2],
  ['a wrong encryption key', new EncryptionKeyUnusable('wrong key'), 'wrong key', 2],
  ['a newer store', new StoreMismatch('newer'), 'newer', 1],
  ['a damaged store', new StoreDamaged('damaged'), 'damaged', 1],
  ['a store in use', new StoreUnavailable('in use'), 'in use', 1],
  [
    'a database error',
    coded('disk I/O error', 'SQLITE_IOERR'),
    'database error: disk I/O error (SQLITE_IOERR). The disk failed: see the kernel log (dmesg)',
    1,
  ],
  [
    'a full disk',
    coded('full', 'SQLITE_FULL'),
    'database error: full (SQLITE_FULL). The disk is full: free some space',
    1,
  ],
  [
    'an extended code',
    coded('bad', 'SQLITE_CORRUPT_INDEX'),
    'database error: bad (SQLITE_CORRUPT_INDEX). The file is damaged: restore a backup (postrider restore)',
    1,
  ],
  [
    'a full disk that only shared memory meets',
    coded('disk I/O error', 'SQLITE_IOERR_SHMSIZE'),
    'database error: disk I/O error (SQLITE_IOERR_SHMSIZE). The disk may be full: free some space',
    1,
  ],
  [
    'a file system without locks',
    coded('disk I/O error', 'SQLITE_IOERR_LOCK'),
    'database error: disk I/O error (SQLITE_IOERR_LOCK). The file system has no locks, or no memory that processes share (some network file systems): move data_dir to a local disk',
    1,
  ],
  ['a rare code', coded('misuse', 'SQLITE_MISUSE'), 'database error: misuse (SQLITE_MISUSE)', 1],
  ['a system error without a file', coded('EACCES: permission denied', 'EACCES'), 'EACCES: permission denied', 1],
  [
    'no descriptor',
    coded('EMFILE: x', 'EMFILE'),
    'EMFILE: x (too many open files. Raise the limit (ulimit -n, or LimitNOFILE of the unit))',
    1,
  ],
  ['a missing file', Object.assign(coded('ENOENT: stat', 'ENOENT'), { path: '/a' }), '/a: no such file or folder', 1],
  [
    'a full device',
    Object.assign(coded('ENOSPC: x', 'ENOSPC'), { path: '/a' }),
    '/a: no space left on the device. Free some space',
    1,
  ],
  [
    'a read-only mount',
    Object.assign(coded('EROFS: x', 'EROFS'), { path: '/a' }),
    '/a: the file system is read-only. Mount it writable',
    1,
  ],
  [
    'a library that cannot be mapped',
    coded('/tmp/x.node: failed to map segment', 'ERR_DLOPEN_FAILED'),
    'the SQLite library cannot be loaded: /tmp/x.node: failed to map segment. Set TMPDIR to a writable folder that is not mounted noexec',
    1,
  ],
  ['another system error', Object.assign(coded('ESTALE: read', 'ESTALE'), { path: '/a' }), 'ESTALE: read', 1],
])('%s is printed', (_, thrown, message, code) => {
  const failure = toFailure(thrown)
  expect([failure?.message, failure?.code as number]).toEqual([message, code])
})

test.each<[string, unknown]>([
  ['an error without code', new Error('bug')],
  ['an error of the runtime', coded('bug', 'ERR_INVALID_ARG_TYPE')],
  ['a number as code', Object.assign(new Error('bug'), { code: 7 })],
  ['a thrown text', 'bug'],
])('%s is a bug', (_, thrown) => {
  expect(toFailure(thrown)).toBeNull()
})

test('faults of the config have a line each', () => {
  const { message, code } = configFailure([
    { path: 'http.listen', place: 'config.toml:3', message: 'expected x' },
    { path: 'hostname', place: 'config.toml', message: 'missing' },
  ] as never)
  expect([message.split('\n').length, code as number]).toEqual([2, 2])
})

const folder = mkdtempSync(join(tmpdir(), 'postrider-failure-'))
afterAll(() => rmSync(folder, { recursive: true }))
const NOBODY = 65534

/** What a user without rights is told. */
function asNobody(thrown: Error, dataDir: string): string {
  chmodSync(folder, 0o755)
  process.seteuid?.(NOBODY)
  try {
    const failure = storeFailure(thrown, dataDir)
    return failure instanceof CommandFailure ? failure.message : String(failure)
  } finally {
    process.seteuid?.(0)
  }
}

// Only root may act as another user.
test.skipIf(process.getuid?.() !== 0)('a data directory of another user says who is who and what to do', () => {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(dataDir, 'postrider.db'), '', { mode: 0o600 })
  const gid = process.getegid?.()
  const facts = `permission denied: this process has uid ${NOBODY} and gid ${gid}, ${dataDir} belongs to uid 0 and gid 0 (mode 700)`
  const advice = `Run it as the owner (in a container: --user 0:0), or change the owner: chown -R ${NOBODY}:${gid} ${dataDir}`
  for (const code of [
    'EACCES',
    'EPERM',
    'SQLITE_CANTOPEN',
    'SQLITE_CANTOPEN_ISDIR',
    'SQLITE_READONLY_DIRECTORY',
    'SQLITE_PERM',
  ]) {
    expect(asNobody(coded('x', code), dataDir)).toBe(`data_dir ${dataDir}: ${facts}. ${advice}`)
  }
  // The parent forbids it to look.
  expect(asNobody(coded('x', 'EACCES'), join(dataDir, 'inner'))).toContain(`${dataDir} belongs to uid 0`)
  // The folder is fine, a file in it is not.
  chmodSync(dataDir, 0o777)
  const path = join(dataDir, 'postrider.db')
  const denied = Object.assign(coded('x', 'EACCES'), { path })
  expect(asNobody(denied, dataDir)).toContain(`${path} belongs to uid 0 and gid 0 (mode 600). Run it as the owner`)
  expect(asNobody(coded('unable to open', 'SQLITE_CANTOPEN'), dataDir)).toContain(`${path} belongs to uid 0`)
  // The owner took the rights from itself.
  chownSync(path, NOBODY, NOBODY)
  chmodSync(path, 0o400)
  expect(asNobody(denied, dataDir)).toEndWith(`Give the owner its rights: chmod u+rwX ${path}`)
  chmodSync(path, 0o600)
  expect(asNobody(denied, dataDir)).toEndWith('With SELinux, mount the volume of a container with :Z')
  // A file beside the database, and the folder, without the right to write; also when the store found it out first.
  writeFileSync(`${path}-wal`, '', { mode: 0o600 })
  const readOnly = coded('attempt to write', 'SQLITE_READONLY')
  for (const thrown of [readOnly, new StoreUnavailable('cannot write', { cause: readOnly })]) {
    expect(asNobody(thrown, dataDir)).toContain(`${path}-wal belongs to uid 0 and gid 0 (mode 600)`)
  }
  chownSync(dataDir, NOBODY, NOBODY)
  chmodSync(dataDir, 0o500)
  const folderDenied = Object.assign(coded('x', 'EACCES'), { path: dataDir })
  expect(asNobody(folderDenied, dataDir)).toEndWith(`(mode 500). Give the owner its rights: chmod u+rwX ${dataDir}`)
})
