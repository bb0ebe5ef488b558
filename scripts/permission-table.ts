/** Writes the table of permissions into the manual's page `keys`: `bun scripts/permission-table.ts`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderPermissionTable } from '../src/api/permission-table.ts'

const PAGE = join(import.meta.dir, '../src/manual/keys.md')
const BEGIN = '<!-- table of permissions, written by scripts/permission-table.ts -->'
const END = '<!-- end of the table -->'

/** The page → the same with the current table between its markers. Throws without the markers. */
export function withPermissionTable(text: string): string {
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error('keys.md lacks the markers of the table of permissions')
  return `${text.slice(0, from + BEGIN.length)}\n\n${renderPermissionTable()}\n\n${text.slice(to)}`
}

if (import.meta.main) writeFileSync(PAGE, withPermissionTable(readFileSync(PAGE, 'utf8')))
