import { type Command, Option } from 'commander'
import { type Columns, recordTable } from '../columns.ts'
import { addList, addOperation } from '../operation-command.ts'
import { installation, organizationNamed } from '../places.ts'
import type { OrganizationRecord } from '../results.ts'

/** `postrider org …`. */
export function addOrganizations(program: Command): void {
  const org = program.command('org').description('manage organizations, which own domains, keys and messages')
  addOperation(org, 'create <name>', 'organizations_create', {
    about: 'create an organization',
    place: installation,
    body: { plan: new Option('--plan <plan>', 'name of a plan in the config').default('free') },
    given: ({ operands: [name] }) => ({ body: { name } }),
    text: (record) => recordTable([record], COLUMNS),
  })
  addList(org, 'list', 'organizations_list', {
    about: 'list organizations',
    place: installation,
    columns: COLUMNS,
    none: 'no organizations yet',
  })
  addOperation(org, 'set-plan <org> <plan>', 'organizations_update', {
    about: 'change the plan of an organization (id or name)',
    place: organizationNamed,
    given: ({ operands: [, plan] }) => ({ body: { plan } }),
    text: (record) => recordTable([record], COLUMNS),
  })
}

const COLUMNS: Columns<OrganizationRecord> = { id: 'id', name: 'name', plan: 'plan', created: 'created_at' }
