import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

/** What a release may differ from, and what it must have → the first reason why it cannot be made, or null. */
export interface Facts {
  /** As asked for, if at all. */
  wanted: string | undefined
  /** Of package.json. */
  version: string
  changelog: string
  /** Files that differ from the commit. */
  changed: string[]
  allowDirty: boolean
}

export function obstacle({ wanted, version, changelog, changed, allowDirty }: Facts): string | null {
  if (wanted !== undefined && wanted.replace(/^v/, '') !== version)
    return `--version is ${wanted}, but package.json has ${version}`
  if (!changelog.split('\n').some((line) => line === `## ${version}` || line.startsWith(`## ${version} `)))
    return `CHANGELOG.md has no entry for ${version}`
  if (changed.length > 0 && !allowDirty)
    return `${changed.length} files differ from the commit (${changed[0]}, …); commit them or use --allow-dirty`
  return null
}

export const changelog = () => readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')

/** Changed and new files of the working tree. */
export function changedFiles(): string[] {
  const lines = execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line !== '').map((line) => line.slice(3))
}

export const revision = () => execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
