import { describe, expect, test } from 'bun:test'
import { type Manifest, manifestFault, mayHold, parseManifest } from './manifest.ts'

describe('a backup', () => {
  test.each(['config.toml', 'encryption.key', 'tls/example.com/key.pem'])('may hold %s', (name) => {
    expect(mayHold(name)).toBe(true)
  })

  test.each([
    'postrider.db',
    'postrider.db-wal',
    'Postrider.lock',
    'manifest.json',
    'manifest.sig',
    'backup.secret',
    'last-backup.json',
    'serving.json',
    'notes.txt',
    '../encryption.key',
    'tls/../encryption.key',
    '/etc/encryption.key',
    '.hidden.key',
    'tls/.hidden.pem',
    'a..b.key',
    'a/b/c/d/e.pem',
    `${'a'.repeat(97)}.key`,
    'a b.key',
    '',
  ])('never holds %p', (name) => {
    expect(mayHold(name)).toBe(false)
  })
})

describe('a manifest', () => {
  const file = (name: string, bytes = 1) => ({ name, bytes, sha256: 'a'.repeat(64) })
  const manifest = (...files: Manifest['files']): Manifest => ({
    format: 1,
    program: '1.0.0',
    schema: 1,
    made_at: '2026-11-21T00:00:00Z',
    instance_id: 'abc',
    hostname: 'mail.example.com',
    files: [...files, file('postrider.db', 5e9)],
  })
  const parsed = (change: object) => parseManifest(JSON.stringify({ ...manifest(), ...change }))

  test('is read as it was written, with at most a hundred files besides the database', () => {
    const most = Array.from({ length: 100 }, (_, n) => file(`${n}.pem`))
    expect(parseManifest(JSON.stringify(manifest(...most)))).toEqual(manifest(...most))
    expect(parseManifest(JSON.stringify(manifest(...most, file('x.pem'))))).toBeNull()
  })

  test.each([
    ['another format', { format: 2 }],
    ['schema 0', { schema: 0 }],
    ['a control character', { hostname: 'a\x1b' }],
    ['a long text', { program: 'x'.repeat(254) }],
    ['a date without time', { made_at: '2026-11-21' }],
    ['no database', { files: [file('a.pem')] }],
    ['a file behind the database', { files: [file('postrider.db'), file('a.pem')] }],
    ['no files', { files: [] }],
    ['a long name', { files: [file(`${'a'.repeat(97)}.pem`), file('postrider.db')] }],
    ['a size below 0', { files: [file('postrider.db', -1)] }],
    ['a short digest', { files: [{ ...file('postrider.db'), sha256: 'a' }] }],
  ])('with %s is not valid', (_, change) => {
    expect(parsed(change)).toBeNull()
  })

  test('is null for text that is no JSON', () => {
    expect(parseManifest('{')).toBeNull()
    expect(parsed({ program: 'x'.repeat(253), hostname: '' })).not.toBeNull()
  })

  test.each<[string | null, Manifest['files']]>([
    [null, [file('config.toml'), file('tls/a/key.pem', 1_048_576), file('tls/b/key.pem')]],
    ['unexpected file notes.txt', [file('notes.txt')]],
    ['unexpected file postrider.db', [file('postrider.db')]],
    ['file a.pem is too large', [file('a.pem', 1_048_577)]],
    ['file A.pem is listed twice', [file('a.pem'), file('A.pem')]],
    ['a.pem is both a file and a folder', [file('a.pem'), file('a.pem/b.pem')]],
    ['a.pem is both a file and a folder', [file('A.pem/b/c.pem'), file('a.pem')]],
    ['a/b.pem is both a file and a folder', [file('a/b.pem/c.pem'), file('a/b.pem')]],
  ])('has the fault %p', (fault, files) => {
    expect(manifestFault(manifest(...files))).toBe(fault)
  })
})
