import { existsSync } from 'node:fs'
import type { Domain } from '../client/types.ts'
import { type Config, publicUrlAt } from '../config/load.ts'
import { hostOfZone } from '../domains/dns-host.ts'
import type { Organization } from '../model/organization.ts'
import { FIRST_USER } from '../model/user.ts'
import type { Found } from '../operating/checkup/run.ts'
import type { CheckResult } from '../operating/health/check.ts'
import { heldPorts } from '../operating/health/held-ports.ts'
import type { DatabaseState } from '../storage/postgres/requirements.ts'
import { type CliContext, hasDatabase, requireConfig, withStore } from './cli-context.ts'
import { zoneText } from './dns.ts'
import { lookAtMachine } from './doctor.ts'
import { EXIT, type ExitCode } from './failure.ts'
import { findings } from './findings.ts'
import { hostRecords } from './host-records.ts'
import { printFirstDns, publishFirst, requireDnsProvider } from './init-dns.ts'
import { openZoneFolder, removeWritten, withStaying, writeFiles, writeZone } from './init-files.ts'
import { type LaterOption, laterOptions } from './init-later.ts'
import { chooseDomain, chooseHostname, chooseHttps, type Draft, draftOf, type InitOptions } from './init-plan.ts'
import { type ExistingDomain, type InitResult, printPlan, printReport, printUnchanged } from './init-report.ts'
import { makeLoginLink } from './login-link.ts'
import { colorsFor, print } from './print.ts'
import { type Prompt, terminalPrompt } from './prompt.ts'
import { inspectShared, requireOwnKey, requireSameDatabase } from './shared-database.ts'

interface Options extends InitOptions {
  org?: string
  json?: true
  skipChecks?: true
  dryRun?: true
  /** False: never prompt. */
  input: boolean
}

/** Prepares the first domain: checks the machine, writes a config if there is none, and creates the store, an
 *  organization, the domain and an admin key. If a check fails, it prints advice and continues. If the domain exists,
 *  it changes nothing, so running it again is safe. If the store cannot be created, it removes the files that it wrote.
 *  With `dns` it then publishes the records, and returns
 *  1 if required ones are missing. Throws CommandFailure for an invalid option or a file that cannot be written. */
export async function init(given: Options): Promise<ExitCode> {
  const ask = terminalPrompt(given.input && !given.json)
  const domain = await chooseDomain(given, ask)
  // '' means no file: all settings come from the environment.
  const isNew = given.config !== '' && !existsSync(given.config)
  const hostname = isNew ? await chooseHostname(given, domain, ask) : ''
  const https = isNew ? await chooseHttps(given, ask) : given.https
  const options: Options = { ...given, ...(https && { https }) }
  const first: Draft = isNew ? draftOf(options, hostname) : { config: requireConfig(options.config), files: [] }
  if (!isNew) requireSameDatabase(options.database, options.config, first.config)
  const shared = await inspectShared(first.config)
  requireOwnKey(shared, first.config)
  // As root, before the change to the owner of the data: only root can see which process listens on a port.
  const held = heldPorts('/proc')
  const later = isNew ? [] : laterOptions(options, first.config)
  const known = isNew ? null : await knownDomain(domain, options.org, { config: first.config, shared })
  if (known !== null) {
    printUnchanged(known, options, later)
    return EXIT.done
  }
  if (options.dns !== undefined) requireDnsProvider(options.dns, first.config)

  const runChecks = async (draft: Draft, only?: string): Promise<Found> => {
    if (!options.json && only === undefined) print('Checking this machine')
    const found = await lookAtMachine(draft.config, [domain], held)
    const shown = only === undefined ? found.checks : found.checks.filter(({ name }) => name === only)
    if (!options.json) print(`${findings(shown, colorsFor())}\n`)
    return found
  }
  let draft = first
  let found = options.skipChecks ? null : await runChecks(draft)
  const smarthost = isNew && found !== null ? await askForSmarthost(found.checks, ask) : ''
  if (smarthost !== '') {
    draft = draftOf({ ...options, smarthost }, hostname)
    found = { ...(await runChecks(draft, 'smarthost')), addresses: found?.addresses ?? [] }
  }
  const checks = found?.checks ?? null
  if (options.dryRun) {
    printPlan(draft, checks, options, later)
    return EXIT.done
  }
  const made = await create(domain, draft, { found, later, options })
  if (options.dns === undefined || !options.json) printReport(made, options, draft)
  if (options.dns === undefined) return EXIT.done
  const about = { name: domain, organizationId: made.organizationId }
  const dns = await publishFirst(about, draft.config, { ...options, dns: options.dns, isAsking: ask !== null })
  if (options.json) printReport({ ...made, dns }, options, draft)
  const ok = options.json ? dns.result?.ok === true : printFirstDns(dns, domain)
  return ok ? EXIT.done : EXIT.failed
}

