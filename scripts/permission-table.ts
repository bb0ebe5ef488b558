/** Writes the table of permissions into the README: `bun scripts/permission-table.ts`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderPermissionTable } from '../src/api/permission-table.ts'

const README = join(import.meta.dir, '../README.md')
const BEGIN = '<!-- table of permissions, written by scripts/permission-table.ts -->'
const END = '<!-- end of the table -->'

/** README → the same with the table of today between its marks. Throws when the marks are gone. */
export function withPermissionTable(text: string): string {
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error('README.md lacks the marks of the table of permissions')
  return `${text.slice(0, from + BEGIN.length)}\n\n${renderPermissionTable()}\n\n${text.slice(to)}`
}

if (import.meta.main) writeFileSync(README, withPermissionTable(readFileSync(README, 'utf8')))
