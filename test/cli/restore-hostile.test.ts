import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { DATABASE, type Manifest } from '../../src/cli/backup/manifest.ts'
import { publicKeyOf, SIGNATURE_FILE } from '../../src/cli/backup/signature.ts'
import { tarEnd, tarHead, tarPadding } from '../../src/cli/backup/tar.ts'
import { openBackup } from '../../src/cli/backup/unpack.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { onTerminal, postrider, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** Crafted backups that the operator restores with --unauthenticated, and data directories whose owner replaces files while root restores. */

const inOneProcess = postriderInOneProcess()
const place = testFolder('[sending]\nrequire_verified_domain = false\n')
const at = (name: string) => join(place.folder, name)
const files = new Map<string, Buffer>()
let manifest: Manifest

beforeAll(async () => {
  place.writeConfig()
  expect((await inOneProcess('init', '--domain', 'example.com', '--config', place.file)).code).toBe(0)
  expect((await inOneProcess('backup', at('good'), '--config', place.file)).code).toBe(0)
  writeFileSync(at('good.tar'), zstdDecompressSync(readFileSync(at('good'))))
  const tar = (...args: string[]) => Bun.spawnSync(['tar', ...args]).stdout
  for (const name of tar('-tf', at('good.tar')).toString().trim().split('\n')) {
    files.set(name, Buffer.from(tar('-xOf', at('good.tar'), name)))
  }
  manifest = JSON.parse(files.get('manifest.json')!.toString())
  files.delete('manifest.json')
  files.delete(SIGNATURE_FILE)
})
afterAll(() => place.remove())

/** A file of an archive. `head` changes its header; `packed` then corrects the checksum. */
interface Member {
  name: string
  bytes: Buffer
  head?: (head: Buffer) => void
}

const members = (): Member[] => [...files].map(([name, bytes]) => ({ name, bytes }))
const withDatabaseLast = (more: Member[]) => [...members().slice(0, -1), ...more, members().at(-1)!]

/** Members → a backup whose manifest matches them, with a signature of nobody. */
function packed(all: Member[], after: Buffer = Buffer.alloc(0)): string {
  const listed = all.map(({ name, bytes }) => ({
    name,
    bytes: bytes.length,
    sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'),
  }))
  const reported = { name: 'manifest.json', bytes: Buffer.from(JSON.stringify({ ...manifest, files: listed })) }
  const blocks = [reported, { name: SIGNATURE_FILE, bytes: Buffer.alloc(64) }, ...all].flatMap(
    ({ name, bytes, head: change }: Member) => {
      const head = tarHead({ name, bytes: bytes.length }, 0)
      if (change !== undefined) {
        change(head)
        const sum = head.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0)
        head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
      }
      return [head, bytes, tarPadding(bytes.length)]
    },
  )
  writeFileSync(at('made'), zstdCompressSync(Buffer.concat([...blocks, tarEnd(), after])))
  return at('made')
}

/** Error message of reading a backup up to the database. */
async function readingOf(file: string): Promise<string> {
  return openBackup(file, at('none.toml'), { publicKeys: [], acceptsAll: true }).then(
    () => 'accepted',
    (thrown: Error) => thrown.message,
  )
}

/** Error message of --verify. Checks that a restore fails with the same message and changes nothing. */
async function refusal(file: string): Promise<string> {
  const verified = await inOneProcess('restore', file, '--verify')
  const restored = await inOneProcess('restore', file, '--to', at('target'), '--unauthenticated')
  expect([verified.code, restored.code, verified.stdout, restored.stdout]).toEqual([1, 1, '', ''])
  expect(restored.stderr).toBe(verified.stderr)
  expect(existsSync(at('target'))).toBe(false)
  expect(readdirSync(place.folder).filter((name) => name.startsWith('.'))).toEqual([])
  return verified.stderr.trim()
}

