import { organizationRecord } from '../api/routes/organizations.ts'
import type { Organization } from '../model/organization.ts'
import type { Store } from '../storage/store.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { inOffice, type Office } from './office.ts'
import { print, printJson, table } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Creates an organization and prints it. Refuses a name that is taken, and a plan the config does not know. */
export async function createOrganization(name: string, options: Options & { plan: string }): Promise<void> {
  await inOffice(options.config, async (office) => show([await newOrganization(name, options.plan, office)], options))
}

/** Prints all organizations. */
export async function listOrganizations(options: Options): Promise<void> {
  await inOffice(options.config, async ({ store }) => {
    const records = (await store.organizations.list()).map(organizationRecord)
    if (options.json) printJson({ data: records })
    else show(records, options)
  })
}

/** Gives an organization another plan and prints it. */
export async function setPlan(idOrName: string, plan: string, options: Options): Promise<void> {
  await inOffice(options.config, async ({ store, operator }) => {
    const { id } = await requireOrganization(idOrName, store)
    const request = { organizationId: id, params: { organization_id: id }, body: { plan } }
    show([(await operator.run('organizations_update', request)) as never], options)
  })
}

/** Name and plan → an organization that is stored. */
export async function newOrganization(name: string, plan: string, { operator }: Office): Promise<OrganizationRecord> {
  return (await operator.run('organizations_create', { organizationId: '', body: { name, plan } })) as never
}

/** Id or name → the organization; undefined → the only one there is. Anything else is a failure that says what to do. */
export async function requireOrganization(idOrName: string | undefined, store: Store): Promise<Organization> {
  if (idOrName !== undefined) {
    const organization = await store.organizations.find(idOrName)
    if (organization !== null) return organization
    throw new CommandFailure(`org: there is no organization ${idOrName}; postrider org list shows all`)
  }
  const all = await store.organizations.list()
  if (all.length === 1) return all[0]!
  if (all.length === 0) throw new CommandFailure('org: there is no organization yet; postrider org create makes one')
  throw usageFault('org: there are several organizations; name one with --org')
}

type OrganizationRecord = ReturnType<typeof organizationRecord>

function show(records: OrganizationRecord[], { json }: Options): void {
  const rows = records.map(({ id, name, plan, created_at }) => [id, name, plan, created_at])
  if (json) printJson(records[0])
  else print(table(['id', 'name', 'plan', 'created'], rows) || 'no organizations yet')
}
