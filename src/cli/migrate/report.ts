import type { CopiedTable } from '../../storage/moving/copy-tables.ts'
import type { DatabaseAddress } from '../../storage/postgres/address.ts'
import { print, printJson } from '../print.ts'

/** Prints what moved, and what to do next. */
export function printMoved(
  tables: readonly CopiedTable[],
  how: { address: DatabaseAddress; tookMs: number; config: string; finish?: true; json?: true },
): void {
  const { finish, json, tookMs, config, address } = how
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  if (json) {
    printJson({
      finished: finish === true,
      rows,
      took_ms: tookMs,
      tables: tables.map(({ name, hash, ...table }) => ({
        name,
        ...table,
        hash: finish ? hash.toString(16).padStart(12, '0') : null,
      })),
    })
    return
  }
  const written = tables.reduce((sum, table) => sum + table.written, 0)
  const seconds = (tookMs / 1000).toFixed(1)
  if (!finish) {
    print(`${written} rows copied in ${seconds} s. The server still uses its data directory.
Next: repeat this command shortly before the move, stop the server, and run it with --finish.`)
    return
  }
  print(`All ${tables.length} tables are the same on both sides: ${rows} rows compared, ${written} written, in ${seconds} s.
The data directory is marked as moved: its SQLite database is not used any more.
Set in ${config}, and start the server:

   [database]
   url = "${urlOf(address)}"`)
}

/** Without the password, which the operator knows. */
function urlOf({ hosts, user, database }: DatabaseAddress): string {
  const named = hosts.map(({ host, port }) => `${host.startsWith('/') ? encodeURIComponent(host) : host}:${port}`)
  return `postgres://${encodeURIComponent(user)}:PASSWORD@${named.join(',')}/${encodeURIComponent(database)}`
}