describe('a crafted backup', () => {
  // threat: backup-names
  test('may contain only known files, each once, which is checked before anything is written', async () => {
    const bytes = Buffer.from('x')
    const named = (name: string) => readingOf(packed(withDatabaseLast([{ name, bytes }])))
    for (const name of [
      'postrider.db-wal',
      'postrider.db-shm',
      'postrider.db-journal',
      'postrider.lock',
      'postrider.pem',
      'POSTRIDER.DB-WAL',
      'serving.json',
      'last-backup.json',
      'manifest.json',
      'override.conf',
      'postrider.service.d/override.conf',
      'before-restore-1/a.pem',
      '.bashrc',
      'tls/.hidden.pem',
      '../escape.pem',
      'tls/../../escape.pem',
      '/etc/cron.d/x.pem',
      'tls//x.pem',
      'a/b/c/d/e.pem',
    ]) {
      expect([name, await named(name)]).toEqual([name, `the backup is damaged: unexpected file ${name}`])
    }
    expect(await named('seal.key')).toBe('the backup is damaged: file seal.key is listed twice')
    expect(await named('SEAL.key')).toBe('the backup is damaged: file SEAL.key is listed twice')
    expect(await named('seal.key/x.pem')).toBe('the backup is damaged: seal.key is both a file and a folder')
    expect(await named('a\x1b[2J.pem')).toContain('manifest is unreadable')
    expect(await readingOf(packed([members().at(-1)!, ...members()]))).toContain('postrider.db')
    for (const name of ['postrider.db-wal', 'seal.key']) {
      expect(await refusal(packed(withDatabaseLast([{ name, bytes }])))).toBe(await named(name))
    }
  })

  test('may contain nothing that other tar programs read differently', async () => {
    const cert = (head: (block: Buffer) => void): Member => ({ name: 'a.pem', bytes: Buffer.from('x'), head })
    const typed = (type: string) => readingOf(packed(withDatabaseLast([cert((block) => block.write(type, 156))])))
    // Hard link, symbolic link, devices, folder, FIFO, sparse file, pax headers, GNU long names.
    for (const type of ['1', '2', '3', '4', '5', '6', 'S', 'x', 'g', 'L', 'K']) {
      expect([type, await typed(type)]).toEqual([
        type,
        'the backup is damaged: the archive contains an entry that is not a regular file',
      ])
    }
    const prefixed = packed(withDatabaseLast([cert((block) => block.write('etc/cron.d', 345))]))
    expect(await refusal(prefixed)).toBe('the backup is damaged: the archive contains a file with a long path')
  })

  // threat: backup-path
  test('cannot choose the target: without a config the command needs one, or consent at the terminal', async () => {
    const config = files
      .get('config.toml')!
      .toString()
      .replace('data_dir = "data"', `data_dir = "${at('chosen')}"`)
    const file = packed(
      members().map((each) => (each.name === 'config.toml' ? { ...each, bytes: Buffer.from(config) } : each)),
    )
    const missing = at('none/config.toml')
    const refused = await inOneProcess('restore', file, '--config', missing, '--unauthenticated')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr.trim()).toBe(
      `${missing}: file not found. To restore to the backup's data directory, use --to ${at('chosen')}`,
    )
    expect([existsSync(at('chosen')), existsSync(missing)]).toEqual([false, false])

    const asked = ['restore', file, '--unauthenticated']
    const question = `The backup uses the data directory ${at('chosen')}. Restore there? [y/N]`
    const declined = await onTerminal({}, [...asked, '--config', missing], { [question]: 'n' })
    expect([declined.code, declined.unanswered, existsSync(at('chosen'))]).toEqual([2, [], false])
    const agreed = await onTerminal({}, [...asked, '--config', missing], { [question]: 'y' })
    expect([agreed.code, agreed.unanswered]).toEqual([0, []])
    expect(readFileSync(missing, 'utf8')).toBe(config)
    rmSync(at('chosen'), { recursive: true })
    rmSync(at('none'), { recursive: true })

    const elsewhere = await inOneProcess(...asked, '--config', missing, '--to', at('other'))
    expect(elsewhere).toMatchObject({ code: 0, stderr: '' })
    expect([existsSync(at('chosen')), existsSync(missing), existsSync(at('other/postrider.db'))]).toEqual([
      false,
      false,
      true,
    ])
    rmSync(at('other'), { recursive: true })
  })

  // threat: backup-schema
  test('may add no trigger, view, table or index, and omit none of ours', async () => {
    const changed = (sql: string) => {
      writeFileSync(at('changed.db'), files.get(DATABASE)!)
      const db = connect(at('changed.db'), { busyTimeoutMs: 0 })
      try {
        db.exec(sql)
        db.pragma('wal_checkpoint(truncate)')
        db.pragma('journal_mode = delete')
      } finally {
        db.close()
      }
      const bytes = readFileSync(at('changed.db'))
      return refusal(packed([...members().slice(0, -1), { name: DATABASE, bytes }]))
    }
    for (const [sql, what] of [
      ['create trigger evil after insert on messages begin delete from api_keys; end', 'trigger evil'],
      ['create view evil as select 1', 'view evil'],
      ['create table evil (a)', 'table evil'],
      ['create index evil on messages (id)', 'index evil'],
      ['create virtual table evil using fts5 (a)', 'table evil'],
      ['alter table messages add column evil integer', 'table messages'],
    ]) {
      expect([sql, await changed(sql!)]).toEqual([
        sql!,
        expect.stringMatching(new RegExp(`the database contains an unknown ${what}`)),
      ])
    }
    expect(await changed('alter table migrations rename to m; create view migrations as select * from m')).toContain(
      'the table of schema steps is missing',
    )
    const [index] = indexesOf(at('changed.db'))
    expect(await changed(`drop index ${index}`)).toContain(`the database has no index ${index}`)
  })
})