/** Writes the files, and creates store, organization, domain and key. Removes the files if that fails. */
async function create(
  domain: string,
  draft: Draft,
  { found, later, options }: { found: Found | null; later: LaterOption[]; options: Options },
): Promise<InitResult> {
  const checks = found?.checks ?? null
  writeFiles(draft)
  const zoneFolder = openZoneFolder(options.config, draft.config.dataDir)
  try {
    return await withStore(draft.config, async (context) => {
      const made = await establish(domain, options, context)
      // The check finds the published DMARC record, which the zone file then contains only as a comment.
      if (checks?.some(isDmarcThere)) made.domain = await verifyNow(made, context)
      const dnsHost = checks?.some(isDnsThere) ? await hostOfZone(domain, context.operator.resolver) : null
      const hosts = hostRecords(draft.config, domain, found?.addresses)
      const text = zoneText(domain, made.domain.dns_records, hosts)
      const zone = writeZone(zoneFolder, domain, text)
      return { ...made, zone, hosts, dnsHost, checks, later }
    })
  } catch (thrown) {
    throw withStaying(thrown, removeWritten(draft, zoneFolder))
  }
}

type Established = Pick<InitResult, 'organizationId' | 'domain' | 'apiKey' | 'dashboardUrl'>

/** The domain's record if the organization already has the domain, otherwise null. Creates neither store nor
 *  organization, and ignores other organizations that have added the name. */
async function knownDomain(
  name: string,
  org: string | undefined,
  { config, shared }: { config: Config; shared: DatabaseState | null },
): Promise<ExistingDomain | null> {
  if (config.database.url === '' ? !hasDatabase(config) : !shared?.proof) return null
  return withStore(config, async ({ store, operator }) => {
    const owner = await presentOrganization(name, org, store)
    const existing = owner === null ? null : await store.domains.findOf(owner.id, name)
    if (existing === null) return null
    const { id, organizationId } = existing
    return { organizationId, domain: await operator.run('domains_get', { organizationId, params: { domain_id: id } }) }
  })
}

async function establish(name: string, options: Options, context: CliContext): Promise<Established> {
  const { store, operator } = context
  const { id: organizationId } = await organizationFor(name, options.org, context)
  // The operator may use the server's own hostname.
  const isOwnName = name === context.config.hostname
  const body = { name, ...(isOwnName && { server_name: true }) }
  const domain = await operator.run('domains_create', { organizationId, body })
  const key = await operator.run('api_keys_create', {
    organizationId,
    body: { name: 'admin', domain_id: domain.id, permissions: ['admin'], mode: 'live' },
  })
  const [oldest] = await store.users.operators()
  const publicUrl = publicUrlAt(context.config, context.config.http)
  const { url } = await makeLoginLink(store, publicUrl, oldest?.id ?? FIRST_USER)
  return { organizationId, domain, apiKey: key.key, dashboardUrl: url }
}

const isDnsThere = ({ name, status }: CheckResult) => name === 'name_servers' && status !== 'fail'
const isDmarcThere = ({ name, status }: CheckResult) => name === 'dmarc' && status === 'pass'

function verifyNow({ organizationId, domain }: ExistingDomain, { operator }: CliContext): Promise<Domain> {
  return operator.run('domains_verify', { organizationId, params: { domain_id: domain.id } })
}

/** The named organization. Without a name: the only one, or a new one named after the domain. */
async function organizationFor(
  domain: string,
  name: string | undefined,
  context: CliContext,
): Promise<Pick<Organization, 'id'>> {
  const present = await presentOrganization(domain, name, context.store)
  // The first organization belongs to the operator, so it gets the largest plan.
  return (
    present ??
    context.operator.run('organizations_create', {
      organizationId: '',
      body: { name: name ?? domain, plan: 'enterprise' },
    })
  )
}

async function presentOrganization(domain: string, name: string | undefined, store: CliContext['store']) {
  const all = await store.organizations.list()
  const [only, ...others] = all
  if (name === undefined && only !== undefined && others.length === 0) return only
  return store.organizations.find(name ?? domain)
}

/** Prompts for a smarthost if port 25 is blocked. '' if it is not, without a terminal, or without an answer. */
async function askForSmarthost(checks: readonly CheckResult[], ask: Prompt | null): Promise<string> {
  const isClosed = checks.some(({ name, status }) => name === 'outbound_port_25' && status === 'fail')
  if (!isClosed || ask === null) return ''
  return ask('Smarthost for outgoing mail, smtp://user:password@host:587 (press Enter to skip): ')
}
