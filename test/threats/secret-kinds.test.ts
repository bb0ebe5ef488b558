import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENCRYPTED_COLUMNS } from '../../src/storage/records/re-encrypt.ts'
import { SECRET_KINDS, type SecretKind } from '../../src/web/api/secret-kinds.ts'
import { GIVEN, MADE, OTHER_HASHES } from './secret-makers.ts'

/** Finds whatever makes or keeps a secret, and compares it with the table of secrets. */

const SRC = join(import.meta.dir, '../../src')
const KINDS: Record<string, SecretKind> = SECRET_KINDS
const columnsOf = (...ways: string[]) =>
  Object.values(KINDS).flatMap(({ stored }) => ('column' in stored && ways.includes(stored.as) ? [stored.column] : []))

/** Randomness, keys and keyed digests: everything that a secret can be made of. */
const MAKERS =
  /random\.bytes\(|systemRandom\.bytes\(|\bbase62\(|randomBytes\(|randomUUID\(|getRandomValues\(|createHmac\(|generateKeyPair(?:Sync)?\(|\bsecret\('|mintToken\(|mintSessionToken\(|mintKeyValue\(|mintSigningSecret\(|mintRecoveryCodes\(|mintLink\(|keyedTag\(/g

// threat: secrets-exposed
test('every place that makes something random or keyed is in the list, and every kind has one', () => {
  const found: Record<string, number> = {}
  for (const file of new Bun.Glob('**/*.ts').scanSync(SRC)) {
    if (file.endsWith('.test.ts') || file.startsWith('manual/')) continue
    const code = readFileSync(join(SRC, file), 'utf8').replaceAll(/^\s*(?:\/?\*|\/\/|import\b).*$/gm, '')
    const sites = code.match(MAKERS)?.length ?? 0
    if (sites > 0) found[file] = sites
  }
  expect(found).toEqual(Object.fromEntries(Object.entries(MADE).map(([file, [sites]]) => [file, sites])))
  const made = Object.values(MADE).flatMap(([, as]) => (typeof as === 'string' ? [] : as))
  expect([...new Set([...made, ...GIVEN])].toSorted()).toEqual(Object.keys(KINDS).toSorted() as typeof made)
})

// threat: secrets-exposed
test('every column with a secret or its hash belongs to a kind', () => {
  // The kind of a certificate's key names its file; the table exists with several nodes only.
  const ofOneNode = ENCRYPTED_COLUMNS.filter(({ table }) => table !== 'certificates')
  const encrypted = ofOneNode.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`))
  expect([...new Set(columnsOf('encrypted'))].toSorted()).toEqual(encrypted.toSorted())
  const hashed = new Set(hashColumns().filter((column) => !OTHER_HASHES.includes(column)))
  expect([...new Set(columnsOf('SHA-256', 'slow hash'))].toSorted()).toEqual([...hashed].toSorted())
})

/** Columns named `…_hash`. */
function hashColumns(): string[] {
  const columns: string[] = []
  for (const file of ['storage/schema.sql', 'storage/sqlite/tables.sql']) {
    let table = ''
    for (const line of readFileSync(join(SRC, file), 'utf8').split('\n')) {
      table = /^(?:create|alter) table (\w+)/.exec(line)?.[1] ?? table
      const column = /^\s+(\w+_hash) |add column (\w+_hash) /.exec(line)
      if (column !== null) columns.push(`${table}.${column[1] ?? column[2]}`)
    }
  }
  return columns
}
