import type { Domain as DomainRecord } from '../client/types.ts'
import { toALabel } from '../mail/address.ts'
import type { Domain } from '../model/domain.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { dnsTable } from './dns-table.ts'
import { CommandFailure, EXIT, type ExitCode } from './failure.ts'
import { requireOrganization } from './org.ts'
import { print, printError, printJson, table } from './print.ts'
import type { OperationName, Results } from './results.ts'

interface Options {
  config: string
  json?: true
}

/** Maximum number of organizations in the error message for a name that several of them have added. */
const MOST_CLAIMS = 20

/** Adds a domain to an organization and prints it with the DNS records to publish. Throws CommandFailure for an unknown
 *  `org`, and Refusal for an invalid name or one that the organization already has. */
export async function addDomain(name: string, options: Options & { org?: string; serverName?: true }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const body = { name, ...(options.serverName && { server_name: true }) }
    show(await operator.run('domains_create', { organizationId, body }), options)
  })
}

/** Prints the domains of one organization, or of all, or "no domains yet". Throws CommandFailure for
 *  an unknown `org`. */
export async function listDomains(options: Options & { org?: string }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const organizations =
      options.org === undefined ? await store.organizations.list() : [await requireOrganization(options.org, store)]
    const lists = await Promise.all(organizations.map(({ id }) => operator.listAll('domains_list', id)))
    const domains = lists.flat()
    if (options.json) return printJson({ data: domains })
    const rows = domains.map(({ id, name, status, verified_at }) => [id, name, status, verified_at ?? '-'].map(String))
    print(table(['id', 'name', 'status', 'verified'], rows) || 'no domains yet')
  })
}

/** Prints a domain (name or id) with its DNS records and their last check. Throws CommandFailure for
 *  an unknown domain. */
export async function showDomain(name: string, options: Options): Promise<void> {
  show(await runForDomain('domains_get', name, options), options)
}

/** Checks DNS and prints the result, with a warning if DNS did not answer. Returns 0 if the domain is verified,
 *  otherwise 1. Throws CommandFailure for an unknown domain. */
export async function verify(name: string, options: Options): Promise<ExitCode> {
  const domain = await runForDomain('domains_verify', name, options)
  show(domain, options)
  const isSilent = domain.dns_records.some(({ status }) => status === 'pending')
  if (isSilent)
    printError('DNS did not answer for some records. Check that the name servers (dns.servers) are reachable.')
  return domain.status === 'verified' ? EXIT.done : EXIT.failed
}

/** Creates two new DKIM keys and prints the records to publish. Throws CommandFailure for an unknown domain. */
export async function rotateDkim(name: string, options: Options): Promise<void> {
  show(await runForDomain('domains_rotate_dkim', name, options), options)
}

/** Prints the sources in the DMARC reports about a domain, with advice on its policy, or "no reports". Throws
 *  CommandFailure for an unknown domain. */
export async function showSenders(name: string, options: Options): Promise<void> {
  const { data, totals, advice, unknown_reporters } = await runForDomain('domains_dmarc', name, options)
  if (options.json) return printJson({ data, totals, advice, unknown_reporters })
  const header = ['source', 'name', 'service', 'kind', 'messages', 'spf', 'dkim', 'rejected', 'reporters']
  const rows = data.map(({ source_ip, ptr, provider, kind, messages, spf_aligned, dkim_aligned, ...rest }) => [
    ...[source_ip, ptr ?? '-', provider ?? '-', kind],
    ...[messages, spf_aligned, dkim_aligned, rest.disposition.reject].map(String),
    rest.reporters.join(' '),
  ])
  const { passed, messages, reports } = totals
  const unknown = unknown_reporters.map((each) => `${each.reporter} (${each.messages} messages)`).join(', ')
  const ignored = unknown === '' ? '' : `\nnot counted, from unknown reporters: ${unknown}`
  if (rows.length === 0) return print(`no reports\n\n${advice.text}${ignored}`)
  const passing = `${passed} of ${messages} messages passed (reports: ${reports})`
  print(`${table(header, rows)}\n\n${passing}\n${advice.text}${ignored}`)
}

/** Finds a domain by name or id. Throws CommandFailure if there is none, or if several organizations have added the
 *  name and none has verified it. */
export async function requireDomain(nameOrId: string, store: Store): Promise<Domain> {
  const text = nameOrId.trim().replace(/\.$/, '')
  const claims = await store.domains.claimsOf(toALabel(text) ?? text.toLowerCase(), MOST_CLAIMS)
  const owned = claims.find(({ status }) => status === 'verified')
  if (owned === undefined && claims.length > 1) {
    const ids = claims.map(({ id, organizationId }) => `${id} of ${organizationId}`).join(', ')
    throw new CommandFailure(`domain: several organizations claim ${nameOrId}. Use one of these ids instead: ${ids}`)
  }
  const domain = owned ?? claims[0] ?? (await store.domains.get(nameOrId))
  if (domain !== null) return domain
  throw new CommandFailure(`domain: no domain ${nameOrId}. List domains with: postrider domain list`)
}

/** Options → the organization, and the domain or null without `domain`. A domain without `org` selects its organization.
 *  Throws CommandFailure for an unknown one, or if `org` is missing. */
export async function requirePlace(
  { org, domain: name }: { org?: string; domain?: string },
  store: Store,
): Promise<{ organizationId: string; domainId: string | null }> {
  if (name === undefined) return { organizationId: (await requireOrganization(org, store)).id, domainId: null }
  const owner = org === undefined ? null : (await requireOrganization(org, store)).id
  const own = owner === null ? null : await store.domains.findOf(owner, name)
  const { id: domainId, organizationId } = own ?? (await requireDomain(name, store))
  return { organizationId: owner ?? organizationId, domainId } // the operation refuses a domain of another organization
}

function runForDomain<Id extends OperationName>(operation: Id, name: string, options: Options): Promise<Results[Id]> {
  return withCliContext(options.config, async ({ store, operator }) => {
    const { id, organizationId } = await requireDomain(name, store)
    return operator.run(operation, { organizationId, params: { domain_id: id } })
  })
}

function show(domain: DomainRecord, { json }: Options): void {
  const { name, status, id, dns_records, detail } = domain
  const more = detail === null ? '' : `\n${detail}`
  if (json) printJson(domain)
  else print(`${name} is ${status}   ${id}${more}\n\n${dnsTable(dns_records)}`)
}
