import { chownSync, existsSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Config, publicUrlAt } from '../config.ts'
import { type DnsHosting, hostOfZone } from '../domains/dns-host.ts'
import type { CheckResult } from '../health/check.ts'
import { heldPorts } from '../health/held-ports.ts'
import type { Organization } from '../model/organization.ts'
import { type Ask, terminalAsk } from './ask.ts'
import { zoneText } from './dns.ts'
import { dnsTable, type PublishedRecord } from './dns-table.ts'
import { lookAtMachine } from './doctor.ts'
import { CommandFailure, toFailure } from './failure.ts'
import { findings } from './findings.ts'
import { hostRecords } from './host-records.ts'
import { chooseDomain, chooseHostname, type Draft, draftOf, SECRET_MODE, type Wishes } from './init-plan.ts'
import { LINK_MINUTES, makeLoginLink } from './login-link.ts'
import { type Office, requireConfig, withStore } from './office.ts'
import { newOrganization } from './org.ts'
import { paintFor, print, printJson } from './print.ts'
import { serviceSteps } from './service-unit.ts'

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
  const known = isNew ? null : await knownDomain(domain, first.config)
  if (known !== null) return tellUnchanged(known, options)

  const look = async (draft: Draft, only?: string) => {
    if (!options.json && only === undefined) print('Looking at this machine')
    const found = await lookAtMachine(draft.config, [domain], held)
    const shown = only === undefined ? found : found.filter(({ name }) => name === only)
    if (!options.json) print(`${findings(shown, paintFor(process.env, process.stdout.isTTY))}\n`)
    return found
  }
  let draft = first
  let checks = options.skipChecks ? null : await look(draft)
  const smarthost = isNew && checks !== null ? await askForSmarthost(checks, ask) : ''
  if (smarthost !== '') {
    draft = draftOf({ ...options, smarthost }, hostname)
    checks = await look(draft, 'smarthost')
  }
  if (options.dryRun) return tellPlan(draft, checks, options)

  write(draft)
  const zoneFolder = openZoneFolder(options.config, draft.config.dataDir)
  try {
    await withStore(draft.config, async (office) => {
      const made = await establish(domain, options, office)
      // What is there already shows in the table, and is left out of the zone file.
      if (checks?.some(isDmarcThere)) made.domain = await lookedAt(made, office)
      const dnsHost = checks?.some(isDnsThere) ? await hostOfZone(domain, office.operator.resolver) : null
      const zone = zoneFolder === null ? null : writeZone(join(zoneFolder, `${domain}.zone`), made, office.config)
      tell({ ...made, zone, dnsHost, checks }, options, draft)
    })
  } catch (thrown) {
    for (const { path } of draft.files) rmSync(path, { force: true })
    if (zoneFolder !== null) removeIfEmpty(zoneFolder)
    throw thrown
  }
}

interface Established {
  organizationId: string
  domain: Record<string, unknown>
  apiKey: string
  dashboardUrl: string
}

type Made = Established & { zone: string | null; dnsHost: DnsHosting | null; checks: CheckResult[] | null }

/** The record of a domain that is there already, in a store that is; asked without making either. */
async function knownDomain(name: string, config: Config): Promise<Known | null> {
  if (!existsSync(join(config.dataDir, 'postrider.db'))) return null
  return withStore(config, async ({ store, operator }) => {
    const existing = await store.domains.findByName(name)
    if (existing === null) return null
    const { id, organizationId } = existing
    return { organizationId, domain: await operator.run('domains_get', { organizationId, params: { domain_id: id } }) }
  })
}

type Known = Pick<Established, 'organizationId' | 'domain'>

async function establish(name: string, options: Options, office: Office): Promise<Established> {
  const { store, operator } = office
  const { id: organizationId } = await organizationFor(name, options.org, office)
  const domain = await operator.run('domains_create', { organizationId, body: { name } })
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
  const { store } = office
  const all = await store.organizations.list()
  if (name === undefined && all.length === 1) return all[0]!
  const wanted = name ?? domain
  // contract §2: a new appliance's first organization is on `enterprise`.
  return (await store.organizations.find(wanted)) ?? newOrganization(wanted, 'enterprise', office)
}

/** Where port 25 is closed, the way round it; '' when there is nobody to ask, or no answer. */
async function askForSmarthost(checks: readonly CheckResult[], ask: Ask | null): Promise<string> {
  const isClosed = checks.some(({ name, status }) => name === 'outbound_port_25' && status === 'fail')
  if (!isClosed || ask === null) return ''
  return ask('A smarthost to send by, smtp://user:password@host:587 (Enter: none for now): ')
}

