import { label } from '../api/schema.ts'
import type { Config } from '../config.ts'
import { iso } from '../model/event.ts'
import type { Organization } from '../model/organization.ts'
import { systemClock } from '../platform/clock.ts'
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
  await inOffice(options.config, async (office) => {
    requirePlan(options.plan, office.config)
    if ((await office.store.organizations.find(name)) !== null) {
      throw new CommandFailure(`name: there is an organization ${name} already`)
    }
    const organization = await newOrganization(name, options.plan, office)
    show([organization], organizationRecord(organization), options)
  })
}

/** Prints all organizations. */
export async function listOrganizations(options: Options): Promise<void> {
  await inOffice(options.config, async ({ store }) => {
    const organizations = await store.organizations.list()
    show(organizations, { data: organizations.map(organizationRecord) }, options)
  })
}

/** Gives an organization another plan and prints it. */
export async function setPlan(idOrName: string, plan: string, options: Options): Promise<void> {
  await inOffice(options.config, async ({ config, store, operator }) => {
    requirePlan(plan, config)
    const organization = await requireOrganization(idOrName, store)
    const about = { organizationId: organization.id, body: { plan } }
    await operator.manage('organizations_set_plan', about, () => store.organizations.setPlan(organization.id, plan))
    const changed = { ...organization, plan }
    show([changed], organizationRecord(changed), options)
  })
}

/** Name and plan → an organization that is stored. */
export async function newOrganization(name: string, plan: string, office: Office): Promise<Organization> {
  const checked = label(100).safeParse(name)
  if (!checked.success) throw usageFault(`name: ${checked.error.issues[0]!.message}`)
  const organization = { id: office.operator.mintId('org'), name, plan, createdAt: systemClock.now() }
  const about = { organizationId: organization.id, body: { name, plan } }
  await office.operator.manage('organizations_create', about, () => office.store.organizations.create(organization))
  return organization
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

/** Its record on the wire (contract §2). */
function organizationRecord({ id, name, plan, createdAt }: Organization) {
  return { id, name, plan, created_at: iso(createdAt) }
}

function requirePlan(plan: string, config: Config): void {
  if (Object.hasOwn(config.plans, plan)) return
  throw usageFault(`plan: expected one of ${Object.keys(config.plans).join(', ')}, found ${plan}`)
}

function show(organizations: Organization[], record: unknown, { json }: Options): void {
  const rows = organizations.map(({ id, name, plan, createdAt }) => [id, name, plan, iso(createdAt)])
  if (json) printJson(record)
  else print(table(['id', 'name', 'plan', 'created'], rows) || 'no organizations yet')
}
