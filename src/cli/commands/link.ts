import { type Command, Option } from 'commander'
import { blockedTarget } from '../../model/blocked-link.ts'
import { type Columns, recordTable } from '../columns.ts'
import { CommandFailure } from '../failure.ts'
import { addList, addOperation, type Given, type Place } from '../operation-command.ts'
import type { OperationContext } from '../operation-context.ts'
import { installation } from '../places.ts'
import type { BlockedLinkRecord } from '../results.ts'

/** `postrider link …`. */
export function addLinks(program: Command): void {
  const link = program.command('link').description('block targets of tracked links')
  addOperation(link, 'block <target>', 'blocked_links_create', {
    about: 'answer 410 to clicks on links to this host or URL, for all organizations',
    place: installation,
    body: { reason: new Option('--reason <text>', 'reason, stored with the block').default('abuse') },
    given: ({ operands: [target] }) => ({ body: { target } }),
    text: (record) => recordTable([record], COLUMNS),
  })
  addOperation(link, 'unblock <target>', 'blocked_links_delete', {
    about: 'redirect clicks again; takes a target or an id',
    place: blockedLink,
    text: (_, { operands: [target] }) => `${target} is no longer blocked`,
  })
  addList(link, 'list', 'blocked_links_list', {
    about: 'list blocked targets',
    place: installation,
    columns: COLUMNS,
    none: 'no blocked links',
  })
}

const COLUMNS: Columns<BlockedLinkRecord> = { id: 'id', target: 'target', reason: 'reason', created: 'created_at' }

/** The block with this id or target. */
async function blockedLink({ operands: [given] }: Given, { operator }: OperationContext): Promise<Place> {
  const value = blockedTarget(given!)?.value
  const all = await operator.listAll('blocked_links_list', { organizationId: '' })
  const found = all.find(({ id, target }) => id === given || target === value)
  if (found !== undefined) return { organizationId: '', params: { blocked_link_id: found.id } }
  throw new CommandFailure(`link: ${given} is not blocked. List blocked targets with: postrider link list`)
}
