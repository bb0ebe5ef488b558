import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DATABASE, MANIFEST_FILE } from '../../src/cli/backup/manifest.ts'
import { SIGNATURE_FILE, SIGNING_KEY_FILE } from '../../src/cli/backup/signature.ts'
import { type Members, membersOf, pack, relisted } from './backup-members.ts'
import { testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** Backups that somebody changes who can write to where they are stored, and who has every key that they contain. */

const [place, attacker] = [testFolder(), testFolder()]
const postrider = postriderInOneProcess()
const run = (...args: string[]) => postrider(...args, '--config', place.file)
const json = async (...args: string[]) => {
  const { stdout, stderr, code } = await run(...args, '--json')
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
  return JSON.parse(stdout)
}
const at = (name: string) => join(place.folder, name)

let key: string
let older: Members
let members: Members
/** The newest backup with one more operator in its database. */
let evil: Members

beforeAll(async () => {
  place.writeConfig()
  await json('init', '--domain', 'example.com')
  key = (await json('backup', at('older'))).signed_by
  await json('user', 'add', 'ann@example.com', '--role', 'viewer')
  await json('backup', at('good'))
  older = await membersOf(at('older'))
  members = await membersOf(at('good'))

  attacker.writeConfig()
  const theirs = (...args: string[]) => postrider(...args, '--config', attacker.file)
  const restored = await theirs('restore', at('good'), '--unauthenticated', '--to', attacker.dataDir)
  expect([restored.stderr, restored.code]).toEqual(['', 0])
  expect((await theirs('user', 'add', 'mallory@example.net', '--operator')).code).toBe(0)
  expect((await theirs('backup', at('theirs'))).code).toBe(0)
  const { [DATABASE]: database } = Object.fromEntries(await membersOf(at('theirs')))
  evil = new Map(members).set(DATABASE, database!)
})
afterAll(() => {
  place.remove()
  attacker.remove()
})
afterEach(() => {
  expect(readdirSync(place.folder).filter((name) => name.startsWith('.postrider-'))).toEqual([])
})

const packed = (files: Iterable<[string, Buffer]>) => pack(files, at('changed'))
const bytesOf = (folder: string) => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))])

/** The message with which a server and a new machine with the key refuse a backup, which `--verify` gives too. Checks that
 *  none of them changes anything. */
async function refusal(file: string): Promise<string> {
  const before = bytesOf(place.dataDir)
  const refused = [
    await run('restore', file, '--replace'),
    await run('restore', file, '--verify'),
    await postrider('restore', file, '--to', at('new'), '--signed-by', key),
  ]
  expect(bytesOf(place.dataDir)).toEqual(before)
  expect(existsSync(at('new'))).toBe(false)
  expect(refused.map(({ code, stdout }) => [code, stdout])).toEqual(Array(3).fill([1, '']))
  expect(refused.map(({ stderr }) => stderr)).toEqual(Array(3).fill(refused[0]!.stderr))
  return refused[0]!.stderr.trim()
}

// threat: changed-backups
test('a backup with another operator, its manifest corrected, is refused whatever takes the place of its signature', async () => {
  const changed = relisted(evil)
  const otherKey = expect.stringContaining(`the backup is not signed with ${key}.\nSomebody changed it, or`)
  expect(await refusal(packed(changed))).toEqual(otherKey)
  expect(await refusal(at('theirs'))).toEqual(otherKey)
  expect(await refusal(packed(changed.set(SIGNATURE_FILE, Buffer.alloc(64))))).toEqual(otherKey)
  changed.delete(SIGNATURE_FILE)
  expect(await refusal(packed(changed))).toBe('the backup is damaged: expected its signature, found config.toml')
})

test('a changed backup is restored with --unauthenticated alone, which the command and the audit log say', async () => {
  const changed = packed(relisted(evil))
  const both = await run('restore', changed, '--signed-by', key, '--unauthenticated')
  expect([both.code, both.stderr]).toEqual([2, 'Use only one of --signed-by and --unauthenticated.\n'])
  const config = at('forced.toml')
  writeFileSync(config, readFileSync(place.file, 'utf8').replace('"data"', `"${at('forced')}"`))
  const forced = await postrider('restore', changed, '--config', config, '--unauthenticated')
  expect([forced.code, forced.stdout]).toEqual([0, expect.stringContaining('Postrider has not checked who made it')])
  const listed = await postrider('user', 'list', '--config', config)
  expect(listed.stdout).toContain('mallory@example.net')
  const audit = await postrider('audit', '--config', config)
  expect(audit.stdout).toMatch(/restore .* unauthenticated /)
  rmSync(at('forced'), { recursive: true })
})

