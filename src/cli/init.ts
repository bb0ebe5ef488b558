import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, publicUrlAt, readConfig } from '../config.ts'
import { checkDomainName } from '../domains/name.ts'
import type { Organization } from '../model/organization.ts'
import { dnsTable, type PublishedRecord } from './dns-table.ts'
import { CommandFailure, configFailure, toFailure, usageFault } from './failure.ts'
import { initialConfig } from './init-texts.ts'
import { LINK_MINUTES, makeLoginLink } from './login-link.ts'
import { type Office, requireConfig, withStore } from './office.ts'
import { newOrganization } from './org.ts'
import { paintFor, print, printJson } from './print.ts'
import { serviceSteps } from './service-unit.ts'

interface Options {
  config: string
  domain: string
  org?: string
  hostname?: string
  dataDir?: string
  json?: true
}

/** A first domain ready to publish: writes a config where none is, makes store, organization, domain and an admin key.
 *  A domain that is there already stays as it is, and nothing is made: run it as often as you like. When the store
 *  cannot be made, a config written a moment before goes again. */
export async function init(options: Options): Promise<void> {
  const checked = checkDomainName(options.domain)
  if ('fault' in checked) throw usageFault(`domain: ${checked.fault}`)
  const { config, isNew } =
    options.config === '' || existsSync(options.config)
      ? { config: requireConfig(options.config), isNew: false }
      : { config: writeConfig(options, checked.name), isNew: true }
  try {
    await withStore(config, async (office) =>
      tell(await establish(checked.name, options, office), options, config, isNew),
    )
  } catch (thrown) {
    if (isNew) rmSync(options.config, { force: true })
    throw thrown
  }
}

interface Established {
  changed: boolean
  organizationId: string
  domain: Record<string, unknown>
  apiKey: string | null
  dashboardUrl: string | null
}

async function establish(name: string, options: Options, office: Office): Promise<Established> {
  const { store, operator } = office
  const existing = await store.domains.findByName(name)
  if (existing !== null) {
    const { id, organizationId } = existing
    const domain = await operator.run('domains_get', { organizationId, params: { domain_id: id } })
    return { changed: false, organizationId, domain, apiKey: null, dashboardUrl: null }
  }
  const { id: organizationId } = await organizationFor(name, options.org, office)
  const domain = await operator.run('domains_create', { organizationId, body: { name } })
  const key = await operator.run('api_keys_create', {
    organizationId,
    body: { name: 'admin', domain_id: domain.id, permissions: ['admin'], mode: 'live' },
  })
  const { url } = await makeLoginLink(store, publicUrlAt(office.config, office.config.http))
  return { changed: true, organizationId, domain, apiKey: String(key.key), dashboardUrl: url }
}

/** The one that is named; without a name the only one there is, or a new one called like the domain. */
async function organizationFor(domain: string, name: string | undefined, office: Office): Promise<Organization> {
  const { store } = office
  const all = await store.organizations.list()
  if (name === undefined && all.length === 1) return all[0]!
  const wanted = name ?? domain
  // contract §2: a new appliance's first organization is on `enterprise`.
  return (await store.organizations.find(wanted)) ?? newOrganization(wanted, 'enterprise', office)
}

/** Writes the config unless it would be faulty; never over one that came meanwhile. */
function writeConfig(options: Options, domain: string): Config {
  const hostname = options.hostname ?? `mail.${domain}`
  const text = initialConfig({ hostname, dataDir: options.dataDir && resolve(options.dataDir) })
  const read = readConfig({ text, file: options.config, env: process.env })
  if (!read.config) throw configFailure(read.faults)
  try {
    mkdirSync(dirname(options.config), { recursive: true })
    writeFileSync(options.config, text, { flag: 'wx', mode: 0o640 })
  } catch (thrown) {
    throw new CommandFailure(`config: ${toFailure(thrown)?.message ?? String(thrown)}`)
  }
  return read.config
}

function tell(made: Established, options: Options, config: Config, isNewConfig: boolean): void {
  const { changed, organizationId, domain, apiKey, dashboardUrl } = made
  const dnsRecords = domain.dns_records as PublishedRecord[]
  if (options.json) {
    const ids = { organization_id: organizationId, domain_id: domain.id }
    printJson(
      changed
        ? { ...ids, api_key: apiKey, dashboard: dashboardUrl, dns_records: dnsRecords }
        : { changed, ...ids, dns_records: dnsRecords },
    )
  } else if (changed) print(nextSteps(made, resolve(options.config), config, isNewConfig))
  else print(`${domain.name} is there already; nothing was changed.\n\n${dnsTable(dnsRecords)}`)
}

/** What was made, and everything between here and the first mail. */
function nextSteps(made: Established, file: string, config: Config, isNewConfig: boolean): string {
  const { organizationId, domain, apiKey, dashboardUrl } = made
  const paint = paintFor(process.env, process.stdout.isTTY)
  return `${paint.good('✓')} ${isNewConfig ? 'wrote' : 'used'} ${file}
${paint.good('✓')} data in ${config.dataDir}
${paint.good('✓')} organization ${organizationId}, domain ${domain.name} (${domain.id}), two DKIM keys

${paint.bold('Admin API key, shown this once')}
  ${apiKey}

${paint.bold(`1. Publish at the DNS host of ${domain.name}`)}
${dnsTable(domain.dns_records as PublishedRecord[])}
And for this machine: an A/AAAA record for ${config.hostname}, and the PTR record of its address back to it.

${paint.bold('2. Run it under systemd, as root')}
${serviceSteps({ file, dataDir: config.dataDir })}

${paint.bold('3. When the records are published')}
   postrider domain verify ${domain.name} --config ${file}
   postrider send --config ${file} --from hello@${domain.name} --to you@… --subject Hello --text Hello --wait 30

${paint.bold('The dashboard, once the server runs')}: ${dashboardUrl}
   Opens once, within ${LINK_MINUTES} minutes; another link: postrider login-link --config ${file}`
}