function indexesOf(file: string): string[] {
  const db = connect(file, { busyTimeoutMs: 0 })
  try {
    return db
      .prepare("select name from sqlite_schema where type = 'index' and sql is not null limit 1")
      .pluck()
      .all() as string[]
  } finally {
    db.close()
  }
}

test('every database is opened with trusted_schema off and cell_size_check on', () => {
  for (const readonly of [false, true]) {
    const db = connect(`${place.dataDir}/postrider.db`, { busyTimeoutMs: 0, readonly })
    const pragmas = ['trusted_schema', 'cell_size_check', 'mmap_size'].map((name) => db.pragma(name, { simple: true }))
    db.close()
    expect(pragmas).toEqual([0, 1, 0])
  }
})

test('temporary tables and sorts never go to a file', () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  expect(db.pragma('temp_store', { simple: true })).toBe(2) // MEMORY
  db.close()
})

const NOBODY = 65534
const isRoot = process.getuid?.() === 0

// threat: restore-as-root
// threat: links-in-data-directory
describe.skipIf(!isRoot)('root who restores into the data directory of another user', () => {
  let key: string
  const victim = () => at('victim')
  // In a process of its own, which becomes that user.
  const restore = (dataDir: string) =>
    postrider('restore', at('good'), '--to', dataDir, '--replace', '--signed-by', key)
  const uidsIn = (folder: string) => [
    ...new Set(['.', ...readdirSync(folder)].map((name) => lstatSync(join(folder, name)).uid)),
  ]

  beforeAll(() => {
    chmodSync(place.folder, 0o755)
    key = publicKeyOf(place.dataDir)!
    mkdirSync(victim(), { mode: 0o700 })
    writeFileSync(join(victim(), 'secret'), 'of root', { mode: 0o600 })
  })
  const isUntouched = () => {
    expect(readdirSync(victim())).toEqual(['secret'])
    expect([statSync(victim()).uid, statSync(join(victim(), 'secret')).uid]).toEqual([0, 0])
  }
  const made = (name: string) => {
    mkdirSync(at(name), { mode: 0o700 })
    chownSync(at(name), NOBODY, NOBODY)
    return at(name)
  }

  test('makes every file theirs, beside it, and follows no link that they put there', async () => {
    const dataDir = made('foreign')
    symlinkSync(victim(), join(dataDir, 'link'))
    symlinkSync(join(victim(), 'secret'), join(dataDir, 'postrider.db'))
    symlinkSync(join(victim(), 'secret'), join(dataDir, 'seal.key'))
    symlinkSync(join(victim(), 'secret'), join(dataDir, 'backup.secret'))
    const { code, stderr } = await restore(dataDir)
    expect([code, stderr]).toEqual([0, ''])
    expect(uidsIn(dataDir)).toEqual([NOBODY])
    const kept = readdirSync(place.folder).find((name) => name.startsWith('foreign.before-restore-'))!
    expect(lstatSync(at(`${kept}/link`)).isSymbolicLink()).toBe(true)
    isUntouched()
    expect(readdirSync(place.folder).filter((name) => name.startsWith('.postrider'))).toEqual([])
  })

  test('works with their rights alone where they own the folder above too', async () => {
    const home = made('home')
    mkdirSync(join(home, 'data'))
    chownSync(join(home, 'data'), NOBODY, NOBODY)
    symlinkSync(victim(), join(home, '.postrider-restore-1'))
    symlinkSync(join(victim(), 'secret'), join(home, 'data/postrider.lock'))
    const before = await restore(join(home, 'data'))
    expect(before.code).toBe(1) // the lock file is a link to a file that the owner may not open
    isUntouched()
    rmSync(join(home, 'data/postrider.lock'))
    expect(await restore(join(home, 'data'))).toMatchObject({ code: 0, stderr: '' })
    expect(uidsIn(join(home, 'data'))).toEqual([NOBODY])
    expect(readdirSync(home).filter((name) => lstatSync(join(home, name)).uid === 0)).toEqual(['.postrider-restore-1'])
    isUntouched()
  })

  test('refuses where a third user could exchange a folder on the way', async () => {
    const home = made('third')
    mkdirSync(join(home, 'data'))
    chownSync(join(home, 'data'), NOBODY - 1, NOBODY - 1)
    const refused = await restore(join(home, 'data'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`${home} belongs to another user`)
    expect(readdirSync(join(home, 'data'))).toEqual([])
  })
})
