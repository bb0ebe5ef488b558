import { expect, test } from 'bun:test'
import { Refusal } from '../model/refusal.ts'
import { EncryptionKeyUnusable } from '../storage/encryption.ts'
import { StoreMismatch } from '../storage/errors.ts'
import { StoreDamaged, StoreUnavailable } from '../storage/store.ts'
import { CommandFailure, configFailure, EXIT, toFailure, usageFault } from './failure.ts'

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
  ['a database error', coded('disk I/O error', 'SQLITE_IOERR'), 'database error: disk I/O error (SQLITE_IOERR)', 1],
  ['a system error without a file', coded('EACCES: permission denied', 'EACCES'), 'EACCES: permission denied', 1],
  ['a missing file', Object.assign(coded('ENOENT: stat', 'ENOENT'), { path: '/a' }), '/a: no such file or folder', 1],
  ['another system error', Object.assign(coded('EIO: read', 'EIO'), { path: '/a' }), 'EIO: read', 1],
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
