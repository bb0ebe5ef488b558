import { organizationRecord } from '../api/routes/organizations.ts'
import type { Organization } from '../model/organization.ts'
import type { Store } from '../storage/store.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { print, printJson, table } from './print.ts'
import type { OrganizationRecord } from './results.ts'

interface Options {
  config: string
  json?: true
}

/** Creates an organization and prints it. Throws Refusal for an existing name or an unknown plan. */
export async function createOrganization(name: string, options: Options & { plan: string }): Promise<void> {
  await withCliContext(options.config, async (context) =>
    show([await newOrganization(name, options.plan, context)], options),
  )
}

/** Prints all organizations, or "no organizations yet". */
export async function listOrganizations(options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store }) => {
    const records = (await store.organizations.list()).map(organizationRecord)
    if (options.json) printJson({ data: records })
    else show(records, options)
  })
}

/** Changes the plan of an organization (id or name) and prints it. Throws CommandFailure for an unknown organization
 *  and Refusal for an unknown plan. */
export async function setPlan(idOrName: string, plan: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id } = await requireOrganization(idOrName, store)
    const request = { organizationId: id, params: { organization_id: id }, body: { plan } }
    show([await operator.run('organizations_update', request)], options)
  })
}

/** Creates an organization and returns it. Throws Refusal for an existing name or an unknown plan. */
export async function newOrganization(
  name: string,
  plan: string,
  { operator }: CliContext,
): Promise<OrganizationRecord> {
  return operator.run('organizations_create', { organizationId: '', body: { name, plan } })
}

/** Finds an organization by id or name; undefined selects the only one. Throws CommandFailure if there is none, or if
 *  several exist and `idOrName` is undefined. */
export async function requireOrganization(idOrName: string | undefined, store: Store): Promise<Organization> {
  if (idOrName !== undefined) {
    const organization = await store.organizations.find(idOrName)
    if (organization !== null) return organization
    throw new CommandFailure(`org: no organization ${idOrName}. List organizations with: postrider org list`)
  }
  const all = await store.organizations.list()
  const [only, ...others] = all
  if (only !== undefined && others.length === 0) return only
  if (only === undefined) throw new CommandFailure('org: no organization yet. Create one with: postrider org create')
  throw usageFault('org: there are several organizations. Choose one with --org')
}

function show(records: OrganizationRecord[], { json }: Options): void {
  const rows = records.map(({ id, name, plan, created_at }) => [id, name, plan, created_at])
  if (json) printJson(records[0])
  else print(table(['id', 'name', 'plan', 'created'], rows) || 'no organizations yet')
}
