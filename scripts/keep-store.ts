/** Before a release with a new schema: keeps a small store of it, as a backup, which all later versions are tested
 *  against (test/storage/upgrade.test.ts). `./scripts/bun scripts/keep-store.ts` writes test/fixtures/stores/<name
 *  of the newest step>.tar.zst. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS } from '../src/storage/sqlite/migrate.ts'

const ROOT = join(import.meta.dir, '..')
export const KEPT_STORES = join(ROOT, 'test/fixtures/stores')

/** Creates a store with every kind of record that the command line can create, and its backup in `file`. Throws when
 *  a command fails. */
export async function keepStore(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-keep-'))
  const config = join(folder, 'config.toml')
  writeFileSync(
    config,
    'hostname = "mail.kept.example"\ndata_dir = "data"\n[http]\nlisten = "off"\n[sending]\nrequire_verified_domain = false\n',
  )
  const run = (...args: string[]) => command(...args, '--config', config)
  const mail = ['--from', 'Shop <shop@kept.example>', '--subject', 'Kept 🎉', '--html', '<p>Hello</p>']
  try {
    await run('init', '--domain', 'kept.example', '--skip-checks')
    await run('org', 'create', 'Second', '--plan', 'free')
    await run('domain', 'add', 'second.example', '--org', 'Second')
    await run('key', 'create', '--domain', 'second.example', '--permission', 'send')
    await run('send', ...mail, '--to', 'bounce@customer.example', '--mode', 'test')
    await run('send', ...mail, '--to', 'ann@customer.example')
    await run('backup', file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function command(...args: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/main.ts'), ...args], { stdout: 'ignore', stderr: 'pipe' })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${args[0]}: ${said}`)
}

if (import.meta.main) {
  mkdirSync(KEPT_STORES, { recursive: true })
  await keepStore(join(KEPT_STORES, `${MIGRATIONS.at(-1)!.name}.tar.zst`))
}
