import { EVENT_FACTS, EVENT_TYPES, type EventType, MESSAGE_FIELDS } from '../../model/event-types.ts'
import { keysOf } from '../../os/records.ts'
import { STATUS_OF } from '../api/errors.ts'
import { ERRORS } from '../api/responses/error.ts'
import { secretTable } from '../api/secret-kinds.ts'
import { permissionTable, roleTable, toolTable } from './access-tables.ts'
import { allOperations } from './all-operations.ts'

/** The tables of the manual that are made from the rows of the program. A page has one where it says
 *  `<!-- table of NAME -->`. */
export type ManualTables = Readonly<Record<string, string>>

export async function manualTables(): Promise<ManualTables> {
  const operations = await allOperations()
  return {
    permissions: permissionTable(operations),
    roles: roleTable(operations),
    tools: toolTable(operations),
    secrets: secretTable(),
    errors: errorSections(),
    'default events': eventTable((type) => EVENT_FACTS[type].sent === 'default'),
    'other events': eventTable((type) => EVENT_FACTS[type].sent !== 'default'),
  }
}

/** A page → the same with its tables. Throws an Error if it names a table that does not exist. */
export function withTables(page: string, tables: ManualTables): string {
  return page.replaceAll(/^<!-- table of ([a-z ]+) -->$/gm, (_, name: string) => {
    const table = tables[name]
    if (table === undefined) throw new Error(`the manual has no table of ${name}`)
    return table
  })
}

function eventTable(isShown: (type: EventType) => boolean): string {
  const rows = EVENT_TYPES.filter(isShown).map((type) => {
    const { title, fields } = EVENT_FACTS[type]
    const isGeneral = (name: string) => type.startsWith('message.') && MESSAGE_FIELDS.includes(name)
    const names = Object.keys(fields).filter((name) => !isGeneral(name))
    return `| \`${type}\` | ${title} | ${names.map((name) => `\`${name}\``).join(', ')} |`
  })
  return ['| Type | When | Fields in `data` |', '|---|---|---|', ...rows].join('\n')
}

/** A section for each error code, so that `details.docs` of an error can link to it. */
function errorSections(): string {
  const sections = keysOf(STATUS_OF).map((code) => {
    const { cause, fix } = ERRORS[code]
    return `### \`${code}\`\n\nStatus ${STATUS_OF[code]}. ${cause}\n\n**Fix:** ${fix}`
  })
  return sections.join('\n\n')
}
