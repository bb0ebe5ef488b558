import { type Command, Option } from 'commander'
import type { Domain } from '../../client/types.ts'
import { recordTable } from '../columns.ts'
import { dnsTable } from '../dns-table.ts'
import { EXIT } from '../failure.ts'
import { addList, addOperation } from '../operation-command.ts'
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
