import { ROLES } from '../../model/user.ts'
import type { AccessRule, Reach, TestKeyRule } from '../api/access.ts'
import type { Operation } from '../api/operation.ts'

/** Tables of rights for the manual, as Markdown. An operation with two paths is listed once. */

/** Operations with the same rule share a row. */
export function permissionTable(operations: readonly Operation[]): string {
  const rows = Map.groupBy(operations, ({ access }) =>
    access.role === 'operator' ? 'operator | 403 | 403' : cellsOf(access),
  )
  const lines = [...rows].map(([cells, alike]) => `| ${idsOf(alike).join(' ')} | ${cells} |`)
  return ['| Operations | Permission | Test key | Key without `admin` |', '|---|---|---|---|', ...lines].join('\n')
}

function cellsOf({ permission, testKey, reach, grants }: AccessRule): string {
  const needed = grants ? `${permission}, and the right to grant the other key’s permissions` : permission
  return `${needed} | ${TEST_KEY_CELLS[testKey]} | ${permission === 'admin' ? '403' : REACH_CELLS[reach]}`
}

const TEST_KEY_CELLS: Record<TestKeyRule, string> = {
  test_records: 'test records only',
  no_records: 'same as a live key',
  refused: '403',
}

const REACH_CELLS: Record<Reach, string> = {
  own_domain: 'own domain',
  own_or_shared: 'own domain; can read organization-wide records',
  organization: 'whole organization',
}

/** Operations in a row of the table of roles, for narrow screens. */
const PER_ROW = 12

/** The least role of each operation. */
export function roleTable(operations: readonly Operation[]): string {
  const rows = [...[...ROLES].reverse(), 'operator' as const].flatMap((role) => {
    const ids = idsOf(operations.filter(({ access }) => access.role === role))
    const parts = Array.from({ length: Math.ceil(ids.length / PER_ROW) }, (_, at) =>
      ids.slice(at * PER_ROW, (at + 1) * PER_ROW),
    )
    return parts.map((part) => `| \`${role}\` | ${part.join(' ')} |`)
  })
  return ['| Least role | Operations |', '|---|---|', ...rows].join('\n')
}

/** The tools of /mcp with their operations and permissions. */
export function toolTable(operations: readonly Operation[]): string {
  const rows = operations.flatMap(({ id, access, tool }) =>
    tool === undefined ? [] : [`| \`${tool.name}\` | \`${id}\` | ${access.permission} |`],
  )
  return ['| Tool | Operation | Permission |', '|---|---|---|', ...new Set(rows)].join('\n')
}

const idsOf = (operations: readonly Operation[]) => [...new Set(operations.map(({ id }) => `\`${id}\``))]
