import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LayerEntry } from './layer.ts'
import { debianMirrors } from './mirrors.ts'
import pinned from './packages.json' with { type: 'json' }

const ROOT = join(import.meta.dir, '../../..')
const CACHE = join(ROOT, '.bun/debian')
const HELPER = '/usr/lib/apt/apt-helper'

export type Processor = keyof typeof pinned.packages

/** A Debian package of which the image has files. */
export interface DebianPackage {
  name: string
  version: string
  sha256: string
}

export const debianPackages = (processor: Processor): (DebianPackage & { path: string })[] => pinned.packages[processor]

/** Files of the pinned Debian packages that the program needs, their licences, and Debian's description of each package,
 *  by which scanners find its version. Downloads packages that are not in .bun/debian; throws when it cannot. */
export function debianFiles(processor: Processor): LayerEntry[] {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-image-'))
  try {
    const found = debianPackages(processor).flatMap((each) => {
      const deb = downloaded(each)
      const tree = join(folder, each.name)
      execFileSync('dpkg-deb', ['--extract', deb, tree])
      const control = execFileSync('dpkg-deb', ['--field', deb])
      return [
        ...filesIn(tree).filter(({ path }) => isNeeded(path, each.name)),
        { path: `var/lib/dpkg/status.d/${each.name}`, type: 'file' as const, content: control },
      ]
    })
    return found.sort((one, other) => (one.path < other.path ? -1 : 1))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The path of the package's file. apt's own helper downloads it and checks its sum. */
function downloaded({ path, sha256 }: { path: string; sha256: string }): string {
  const file = join(CACHE, `${sha256}.deb`)
  if (existsSync(file)) return checked(file, sha256)
  mkdirSync(CACHE, { recursive: true })
  const errors: string[] = []
  for (const mirror of debianMirrors()) {
    const part = `${file}.part`
    try {
      execFileSync(HELPER, ['download-file', `${mirror}/${path}`, part, `SHA256:${sha256}`], { stdio: 'pipe' })
      renameSync(part, file)
      return checked(file, sha256)
    } catch (error) {
      errors.push(String(error))
    }
  }
  throw new Error(`cannot download ${path}:\n${errors.join('\n')}`)
}

function checked(file: string, sha256: string): string {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found !== sha256) throw new Error(`${file} has the SHA-256 sum ${found}; expected ${sha256}`)
  return file
}

/** Shared libraries and the loader, without conversions of character sets, test libraries and the TLS of OpenSSL; licences; the
 *  name of the Debian release. */
function isNeeded(path: string, name: string): boolean {
  if (path === `usr/share/doc/${name}/copyright`) return true
  if (name === 'base-files') return path === 'usr/lib/os-release' || path === 'etc/debian_version'
  if (/\/(gconv|audit|libpcprofile|libmemusage|libc_malloc|libssl)/.test(path)) return false
  return /^(usr\/)?lib(64)?\/([\w-]+\/)?[\w.+-]+\.so(\.[\d.]+)?$/.test(path)
}

function filesIn(tree: string): LayerEntry[] {
  const paths = readdirSync(tree, { recursive: true, encoding: 'utf8' })
  return paths.flatMap((path): LayerEntry[] => {
    const file = join(tree, path)
    const status = lstatSync(file)
    if (status.isSymbolicLink()) return [{ path, type: 'link', target: readlinkSync(file) }]
    if (status.isDirectory()) return []
    return [{ path, type: 'file', content: readFileSync(file), mode: status.mode & 0o111 ? 0o755 : 0o644 }]
  })
}
