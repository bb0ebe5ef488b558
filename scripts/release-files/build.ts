import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

export const PROCESSORS = ['x64', 'arm64'] as const
export type Target = (typeof PROCESSORS)[number]

export interface Built {
  /** Paths. */
  programs: Partial<Record<Target, string>>
  /** Paths of modules of packages, of all targets. */
  modules: string[]
}

interface Order {
  folder: string
  targets: readonly Target[]
  /** Whether the folder has the programs and modules.txt already. */
  isBuilt: boolean
  /** For scripts/build.ts. */
  options: readonly string[]
}

/** Builds the program of each processor, one after another, because the builds share the cache of Bun. Throws when one fails. */
export function buildPrograms({ folder, targets, isBuilt, options }: Order): Built {
  const modules = targets.flatMap((target) => {
    const file = join(folder, isBuilt ? 'modules.txt' : `modules-${target}.txt`)
    if (!isBuilt) build(target, file, options)
    return readFileSync(file, 'utf8').trim().split('\n')
  })
  const programs = Object.fromEntries(targets.map((target) => [target, join(folder, `postrider-linux-${target}`)]))
  return { programs, modules: [...new Set(modules)] }
}

function build(target: Target, modules: string, options: readonly string[]): void {
  mkdirSync(dirname(modules), { recursive: true }) // a new clone has no dist
  const recorder = join(import.meta.dir, 'record-modules.ts')
  const args = ['--preload', recorder, 'scripts/build.ts', '--target', target, ...options]
  execFileSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, MODULES: modules },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
