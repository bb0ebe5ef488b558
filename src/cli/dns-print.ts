import { shellWord } from '../config/shell-word.ts'
import { registrableDomain } from '../domains/name.ts'
import { contentOf, type ProviderRecord } from '../domains/provider/lexicon.ts'
import { type DnsProvider, providerNamed } from '../domains/provider/providers.ts'
import { zoneOf } from '../domains/provider/zone-of.ts'
import { mergedSpf } from '../mail/spf-record.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import { withCliContext } from './cli-context.ts'
import { recordsOf, zoneText } from './dns.ts'
import type { DnsHost, PublishedRecord } from './dns-table.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { hostRecords, UNKNOWN_ADDRESS } from './host-records.ts'
import { requireDomain } from './places.ts'
import { print, sanitize } from './print.ts'

interface PrintOptions {
  config: string
  print: string
  provider?: string
  mx?: true
}

/** Prints the records of a domain for another tool: a zone file, Terraform, octoDNS, or commands of lexicon. Only commands
 *  ask DNS, for the zone of the domain. Throws CommandFailure for an unknown domain, and for commands without the name of a
 *  provider or without a known zone. */
export async function printDns(name: string, options: PrintOptions): Promise<void> {
  await withCliContext(options.config, async (context) => {
    const domain = await requireDomain(name, context.store)
    const records = await recordsOf('domains_get', domain, context)
    const hosts = hostRecords(context.config, domain.name)
    if (options.print === 'zone') return print(zoneText(domain.name, records, hosts).trimEnd())
    const entries = entriesOf(records, hosts, options.mx === true)
    if (options.print === 'terraform') return print(terraform(entries))
    if (options.print === 'octodns') return print(octodns(entries, domain.name))
    const provider = providerNamed(options.provider ?? context.config.dns.provider)
    if (provider === null) throw usageFault('--print commands: name the provider with --provider')
    print(commands(entries, await zoneFor(domain.name, context.operator.resolver), provider))
  })
}

/** The zone that the commands change. A name below a registrable domain may be a zone of its own, so DNS must say it. */
async function zoneFor(domain: string, resolver: Resolver): Promise<string> {
  const found = await zoneOf(domain, resolver)
  if (found !== null) return found.zone
  if (domain === registrableDomain(domain)) return domain
  throw new CommandFailure(
    `DNS does not show which zone has ${domain}, and lexicon must be told. Try again when it does.`,
  )
}

/** Needed only where this server receives the domain's mail. */
const RECEIVING = new Set(['mx', 'mta_sts', 'mta_sts_host', 'tls_rpt'])

interface Entry extends ProviderRecord {
  /** The name has a DMARC or SPF record, and this one goes in its place: two of them are an error. */
  isInstead: boolean
}

/** Records to publish, with the policy and the mechanisms of present ones, so that a tool that owns the names keeps them. */
function entriesOf(records: readonly PublishedRecord[], hosts: readonly DnsHost[], isReceiving: boolean): Entry[] {
  const own = records.filter(({ purpose }) => isReceiving || !RECEIVING.has(purpose))
  const known = hosts.filter(({ value }) => value !== UNKNOWN_ADDRESS)
  return [
    ...own.map((record) => {
      const { type, name, priority, purpose, found } = record
      const isSingle = type === 'TXT' && (purpose === 'dmarc' || purpose === 'spf')
      return { type, name, value: valueToPublish(record), priority, isInstead: isSingle && found.length > 0 }
    }),
    ...known.map(({ type, name, value }) => ({ type, name, value, priority: null, isInstead: false })),
  ]
}

function valueToPublish({ purpose, type, value, status, found }: PublishedRecord): string {
  const [present] = found
  if (purpose !== 'spf' || type !== 'TXT' || present === undefined) return value
  return status === 'valid' ? present : mergedSpf(found, ...value.split(' ').slice(1, -1))
}

/** A list for `for_each` of any provider's resource. */
function terraform(entries: readonly ProviderRecord[]): string {
  const text = (value: string) => JSON.stringify(value).replaceAll(/[$%](?=\{)/g, '$&$&')
  const lines = entries.map(
    ({ type, name, value, priority }) =>
      `    { type = ${text(type)}, name = ${text(name)}, value = ${text(value)}, priority = ${priority}, ttl = 3600 },\n`,
  )
  return `locals {\n  postrider_records = [\n${lines.join('')}  ]\n}`
}

/** A zone of octoDNS in YAML, whose strings can be those of JSON. It wants semicolons in TXT escaped. */
function octodns(entries: readonly ProviderRecord[], domain: string): string {
  const byName = Map.groupBy(entries, ({ name }) => (name === domain ? '' : name.slice(0, -domain.length - 1)))
  const shown = ({ type, value, priority }: ProviderRecord) => {
    if (type === 'TXT') return JSON.stringify(value.replaceAll(';', '\\;'))
    if (type === 'MX') return `{ preference: ${priority}, exchange: ${JSON.stringify(`${value}.`)} }`
    return JSON.stringify(type === 'CNAME' ? `${value}.` : value)
  }
  const sets = [...byName].map(([name, own]) => {
    const types = [...Map.groupBy(own, ({ type }) => type)].map(([type, same]) => {
      const values =
        type === 'CNAME'
          ? `    value: ${shown(same[0]!)}\n`
          : `    values:\n${same.map((each) => `      - ${shown(each)}\n`).join('')}`
      return `  - type: ${type}\n    ttl: 3600\n${values}`
    })
    return `${JSON.stringify(name)}:\n${types.join('')}`
  })
  return `---\n${sets.join('')}`.trimEnd()
}

/** Credentials come from the environment of the shell that runs them. A record that is to be changed is a comment, because
 *  another one beside it would be an error. */
function commands(entries: readonly Entry[], zone: string, provider: DnsProvider): string {
  return entries
    .map(({ isInstead, ...record }) => {
      if (isInstead) return `# ${record.type} ${record.name} exists. It should be: ${sanitize(record.value)}`
      const options = [`--name=${record.name}`, ...contentOf(record, provider), '--ttl=3600']
      const command = ['lexicon', '--delegated', zone, provider.name, 'create', zone, record.type, ...options]
      return command.map(shellWord).join(' ')
    })
    .join('\n')
}