/** Writes what was drafted; never over a file that came meanwhile. */
function write({ files, config }: Draft): void {
  const written: string[] = []
  try {
    for (const { path, text, mode } of files) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { flag: 'wx', mode })
      written.push(path)
      if (mode === SECRET_MODE) giveToOwnerOf(config.dataDir, path)
    }
  } catch (thrown) {
    for (const path of written) rmSync(path, { force: true })
    throw new CommandFailure(`config: ${toFailure(thrown)?.message ?? String(thrown)}`)
  }
}

/** Where the data directory is somebody's already, as with a package, root gives the file or folder to that user. */
function giveToOwnerOf(dataDir: string, path: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner !== undefined && process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid)
}

/** A folder for zone files beside the config, which the owner of the data may write: the process will be that one soon.
 *  Null where none can be made; then there are none. */
function openZoneFolder(configFile: string, dataDir: string): string | null {
  if (configFile === '') return null
  const folder = join(dirname(resolve(configFile)), 'dns')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    giveToOwnerOf(dataDir, folder)
    return folder
  } catch {
    return null
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // zone files of other domains are in it
  }
}

/** Null when it cannot be written: `dns show --zone` prints the same. */
function writeZone(path: string, { domain }: Established, config: Config): string | null {
  const name = String(domain.name)
  try {
    writeFileSync(path, zoneText(name, domain.dns_records as PublishedRecord[], hostRecords(config.hostname, name)))
    return path
  } catch {
    return null
  }
}

function tellUnchanged({ organizationId, domain }: Known, options: Options): void {
  const dnsRecords = domain.dns_records as PublishedRecord[]
  const ids = { organization_id: organizationId, domain_id: domain.id }
  if (options.json) printJson({ changed: false, ...ids, dns_records: dnsRecords })
  else print(`${domain.name} is there already; nothing was changed.\n\n${dnsTable(dnsRecords)}`)
}

function tellPlan({ files }: Draft, checks: CheckResult[] | null, options: Options): void {
  const writes = files.map(({ path }) => path)
  if (options.json) {
    printJson({ changed: false, writes, ...(checks === null ? {} : { checks }) })
    return
  }
  const config = files.at(-1)
  print(
    `Nothing was changed. Without --dry-run it would write ${writes.join(' and ') || 'no file'}, and make domain and key.`,
  )
  if (config !== undefined) print(`\n${config.text.trimEnd()}`)
}

function tell(made: Made, options: Options, draft: Draft): void {
  if (options.json) tellMachine(made)
  else print(nextSteps(made, options.config === '' ? "''" : resolve(options.config), draft))
}

function tellMachine({ organizationId, domain, apiKey, dashboardUrl, checks }: Made): void {
  printJson({
    organization_id: organizationId,
    domain_id: domain.id,
    api_key: apiKey,
    dashboard: dashboardUrl,
    dns_records: domain.dns_records,
    ...(checks === null ? {} : { checks }),
  })
}

/** What was made, and everything between here and the first mail. */
function nextSteps(made: Made, file: string, { config, files }: Draft): string {
  const { organizationId, domain, apiKey, dashboardUrl, zone, dnsHost } = made
  const paint = paintFor(process.env, process.stdout.isTTY)
  const hosts = hostRecords(config.hostname, String(domain.name))
  const written = files.length === 0 ? [`used ${file}`] : files.map(({ path }) => `wrote ${resolve(path)}`)
  const secrets = files.filter(({ mode }) => mode === SECRET_MODE).map(({ path }) => resolve(path))
  return `${[...written, ...(zone === null ? [] : [`wrote ${zone}`])].map((line) => `${paint.good('✓')} ${line}`).join('\n')}
${paint.good('✓')} data in ${config.dataDir}
${paint.good('✓')} organization ${organizationId}, domain ${domain.name} (${domain.id}), two DKIM keys

${paint.bold('Admin API key, shown this once')}
  ${apiKey}

${paint.bold(`1. Publish at the DNS host of ${domain.name}`)}${zone === null ? '' : ` (the same as lines for a zone: ${zone})`}
${dnsTable(domain.dns_records as PublishedRecord[], hosts)}${dnsHost === null ? '' : `\n${dnsHost.name}: ${dnsHost.advice}`}
And at the provider of this machine: the reverse DNS (PTR) of its address, ${config.hostname}${hosts.length > 0 ? '' : ', whose A record stands in another zone'}.

${paint.bold('2. Run it under systemd, as root')}
${serviceSteps({ file, dataDir: config.dataDir, secrets })}

${paint.bold('3. When the records are published')}
   postrider dns check ${domain.name} --wait --config ${file}
   postrider send --config ${file} --from hello@${domain.name} --to you@… --subject Hello --text Hello --wait 30

${paint.bold('The dashboard, once the server runs')}: ${dashboardUrl}
   Opens once, within ${LINK_MINUTES} minutes; another link: postrider login-link --config ${file}`
}
