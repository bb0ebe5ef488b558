import { type Command, Option } from 'commander'
import type { Domain } from '../../client/types.ts'
import { recordTable } from '../columns.ts'
import { dnsTable } from '../dns-table.ts'
import { EXIT } from '../failure.ts'
import { addList, addOperation, type Given } from '../operation-command.ts'
import { ORG } from '../options.ts'
import * as places from '../places.ts'
import type { Results } from '../results.ts'

/** `postrider domain …`. */
export function addDomains(program: Command, end: (code: number) => void): void {
  const domain = program.command('domain').description('manage sending domains')
  addOperation(domain, 'add <name>', 'domains_create', {
    about: 'add a sending domain and create its two DKIM keys',
    place: places.organization,
    placed: [ORG],
    body: {
      server_name: new Option('--server-name', "allow the server's own hostname, to receive mail for its postmaster"),
    },
    given: ({ operands: [name] }) => ({ body: { name } }),
    text: domainText,
  })
  addList(domain, 'list', 'domains_list', {
    about: 'list sending domains',
    place: places.organizations,
    placed: [new Option('--org <org>', 'only domains of this organization')],
    columns: { id: 'id', name: 'name', status: 'status', verified: 'verified_at' },
    none: 'no domains yet',
  })
  addOperation(domain, 'show <name>', 'domains_get', {
    about: 'show a domain, its DNS records and their last check',
    place: places.domain,
    text: domainText,
  })
  addOperation(domain, 'update <name>', 'domains_update', {
    about: 'change tracking, and the host of tracked links',
    place: places.domain,
    others: TRACKING,
    given: ({ options }: Given<TrackingOptions>) => ({ body: { tracking: trackingOf(options) } }),
    text: domainText,
  })
  addOperation(domain, 'delete <name>', 'domains_delete', {
    about: 'delete a domain and revoke its API keys',
    place: places.domain,
    text: (_, { operands: [name] }) => `${name} is deleted`,
  })
  addOperation(domain, 'verify <name>', 'domains_verify', {
    about: 'check DNS now; exits with 0 only if the domain is verified',
    place: places.domain,
    text: domainText,
    remark: ({ dns_records }) =>
      dns_records.some(({ status }) => status === 'pending')
        ? 'DNS did not answer for some records. Check that the name servers (dns.servers) are reachable.'
        : null,
    exitCode: ({ status }) => (status === 'verified' ? EXIT.done : EXIT.failed),
    end,
  })
  addOperation(domain, 'dmarc <name>', 'domains_dmarc', {
    about: 'show who sends in the name of a domain, from the DMARC reports of the last 30 days',
    place: places.domain,
    text: sendersText,
  })
  addOperation(domain, 'rotate-dkim <name>', 'domains_rotate_dkim', {
    about: 'create new DKIM keys; they sign mail after their DNS records are published',
    place: places.domain,
    text: domainText,
  })
}

const SWITCHES = ['on', 'off']
const TRACKING: readonly Option[] = [
  new Option('--opens <switch>', 'track opens').choices(SWITCHES),
  new Option('--clicks <switch>', 'track clicks').choices(SWITCHES),
  new Option('--unsubscribe <switch>', 'add an unsubscribe link').choices(SWITCHES),
  new Option('--tracking-host <host>', "host of tracked links, under the domain; '' for the server's own"),
]

interface TrackingOptions {
  opens?: string
  clicks?: string
  unsubscribe?: string
  trackingHost?: string
}

/** Options → the fields of `tracking` that they set; undefined for none. */
function trackingOf({ opens, clicks, unsubscribe, trackingHost: host }: TrackingOptions) {
  const switches = Object.entries({ opens, clicks, unsubscribe }).filter(([, value]) => value !== undefined)
  const fields = {
    ...Object.fromEntries(switches.map(([name, value]) => [name, value === 'on'])),
    ...(host !== undefined && { host: host === '' ? null : host }),
  }
  return Object.keys(fields).length === 0 ? undefined : fields
}

function domainText({ name, status, id, dns_records, detail }: Domain): string {
  return `${name} is ${status}   ${id}${detail === null ? '' : `\n${detail}`}\n\n${dnsTable(dns_records)}`
}

function sendersText({ data, totals, advice, unknown_reporters }: Results['domains_dmarc']): string {
  const unknown = unknown_reporters.map((each) => `${each.reporter} (${each.messages} messages)`).join(', ')
  const ignored = unknown === '' ? '' : `\nnot counted, from unknown reporters: ${unknown}`
  if (data.length === 0) return `no reports\n\n${advice.text}${ignored}`
  const sources = recordTable(data, {
    source: 'source_ip',
    name: 'ptr',
    service: 'provider',
    kind: 'kind',
    messages: 'messages',
    spf: 'spf_aligned',
    dkim: 'dkim_aligned',
    rejected: ({ disposition }) => String(disposition.reject),
    reporters: ({ reporters }) => reporters.join(' '),
  })
  const { passed, messages, reports } = totals
  return `${sources}\n\n${passed} of ${messages} messages passed (reports: ${reports})\n${advice.text}${ignored}`
}
