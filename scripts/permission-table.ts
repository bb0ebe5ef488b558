/** Writes the tables of permissions, roles and secrets into the manual's pages `keys`, `users` and `security`: `bun
 *  scripts/permission-table.ts`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderPermissionTable, renderRoleTable } from '../src/api/permission-table.ts'
import { renderSecretTable } from '../src/api/secret-kinds.ts'

const MANUAL = join(import.meta.dir, '../src/manual')
const END = '<!-- end of the table -->'

/** The page → the same with the current table of permissions between its markers. Throws without the markers. */
export function withPermissionTable(text: string): string {
  return withTable(text, 'permissions', renderPermissionTable())
}

/** The page → the same with the current table of roles between its markers. Throws without the markers. */
export function withRoleTable(text: string): string {
  return withTable(text, 'roles', renderRoleTable())
}

/** The page → the same with the current table of secrets between its markers. Throws without the markers. */
export function withSecretTable(text: string): string {
  return withTable(text, 'secrets', renderSecretTable())
}

function withTable(text: string, of: string, table: string): string {
  const begin = `<!-- table of ${of}, written by scripts/permission-table.ts -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error(`the page lacks the markers of the table of ${of}`)
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`
}

if (import.meta.main) {
  const write = (name: string, change: (text: string) => string) => {
    const page = join(MANUAL, name)
    writeFileSync(page, change(readFileSync(page, 'utf8')))
  }
  write('keys.md', withPermissionTable)
  write('users.md', withRoleTable)
  write('security.md', withSecretTable)
}
