import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
/** Packages of which the executable contains data that no bundler reads: font, icons, and support of mail clients. */
const EMBEDDED_DATA = ['@fontsource-variable/inter', 'lucide-static', 'caniemail']

/** A package that is in the executable. */
export interface Component {
  name: string
  version: string
  /** SPDX identifier or expression, as its package.json has it. */
  licence: string
  /** SHA-512 of its archive, in hex. */
  sha512: string
}

/** Paths of modules → their packages, without repetition, with the checksums of bun.lock. Throws when one is not in it. */
export function componentsOf(modules: readonly string[]): Component[] {
  const lock = lockedPackages()
  const folders = new Set([...modules.flatMap(folderOf), ...EMBEDDED_DATA.map((name) => `node_modules/${name}`)])
  const all = [...folders].map((folder) => component(folder, lock))
  const byId = new Map(all.map((each) => [`${each.name}@${each.version}`, each]))
  return [...byId].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
}

/** `node_modules/a/node_modules/b/lib/x.js` → `node_modules/a/node_modules/b`. */
function folderOf(path: string): string[] {
  const found = /^((?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+)/.exec(path)?.[1]
  return found === undefined ? [] : [found.slice(0, -1)]
}

function component(folder: string, lock: Map<string, string>): Component {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  const { name, version } = manifest
  const integrity = lock.get(`${name}@${version}`)
  if (integrity === undefined) throw new Error(`${name} ${version} is not in bun.lock`)
  const sha512 = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
  return { name, version, licence: licenceOf(manifest, folder), sha512 }
}

function licenceOf(manifest: { license?: unknown; licenses?: { type: string }[] }, folder: string): string {
  const { license, licenses } = manifest
  if (typeof license === 'string') return license
  const named = (license as { type?: string } | undefined)?.type ?? licenses?.[0]?.type
  if (named !== undefined) return named
  const text = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
    .map((file) => join(ROOT, folder, file))
    .find((file) => existsSync(file))
  if (text !== undefined && /Permission is hereby granted, free of charge/.test(readFileSync(text, 'utf8')))
    return 'MIT'
  throw new Error(`${folder} names no licence`)
}

/** `name@version` → integrity, as in bun.lock, which is JSON with commas after the last entries. */
function lockedPackages(): Map<string, string> {
  const text = readFileSync(join(ROOT, 'bun.lock'), 'utf8').replace(/,(\s*[}\]])/g, '$1')
  const { packages } = JSON.parse(text) as { packages: Record<string, [id: string, ...rest: unknown[]]> }
  return new Map(Object.values(packages).map((entry) => [entry[0], String(entry.at(-1))]))
}

/** The version of SQLite in the driver, by its own answer. */
export function sqliteVersion(): string {
  const header = join(dirname(Bun.resolveSync('better-sqlite3/package.json', ROOT)), 'deps/download.sh')
  const found = /^VERSION="?(\d)(\d\d)(\d\d)\d\d"?/m.exec(readFileSync(header, 'utf8'))
  if (found === null) throw new Error('better-sqlite3 does not say which SQLite it contains')
  return found.slice(1).map(Number).join('.')
}
