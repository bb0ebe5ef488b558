import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '../..')

/** A project in which the packed client is installed. */
export interface Installed {
  /** The project's folder. */
  folder: string
  remove(): void
}

/** Builds the package and unpacks it into a new project. Links the named packages of our own node_modules. */
export function installClient(...packages: string[]): Installed {
  const built = Bun.spawnSync([process.execPath, 'scripts/client.ts'], { cwd: ROOT, stderr: 'inherit' })
  if (built.exitCode !== 0) throw new Error(`the client cannot be built: ${built.stdout}`)
  const folder = mkdtempSync(join(tmpdir(), 'postrider-client-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'postrider'), { recursive: true })
  const from = join(ROOT, built.stdout.toString().trim())
  const unpacked = Bun.spawnSync(['tar', 'xzf', from, '-C', join(modules, 'postrider'), '--strip-components=1'])
  if (unpacked.exitCode !== 0) throw new Error(`${from} cannot be unpacked: ${unpacked.stderr}`)
  const dependencies = Object.fromEntries(['postrider', ...packages].map((name) => [name, '*']))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  for (const name of packages) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Installed runtimes with the command that runs a file. */
export const RUNTIMES: [name: string, command: string[]][] = [
  ['Bun', [process.execPath]],
  ...['node', 'deno'].flatMap((name): [string, string[]][] => {
    const path = Bun.which(name)
    return path === null ? [] : [[name, name === 'deno' ? [path, 'run', '--allow-all', '--quiet'] : [path]]]
  }),
]

export const filesOf = (folder: string) => readdirSync(folder, { recursive: true }).map(String)
