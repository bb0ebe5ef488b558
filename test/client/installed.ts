import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }

export const ROOT = join(import.meta.dir, '../..')

/** A project in which the packed client is installed. */
export interface Installed {
  /** The project's folder. */
  folder: string
  /** The packed client. */
  packed: string
  remove(): void
}

/** Unpacks the package into a new project, and links the named packages of our own node_modules. */
export function installClient(...packages: string[]): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-client-'))
  const packed = packedClient(folder)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'postrider'), { recursive: true })
  const unpacked = Bun.spawnSync(['tar', 'xzf', packed, '-C', join(modules, 'postrider'), '--strip-components=1'])
  if (unpacked.exitCode !== 0) throw new Error(`${packed} cannot be unpacked: ${unpacked.stderr}`)
  const dependencies = Object.fromEntries(['postrider', ...packages].map((name) => [name, '*']))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  for (const name of packages) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  return { folder, packed, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The package, built once for all files of a run (scripts/run-tests/tests.ts), which removes it at its end. */
const KEPT = join(tmpdir(), `postrider-${pkg.version}.tgz`)

/** Builds the package in a folder of its own, because another file may do the same at the same time → its path. */
function packedClient(folder: string): string {
  const isRun = process.env.TEST_RUN !== undefined
  if (isRun && existsSync(KEPT)) return KEPT
  const made = Bun.spawnSync([process.execPath, 'scripts/client.ts', join(folder, 'built')], {
    cwd: ROOT,
    stderr: 'inherit',
  })
  if (made.exitCode !== 0) throw new Error(`the client cannot be built: ${made.stdout}`)
  const packed = made.stdout.toString().trim()
  if (!isRun) return packed
  renameSync(packed, KEPT)
  return KEPT
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
