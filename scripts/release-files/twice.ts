import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Names of the files that only one of two folders has, or that differ, sorted. Signatures differ by nature and are left out. */
export function differences(one: string, other: string): string[] {
  const namesIn = (folder: string) => readdirSync(folder).filter((name) => !name.endsWith('.minisig'))
  const names = [...new Set([...namesIn(one), ...namesIn(other)])].sort()
  const contentOf = (folder: string, name: string) =>
    namesIn(folder).includes(name) ? readFileSync(join(folder, name)) : null
  return names.filter((name) => {
    const [first, second] = [contentOf(one, name), contentOf(other, name)]
    return first === null || second === null || !first.equals(second)
  })
}
