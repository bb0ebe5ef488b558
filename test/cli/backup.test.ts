import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { NEWEST_SCHEMA } from '../../src/storage/migrations.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { membersOf, pack, relisted } from './backup-members.ts'
import { PROGRAM, SOURCES, start, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

const RELAXED = '[sending]\nrequire_verified_domain = false\n'
const place = testFolder(RELAXED)
const postrider = postriderInOneProcess()
const run = (...args: string[]) => postrider(...args, '--config', place.file)
const json = async (...args: string[]) => {
  const { stdout, stderr, code } = await run(...args, '--json')
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
  return JSON.parse(stdout)
}
const at = (name: string) => join(place.folder, name)

beforeAll(async () => {
  place.writeConfig()
  await json('init', '--domain', 'example.com')
  const mail = ['send', '--from', 'a@example.com', '--to', 'b@example.org', '--subject', 'Hello', '--text', 'Hi']
  expect((await run(...mail)).code).toBe(0)
  writeFileSync(join(place.dataDir, 'smtp-key.pem'), 'a key', { mode: 0o600 })
  writeFileSync(join(place.dataDir, 'notes.txt'), 'not ours')
})
afterAll(() => place.remove())

describe('backup', () => {
  test('is one file for its owner only, which tar reads, with everything that a new machine needs', async () => {
    const made = await json('backup', at('one.tar.zst'))
    expect(made).toMatchObject({ file: at('one.tar.zst'), schema: NEWEST_SCHEMA, with_key: true })
    expect(statSync(at('one.tar.zst')).mode & 0o777).toBe(0o600)
    expect(namesIn(at('one.tar.zst'))).toEqual([
      'manifest.json',
      'manifest.sig',
      'config.toml',
      'seal.key',
      'smtp-key.pem',
      'postrider.db',
    ])
    expect(extracted(at('one.tar.zst'), 'config.toml')).toEqual(readFileSync(place.file))
    const manifest = JSON.parse(extracted(at('one.tar.zst'), 'manifest.json').toString())
    expect(manifest).toMatchObject({
      format: 1,
      schema: NEWEST_SCHEMA,
      hostname: 'mail.example.com',
      made_at: made.made_at,
    })
    expect(manifest.files.at(-1)).toEqual({
      name: 'postrider.db',
      bytes: made.database_bytes,
      sha256: new Bun.CryptoHasher('sha256').update(extracted(at('one.tar.zst'), 'postrider.db')).digest('hex'),
    })
    const note = JSON.parse(readFileSync(join(place.dataDir, 'last-backup.json'), 'utf8'))
    expect(note).toMatchObject({ made_at: made.made_at, bytes: made.bytes })
    expect(leftovers()).toEqual([])
  })

  test('into a folder has its time as name and removes the oldest; to standard output it writes nothing else', async () => {
    const old = ['postrider-20200101T000000Z.tar.zst', 'postrider-20210101T000000Z.tar.zst', 'mine.tar.zst']
    const folder = at('backups/')
    await json('backup', folder)
    for (const name of old) writeFileSync(join(folder, name), '')
    const made = await json('backup', folder, '--keep', '1')
    expect(made.removed).toEqual(expect.arrayContaining(old.slice(0, 2)))
    const left = readdirSync(folder)
    expect(left).toContain('mine.tar.zst')
    expect(left.filter((name) => /^postrider-\d{8}T\d{6}Z\.tar\.zst$/.test(name))).toEqual([basename(made.file)])

    const shell = Bun.spawnSync(
      ['sh', '-c', 'file="$0"; "$@" > "$file"', at('piped'), ...PROGRAM, 'backup', '-', '--config', place.file],
      { stdout: 'pipe', stderr: 'pipe' },
    )
    expect(shell.exitCode).toBe(0)
    expect(shell.stderr.toString()).toMatch(/^written to standard output: /)
    expect((await run('restore', '--verify', at('piped'))).code).toBe(0)
    expect(await run('backup', at('one'), '--keep', '3')).toMatchObject({ code: 2 })
    expect(leftovers()).toEqual([])
  })

  test('without its key needs that key for a restore', async () => {
    await json('backup', at('keyless'), '--without-key')
    expect(namesIn(at('keyless'))).not.toContain('seal.key')
    const refused = await run('restore', '--verify', at('keyless'))
    expect(refused.stderr.trim()).toBe('the backup does not contain seal.key. Provide that file with --seal-key')
    const opened = await json('restore', '--verify', at('keyless'), '--seal-key', join(place.dataDir, 'seal.key'))
    expect(opened).toMatchObject({ secrets: expect.any(Number), composed: 1, data_dir: null })
    writeFileSync(at('wrong.key'), `${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 })
    expect(await run('restore', '--verify', at('keyless'), '--seal-key', at('wrong.key'))).toMatchObject({ code: 2 })
  })

  test('without disk space leaves nothing behind', async () => {
    await json('backup', at('whole'))
    const whole = readFileSync(at('whole'))
    // Limits of the file size in KiB, both below the size of the database. The built program would not load its SQLite, whose
    // memory counts as a file.
    for (const most of ['300', '4']) {
      const limited = Bun.spawnSync(
        ['bash', '-c', 'ulimit -f "$0" && "$@"', most, ...SOURCES, 'backup', at('whole'), '--config', place.file],
        { stderr: 'pipe' },
      )
      expect(limited.exitCode).toBe(1)
      expect(limited.stderr.toString().trim().split('\n')).toHaveLength(1)
      if (most === '300') expect(limited.stderr.toString()).toContain(': cannot copy the database: ')
      expect(readFileSync(at('whole'))).toEqual(whole)
      expect(leftovers()).toEqual([])
    }
    const missing = await postrider('backup', at('never'), '--config', at('missing.toml'))
    expect(missing.code).toBe(2)
    expect(existsSync(at('never'))).toBe(false)
  })
})

describe('restore', () => {
  beforeEach(async () => {
    if (!existsSync(at('good'))) await json('backup', at('good'))
  })

  test('puts the backup with its config where there is nothing, and holds what waited', async () => {
    const config = at('new/config.toml')
    const text = readFileSync(place.file, 'utf8').replace('data_dir = "data"', `data_dir = "${at('new/data')}"`)
    const moved = await repacked(at('good'), (name, bytes) => (name === 'config.toml' ? Buffer.from(text) : bytes))
    const to = ['--config', config, '--to', at('new/data')]
    const restored = await postrider('restore', moved, '--unauthenticated', ...to, '--json')
    expect(restored.stderr).toBe('')
    expect(JSON.parse(restored.stdout)).toMatchObject({
      data_dir: at('new/data'),
      config,
      replaced: null,
      held: { deliveries: 1, webhook_deliveries: 0, inbound_deliveries: 0 },
    })
    expect(readFileSync(config, 'utf8')).toBe(text)
    expect(readdirSync(at('new/data')).toSorted()).toEqual(['postrider.db', 'seal.key', 'smtp-key.pem'])
    for (const name of readdirSync(at('new/data'))) expect(statSync(at(`new/data/${name}`)).mode & 0o777).toBe(0o600)

    const release = (...args: string[]) => postrider('restore', 'release', '--config', config, '--json', ...args)
    expect(JSON.parse((await release()).stdout).held.deliveries).toBe(1)
    expect(JSON.parse((await release('--posts')).stdout)).toMatchObject({ held: { deliveries: 1 } })
    expect(JSON.parse((await release('--all')).stdout)).toMatchObject({
      released: { deliveries: 1 },
      held: { deliveries: 0 },
    })
    expect((await release('--all', '--discard')).code).toBe(2)
    const audit = await postrider('audit', '--config', config)
    expect(audit.stdout).toMatch(/restore_release .* all /)
  })

  test('prints where everything is, what is on hold and how to send it', async () => {
    const config = at('moved/config.toml')
    const text = readFileSync(place.file, 'utf8').replace('data_dir = "data"', `data_dir = "${at('moved/data')}"`)
    const moved = await repacked(at('good'), (name, bytes) => (name === 'config.toml' ? Buffer.from(text) : bytes))
    const verified = await postrider('restore', '--verify', moved)
    expect(verified.stdout).toMatch(
      /^The backup is complete: mail\.example\.com, made \S+ by Postrider .*\nPostrider has not checked who made it .*\n.*\n.*\n$/,
    )
    const to = ['--config', config, '--to', at('moved/data')]
    const { code, stdout, stderr } = await postrider('restore', moved, '--unauthenticated', ...to)
    expect([stderr, code]).toEqual(['', 0])
    expect(stdout.split('\n').slice(4, 6)).toEqual([`Restored to ${at('moved/data')}.`, `Config written to ${config}.`])
    expect(stdout).toContain(':\n1 delivery, 0 webhook deliveries and 0 inbound deliveries. New mail')
    expect(stdout).toContain('postrider restore release --all')

    const [into, how] = [
      ['--config', config, '--replace'],
      ['--send-queued', '--unauthenticated'],
    ]
    const again = await postrider('restore', moved, ...into, ...how)
    expect(again.stdout).toContain(`The previous data is in ${at('moved/')}`)
    expect(again.stdout).not.toContain('Config written')
    expect(again.stdout).not.toContain('On hold')
  })

  test('refuses a backup with a faulty config where there is no other', async () => {
    const text = readFileSync(place.file, 'utf8').replace('data_dir =', 'data_dirs =')
    const moved = await repacked(at('good'), (name, bytes) => (name === 'config.toml' ? Buffer.from(text) : bytes))
    const refused = await postrider('restore', moved, '--config', at('faulty/config.toml'), '--unauthenticated')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('data_dirs')
    expect(existsSync(at('faulty'))).toBe(false)
  })

  test('asks before it replaces, keeps the old data, and refuses beside a server', async () => {
    const refused = await run('restore', at('good'))
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr.trim()).toBe(
      `${place.dataDir} is not empty. Use --replace to replace it; the old directory is renamed and kept.`,
    )
    const server = await start('serve', '--config', place.file)
    try {
      expect(JSON.parse(await server.line).event).toBe('ready')
      const beside = await run('restore', at('good'), '--replace')
      expect(beside).toMatchObject({ code: 3, stderr: `a server is running on ${place.dataDir}. Stop it first.\n` })
    } finally {
      server.kill('SIGTERM')
    }
    expect((await server.ended).code).toBe(0)

    const restored = await json('restore', at('good'), '--replace', '--discard-queued')
    expect(restored.held).toEqual({ deliveries: 0, webhook_deliveries: 0, inbound_deliveries: 0 })
    expect(readFileSync(join(restored.replaced, 'notes.txt'), 'utf8')).toBe('not ours')
    expect(existsSync(join(place.dataDir, 'notes.txt'))).toBe(false)
    const again = await json('restore', at('good'), '--replace', '--send-queued')
    expect(again.held).toBeNull()
    expect((await json('restore', 'release')).held.deliveries).toBe(0)
    expect(leftovers()).toEqual([])
  })

  // threat: hostile-backups
  test('refuses every damaged backup, and changes nothing', async () => {
    const refusal = async (file: string) => {
      const { code, stderr, stdout } = await postrider('restore', file, '--to', at('target'), '--unauthenticated')
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(existsSync(at('target'))).toBe(false)
      return stderr.trim()
    }
    const write = (name: string, bytes: Uint8Array) => {
      writeFileSync(at(name), bytes)
      return at(name)
    }
    const good = readFileSync(at('good'))
    expect(await refusal(write('cut', good.subarray(0, good.length - 2000)))).toMatch(/^the backup is damaged: /)
    expect(await refusal(write('text', Buffer.from('hello')))).toMatch(/^not a Postrider backup/)
    const flipped = Buffer.from(good)
    flipped[good.length - 3000]! ^= 1
    expect(await refusal(write('flipped', flipped))).toMatch(/^the backup is damaged: /)
    const change = async (change: (name: string, bytes: Buffer) => Buffer) =>
      refusal(await repacked(at('good'), change, false))
    expect(await change((name, bytes) => (name === 'postrider.db' ? zeroed(bytes) : bytes))).toBe(
      'the backup is damaged: the checksum of postrider.db does not match',
    )
    expect(await change((name, bytes) => (name === 'seal.key' ? zeroed(bytes) : bytes))).toBe(
      'the backup is damaged: the checksum of seal.key does not match',
    )
    expect(await change((name, bytes) => (name === 'postrider.db' ? Buffer.concat([bytes, bytes]) : bytes))).toMatch(
      /^the backup is damaged: expected postrider\.db of \d+ bytes/,
    )
    const manifest = (text: (manifest: string) => string) =>
      change((name, bytes) => (name === 'manifest.json' ? Buffer.from(text(bytes.toString())) : bytes))
    expect(await manifest((text) => text.replace('"format": 1', '"format": 2'))).toMatch(/has format 2/)
    expect(await manifest((text) => text.replace('"smtp-key.pem"', '"../smtp-key"'))).toBe(
      'the backup is damaged: unexpected file ../smtp-key',
    )
    expect(await manifest((text) => text.replace(/"hostname": "/, '$&\\u001b[2J'))).toMatch(/manifest is unreadable/)
    const hashed = async (change: (name: string, bytes: Buffer) => Buffer) =>
      refusal(await repacked(at('good'), change))
    expect(await hashed((name, bytes) => (name === 'postrider.db' ? holed(bytes) : bytes))).toMatch(
      /database .*(damaged|malformed)/,
    )
    expect(await hashed((name, bytes) => (name === 'postrider.db' ? newer(bytes) : bytes))).toMatch(
      /a newer Postrider wrote the data directory \(schema 999/,
    )
    expect(leftovers()).toEqual([])
  })
})

const tar = (...args: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['tar', ...args])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout
}
const plain = (file: string) => {
  writeFileSync(at('plain.tar'), zstdDecompressSync(readFileSync(file)))
  return at('plain.tar')
}
const namesIn = (file: string) => tar('-tf', plain(file)).toString().trim().split('\n')
const extracted = (file: string, name: string) => tar('-xOf', plain(file), name)

/** A copy of a backup with changed files. With `withManifest` its manifest lists the changed files. */
async function repacked(
  file: string,
  change: (name: string, bytes: Buffer) => Buffer,
  withManifest = true,
): Promise<string> {
  const changed = new Map([...(await membersOf(file))].map(([name, bytes]) => [name, change(name, bytes)]))
  return pack(withManifest ? relisted(changed) : changed, at('repacked.tar.zst'))
}

const zeroed = (bytes: Buffer) => Buffer.alloc(bytes.length)
/** Overwrites pages in the middle with garbage. */
const holed = (bytes: Buffer) => Buffer.from(bytes).fill(0x5a, 3 * 4096, 9 * 4096)

/** The database with the schema of a newer program version. */
function newer(bytes: Buffer): Buffer {
  writeFileSync(at('newer.db'), bytes)
  const db = connect(at('newer.db'), { busyTimeoutMs: 0 })
  db.exec("insert into migrations values (999, '0999_future', 'x', 1)")
  db.close()
  copyFileSync(at('newer.db'), at('newer.copy'))
  return readFileSync(at('newer.copy'))
}

/** Staging folders of interrupted runs. */
const leftovers = () =>
  [place.folder, place.dataDir, at('backups')]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.startsWith('.postrider-'))
