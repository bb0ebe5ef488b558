import { resolve } from 'node:path'
import type { DnsHosting } from '../domains/dns-host.ts'
import type { CheckResult } from '../health/check.ts'
import { type DnsHost, dnsTable, type PublishedRecord } from './dns-table.ts'
import { type Draft, SECRET_MODE } from './init-plan.ts'
import { hintOf, LINK_MINUTES } from './login-link.ts'
import { DEFAULT_CONFIG_FILE } from './options.ts'
import { paintFor, print, printJson } from './print.ts'
import { COMMAND, serviceSteps } from './service-unit.ts'

/** A domain with its owner, as the API shows it. */
export interface Known {
  organizationId: string
  domain: Record<string, unknown>
}

export interface Made extends Known {
  apiKey: string
  dashboardUrl: string
  /** A file with lines for the zone, where one could be written. */
  zone: string | null
  /** Address records of the machine. */
  hosts: readonly DnsHost[]
  /** Who runs the domain's zone, if that is known. */
  dnsHost: DnsHosting | null
  /** Null where nobody looked. */
  checks: readonly CheckResult[] | null
}

interface Telling {
  config: string
  json?: true
}

/** A domain that is there already, which nothing was done about. */
export function tellUnchanged({ organizationId, domain }: Known, { json }: Telling): void {
  const dnsRecords = domain.dns_records as PublishedRecord[]
  const ids = { organization_id: organizationId, domain_id: domain.id }
  if (json) printJson({ changed: false, ...ids, dns_records: dnsRecords })
  else print(`${domain.name} is there already; nothing was changed.\n\n${dnsTable(dnsRecords)}`)
}

/** What `init` would do. */
export function tellPlan({ files }: Draft, checks: readonly CheckResult[] | null, { json }: Telling): void {
  const writes = files.map(({ path }) => path)
  if (json) {
    printJson({ changed: false, writes, ...(checks === null ? {} : { checks }) })
    return
  }
  const config = files.at(-1)
  print(
    `Nothing was changed. Without --dry-run it would write ${writes.join(' and ') || 'no file'}, and make domain and key.`,
  )
  if (config !== undefined) print(`\n${config.text.trimEnd()}`)
}

/** What `init` did. */
export function tell(made: Made, { json, config }: Telling, draft: Draft): void {
  if (json) tellMachine(made)
  else print(nextSteps(made, config === '' ? "''" : resolve(config), draft))
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
  const { organizationId, domain, apiKey, dashboardUrl, zone, hosts, dnsHost } = made
  const paint = paintFor(process.env, process.stdout.isTTY)
  const hint = hintOf(config)
  const named = file === DEFAULT_CONFIG_FILE ? '' : ` --config ${file}`
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
   ${COMMAND} dns check ${domain.name} --wait${named}
   ${COMMAND} send --from hello@${domain.name} --to you@… --subject Hello --text Hello --follow${named}

${paint.bold('The dashboard, once the server runs')}: ${dashboardUrl}
   Opens once, within ${LINK_MINUTES} minutes; another link: ${COMMAND} login-link${named}${hint === '' ? '' : `\n  ${hint}`}`
}
