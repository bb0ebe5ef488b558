import { join, resolve } from 'node:path'
import type { Domain } from '../client/types.ts'
import type { DnsHosting } from '../domains/dns-host.ts'
import type { CheckResult } from '../operating/health/check.ts'
import { type DnsHost, dnsTable } from './dns-table.ts'
import { reverseDnsText } from './host-records.ts'
import { type FirstDns, firstDnsJson } from './init-dns.ts'
import { type LaterOption, laterText } from './init-later.ts'
import { type Draft, SECRET_MODE } from './init-plan.ts'
import { hintOf, LINK_MINUTES } from './login-link.ts'
import { DEFAULT_CONFIG_FILE } from './options.ts'
import { colorsFor, print, printJson } from './print.ts'
import { COMMAND, serviceSteps } from './service-unit.ts'

/** A domain as the API returns it, and the id of its organization. */
export interface ExistingDomain {
  organizationId: string
  domain: Domain
}

/** What `init` has created, for the report. */
export interface InitResult extends ExistingDomain {
  apiKey: string
  dashboardUrl: string
  /** Path of the zone file, if one could be written. */
  zone: string | null
  /** Address records of the machine. */
  hosts: readonly DnsHost[]
  /** The DNS provider of the domain, if known. */
  dnsHost: DnsHosting | null
  /** Options that are not in the existing config. */
  later: readonly LaterOption[]
  /** Null with --skip-checks. */
  checks: readonly CheckResult[] | null
  /** With --dns and --json: what became of the records. */
  dns?: FirstDns
}

interface ReportOptions {
  config: string
  dns?: string
  json?: true
}

/** Prints that the domain already exists, with its DNS records. */
export function printUnchanged(
  { organizationId, domain }: ExistingDomain,
  { json, config, dns }: ReportOptions,
  later: readonly LaterOption[],
): void {
  const dnsRecords = domain.dns_records
  const ids = { organization_id: organizationId, domain_id: domain.id }
  if (json) printJson({ changed: false, ...ids, dns_records: dnsRecords, ...notApplied(later) })
  else
    print(
      `${domain.name} already exists. Nothing was changed.\n\n${laterBlock(later, config)}${dnsTable(dnsRecords)}${dns === undefined ? '' : `\n\nPublish them with: postrider dns apply ${domain.name} --provider ${dns}`}`,
    )
}

/** Prints which files `init` would write, and the text of the config or the options that an existing one lacks. */
export function printPlan(
  { files }: Draft,
  checks: readonly CheckResult[] | null,
  { json, config: file }: ReportOptions,
  later: readonly LaterOption[],
): void {
  const writes = files.map(({ path }) => path)
  if (json) {
    printJson({ changed: false, writes, ...(checks === null ? {} : { checks }), ...notApplied(later) })
    return
  }
  const config = files.at(-1)
  print(
    `Nothing was changed. Without --dry-run, init writes ${writes.join(' and ') || 'no file'} and creates the domain and an admin key.`,
  )
  if (config !== undefined) print(`\n${config.text.trimEnd()}`)
  if (later.length > 0) print(`\n${laterText(later, file)}`)
}

/** Prints the results of `init` and the next steps, or with `json` one record. */
export function printReport(made: InitResult, { json, config, dns }: ReportOptions, draft: Draft): void {
  if (json) printMachineReport(made)
  else print(nextSteps(made, { config, dns }, draft))
}

const notApplied = (later: readonly LaterOption[]) =>
  later.length === 0 ? {} : { not_applied: later.map(({ option }) => option) }

function laterBlock(later: readonly LaterOption[], config: string): string {
  const text = laterText(later, config)
  return text === '' ? '' : `${text}\n`
}

function printMachineReport({ organizationId, domain, apiKey, dashboardUrl, checks, later, dns }: InitResult): void {
  printJson({
    organization_id: organizationId,
    domain_id: domain.id,
    api_key: apiKey,
    dashboard: dashboardUrl,
    dns_records: domain.dns_records,
    ...(checks === null ? {} : { checks }),
    ...notApplied(later),
    ...(dns === undefined ? {} : { dns: firstDnsJson(dns) }),
  })
}

/** The results, and every step up to the first message. */
function nextSteps(
  made: InitResult,
  { config: given, dns }: Pick<ReportOptions, 'config' | 'dns'>,
  { config, files }: Draft,
): string {
  const file = given === '' ? "''" : resolve(given)
  const { organizationId, domain, apiKey, dashboardUrl, zone, hosts, dnsHost } = made
  const colors = colorsFor()
  const hint = hintOf(config)
  const isImplied = file === DEFAULT_CONFIG_FILE || given === process.env.POSTRIDER_CONFIG
  const named = isImplied ? '' : ` --config ${file}`
  const source = given === '' ? 'settings from the environment' : file
  const written = files.length === 0 ? [`used ${source}`] : files.map(({ path }) => `wrote ${resolve(path)}`)
  const secrets = files.filter(({ mode }) => mode === SECRET_MODE).map(({ path }) => resolve(path))
  return `${[...written, ...(zone === null ? [] : [`wrote ${zone}`])].map((line) => `${colors.good('✓')} ${line}`).join('\n')}
${colors.good('✓')} data in ${config.dataDir}
${colors.good('✓')} organization ${organizationId}, domain ${domain.name} (${domain.id}), two DKIM keys

${laterBlock(made.later, given)}${colors.bold('Admin API key, shown only once')}
  ${apiKey}

${colors.bold(dns === undefined ? `1. Publish these records at the DNS host of ${domain.name}` : `1. init publishes these records at ${dns}, below`)}${zone === null ? '' : ` (as zone file lines: ${zone})`}
${dnsTable(domain.dns_records, hosts)}${dnsHost === null ? '' : `\n${dnsHost.name}: ${dnsHost.advice}`}
${reverseDnsText(config)}${hosts.length > 0 ? '' : '. The A record of this name belongs in another zone'}.

${colors.bold(given === '' ? '2. Start the server with the same environment' : '2. Start the server with systemd, as root')}
${given === '' ? `   ${COMMAND} serve${named}   (the default command of the image)` : serviceSteps({ file, dataDir: config.dataDir, secrets })}

${colors.bold('3. After the records are published')}
   ${COMMAND} dns check ${domain.name} --wait${named}
   ${COMMAND} send --from hello@${domain.name} --to you@… --subject Hello --text Hello --follow${named}

${config.database.url === '' ? '' : `${colors.bold('More machines')}: copy ${join(config.dataDir, 'seal.key')} to each, then: ${COMMAND} join --help\n\n`}${colors.bold('Dashboard, after the server has started')}: ${dashboardUrl}
   The link works once and expires after ${LINK_MINUTES} minutes. Get another: ${COMMAND} login-link${named}${hint === '' ? '' : `\n  ${hint}`}`
}