test('a file of another backup of the same server is refused, with the manifest of either', async () => {
  const mixed = new Map(members).set(DATABASE, older.get(DATABASE)!)
  expect(await refusal(packed(mixed))).toMatch(/^the backup is damaged: .*postrider\.db/)
  for (const name of [MANIFEST_FILE, SIGNATURE_FILE]) mixed.set(name, older.get(name)!)
  mixed.set('config.toml', Buffer.from(members.get('config.toml')!).fill('#', 0, 1))
  expect(await refusal(packed(mixed))).toBe('the backup is damaged: the checksum of config.toml does not match')
  expect(await refusal(packed(new Map(members).set(SIGNATURE_FILE, older.get(SIGNATURE_FILE)!)))).toContain(
    'the backup is not signed with',
  )
})

test('a backup with one more file, in another order or with a missing end is refused', async () => {
  const all = [...members]
  const more: [string, Buffer] = ['tls/extra.pem', Buffer.from('x')]
  for (let place = 0; place <= all.length; place++) {
    expect(await refusal(packed(all.toSpliced(place, 0, more)))).toMatch(/^(the backup is damaged: |not a Postrider)/)
  }
  const swapped = all.toSpliced(2, 2, all[3]!, all[2]!)
  expect(await refusal(packed(swapped))).toMatch(/^the backup is damaged: expected config\.toml/)
  const bytes = readFileSync(at('good'))
  for (const part of [0.1, 0.5, 0.9, 0.999]) {
    writeFileSync(at('changed'), bytes.subarray(0, Math.floor(bytes.length * part)))
    expect(await refusal(at('changed'))).toMatch(/^(the backup is damaged: |not a Postrider backup)/)
  }
})

test('a backup cannot bring the key that it was signed with', async () => {
  const theirs = readFileSync(join(attacker.dataDir, SIGNING_KEY_FILE))
  const all = relisted(new Map([...members].toSpliced(2, 0, [SIGNING_KEY_FILE, theirs])))
  const forced = await postrider('restore', packed(all), '--to', at('new'), '--unauthenticated')
  expect([forced.code, forced.stderr]).toEqual([1, `the backup is damaged: unexpected file ${SIGNING_KEY_FILE}\n`])
  for (const file of [at('good'), at('theirs')]) {
    expect((await membersOf(file)).keys().toArray()).not.toContain(SIGNING_KEY_FILE)
  }
})

test('without any key, a restore says where to find it, and --verify what it has not checked', async () => {
  const missing = ['--config', at('none.toml')]
  const refused = await postrider('restore', at('good'), '--to', at('new'), ...missing)
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^cannot check who made this backup.*\n.*--signed-by.*\n.*--unauthenticated\.\n$/),
  ])
  // Nor does the directory that the config of the backup names count.
  expect((await postrider('restore', at('good'), ...missing)).stderr).toBe(refused.stderr)
  expect(refused.stderr).not.toContain(key)
  const verify = (...args: string[]) => postrider('restore', at('good'), '--verify', '--json', ...missing, ...args)
  expect(JSON.parse((await verify()).stdout)).toMatchObject({ authenticated: false })
  expect(JSON.parse((await verify('--signed-by', key)).stdout)).toMatchObject({ authenticated: true })
  const part = await verify('--signed-by', key.slice(0, -1))
  expect([part.code, part.stderr]).toEqual([
    2,
    expect.stringContaining('expected the key that postrider backup prints'),
  ])
})

test('a new machine needs the backup and the key, which several servers may have in one file', async () => {
  const other = (await postrider('backup', at('x'), '--json', '--config', attacker.file)).stdout
  writeFileSync(at('keys'), `mx1 ${JSON.parse(other).signed_by}\nmx2 ${key}\n`)
  const restored = await postrider('restore', at('good'), '--to', at('new'), '--signed-by', at('keys'))
  expect([restored.code, restored.stderr]).toEqual([0, ''])
  expect(restored.stdout).toContain('Its signature is valid.')
  expect(restored.stdout).toContain('The next backup creates a new key')
  expect(existsSync(join(at('new'), SIGNING_KEY_FILE))).toBe(false)
  const config = at('new.toml')
  writeFileSync(config, readFileSync(place.file, 'utf8').replace('"data"', `"${at('new')}"`))
  const made = await postrider('backup', at('first'), '--config', config)
  expect(made.stdout).toMatch(/\nsigned by ed25519:[\w-]{43}\nThis key is new\. Keep that line apart from the backups/)
  expect(made.stdout).not.toContain(key)
  rmSync(at('new'), { recursive: true })
})

test('a server keeps its key over a restore, and goes back to an older backup under its true name only', async () => {
  const { file } = await json('backup', at('nightly/'))
  copyFileSync(at('older'), file)
  expect(await refusal(file)).toContain(`${basename(file)}: this backup is of `)
  const restored = await json('restore', at('older'), '--replace')
  expect(restored).toMatchObject({ authenticated: true, made_at: JSON.parse(`${older.get(MANIFEST_FILE)}`).made_at })
  const made = await run('backup', at('later'))
  expect(made.stdout).toEndWith(`\nsigned by ${key}\n`)
  expect((await run('restore', at('good'), '--replace')).stdout).not.toContain('new key')
})
