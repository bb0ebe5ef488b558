import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Found } from '../checkup/run.ts'
import { type Config, publicUrlAt } from '../config/load.ts'
import { hostOfZone } from '../domains/dns-host.ts'
import type { CheckResult } from '../health/check.ts'
import { heldPorts } from '../health/held-ports.ts'
import type { Organization } from '../model/organization.ts'
import { type Ask, terminalAsk } from './ask.ts'
import { zoneText } from './dns.ts'
import type { PublishedRecord } from './dns-table.ts'
import { lookAtMachine } from './doctor.ts'
import { findings } from './findings.ts'
import { hostRecords } from './host-records.ts'
import { openZoneFolder, takeBack, writeFiles, writeZone } from './init-files.ts'
import { chooseDomain, chooseHostname, type Draft, draftOf, type Wishes } from './init-plan.ts'
import { type Known, type Made, tell, tellPlan, tellUnchanged } from './init-tell.ts'
import { makeLoginLink } from './login-link.ts'
import { type Office, requireConfig, withStore } from './office.ts'
import { newOrganization } from './org.ts'
import { paintFor, print } from './print.ts'

interface Options extends Wishes {
  org?: string
  json?: true
  skipChecks?: true
  dryRun?: true
  /** False: nobody is asked anything. */
  input: boolean
}

/** A first domain ready to publish: looks at the machine, then writes a config where none is, and makes store,
 *  organization, domain and an admin key. What the look finds stops nothing: it is told, with what to do. A domain that is
 *  there already stays as it is, and nothing is made: run it as often as you like. When the store cannot be made, what was
 *  written a moment before goes again. */
export async function init(options: Options): Promise<void> {
  const ask = terminalAsk(options.input && !options.json)
  const domain = await chooseDomain(options, ask)
  // '' = no file, all of it is in the environment.
  const isNew = options.config !== '' && !existsSync(options.config)
  const hostname = isNew ? await chooseHostname(options, domain, ask) : ''
  const first: Draft = isNew ? draftOf(options, hostname) : { config: requireConfig(options.config), files: [] }
  // While the process is still root, who alone sees what others hold.
  const held = heldPorts('/proc')
  const known = isNew ? null : await knownDomain(domain, options.org, first.config)
  if (known !== null) return tellUnchanged(known, options)

  const look = async (draft: Draft, only?: string): Promise<Found> => {
    if (!options.json && only === undefined) print('Looking at this machine')
    const found = await lookAtMachine(draft.config, [domain], held)
    const shown = only === undefined ? found.checks : found.checks.filter(({ name }) => name === only)
    if (!options.json) print(`${findings(shown, paintFor(process.env, process.stdout.isTTY))}\n`)
    return found
  }
  let draft = first
  let found = options.skipChecks ? null : await look(draft)
  const smarthost = isNew && found !== null ? await askForSmarthost(found.checks, ask) : ''
  if (smarthost !== '') {
    draft = draftOf({ ...options, smarthost }, hostname)
    found = { ...(await look(draft, 'smarthost')), addresses: found?.addresses ?? [] }
  }
  const checks = found?.checks ?? null
  if (options.dryRun) return tellPlan(draft, checks, options)

  writeFiles(draft)
  const zoneFolder = openZoneFolder(options.config, draft.config.dataDir)
  try {
    await withStore(draft.config, async (office) => {
      const made = await establish(domain, options, office)
      // What is there already shows in the table, and is left out of the zone file.
      if (checks?.some(isDmarcThere)) made.domain = await lookedAt(made, office)
      const dnsHost = checks?.some(isDnsThere) ? await hostOfZone(domain, office.operator.resolver) : null
      const hosts = hostRecords(draft.config.hostname, domain, found?.addresses)
      const text = zoneText(domain, made.domain.dns_records as PublishedRecord[], hosts)
      const zone = writeZone(zoneFolder, domain, text)
      tell({ ...made, zone, hosts, dnsHost, checks }, options, draft)
    })
  } catch (thrown) {
    takeBack(draft, zoneFolder)
    throw thrown
  }
}

type Established = Pick<Made, 'organizationId' | 'domain' | 'apiKey' | 'dashboardUrl'>

/** The record of a domain that the organization has already, in a store that is; asked without making either. A claim of
 *  another organization is none of it. */
async function knownDomain(name: string, org: string | undefined, config: Config): Promise<Known | null> {
  if (!existsSync(join(config.dataDir, 'postrider.db'))) return null
  return withStore(config, async ({ store, operator }) => {
    const owner = await presentOrganization(name, org, store)
    const existing = owner === null ? null : await store.domains.findOf(owner.id, name)
    if (existing === null) return null
    const { id, organizationId } = existing
    return { organizationId, domain: await operator.run('domains_get', { organizationId, params: { domain_id: id } }) }
  })
}

async function establish(name: string, options: Options, office: Office): Promise<Established> {
  const { store, operator } = office
  const { id: organizationId } = await organizationFor(name, options.org, office)
  // The operator may mean the server's own name.
  const isOwnName = name === office.config.hostname
  const body = { name, ...(isOwnName && { server_name: true }) }
  const domain = await operator.run('domains_create', { organizationId, body })
  const key = await operator.run('api_keys_create', {
    organizationId,
    body: { name: 'admin', domain_id: domain.id, permissions: ['admin'], mode: 'live' },
  })
  const { url } = await makeLoginLink(store, publicUrlAt(office.config, office.config.http))
  return { organizationId, domain, apiKey: String(key.key), dashboardUrl: url }
}

const isDnsThere = ({ name, status }: CheckResult) => name === 'name_servers' && status !== 'fail'
const isDmarcThere = ({ name, status }: CheckResult) => name === 'dmarc' && status === 'pass'

function lookedAt({ organizationId, domain }: Known, { operator }: Office): Promise<Record<string, unknown>> {
  return operator.run('domains_verify', { organizationId, params: { domain_id: String(domain.id) } })
}

/** The one that is named; without a name the only one there is, or a new one called like the domain. */
async function organizationFor(
  domain: string,
  name: string | undefined,
  office: Office,
): Promise<Pick<Organization, 'id'>> {
  const present = await presentOrganization(domain, name, office.store)
  // contract §2: a new appliance's first organization is on `enterprise`.
  return present ?? newOrganization(name ?? domain, 'enterprise', office)
}

async function presentOrganization(domain: string, name: string | undefined, store: Office['store']) {
  const all = await store.organizations.list()
  return name === undefined && all.length === 1 ? all[0]! : store.organizations.find(name ?? domain)
}

/** Where port 25 is closed, the way round it; '' when there is nobody to ask, or no answer. */
async function askForSmarthost(checks: readonly CheckResult[], ask: Ask | null): Promise<string> {
  const isClosed = checks.some(({ name, status }) => name === 'outbound_port_25' && status === 'fail')
  if (!isClosed || ask === null) return ''
  return ask('A smarthost to send by, smtp://user:password@host:587 (Enter: none for now): ')
}
