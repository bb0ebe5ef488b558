import { cutText } from '../mail/cut-text.ts'
import { readMtaStsId } from '../mail/mta-sts.ts'
import { isSpf } from '../mail/spf-record.ts'
import { readTlsRpt } from '../mail/tls-report.ts'
import type { AuditEntry } from '../model/audit-entry.ts'
import type { DkimKeyRecord, DnsRecord, Domain, Finding, RecordStatus } from '../model/domain.ts'
import type { Lookup, Resolver } from '../net/dns/resolver.ts'
import type { DkimChange, DomainChange, DomainCheck, Store } from '../storage/store.ts'
import { showsKey, tagsOf } from './dkim-record.ts'
import { registrableDomain } from './name.ts'
import { nextLookAt, type OwnershipState, ownershipAfter, type Sight } from './ownership.ts'
import type { Survey } from './publication.ts'
import { findingOf, type OwnServer, wantedRecords } from './records.ts'
import { areOurs, changesOfPending } from './rotation.ts'
import { type Sender, sameHost, sharesAddress, spfAllows } from './spf.ts'

/** Result of a DNS check for a domain. */
export interface Check extends OwnershipState {
  verifiedAt: number | null
  checkedAt: number
  findings: Finding[]
  nextCheckAt: number | null
  /** Keys that start and stop signing, or were first seen everywhere. */
  keys: DkimChange[]
}

/** Looks up every record of the domain, stores the result and returns the updated domain. Pending keys start signing in the
 *  transaction in which older ones stop. A concurrent check that ended first stands. `audit`: entry for a name gained or
 *  lost; `keysAudit`: for keys that start to sign. */
export async function verifyDomain(
  domain: Domain,
  deps: DnsCheckDeps & {
    domains: Pick<Store['domains'], 'get' | 'setDkimStates' | 'recordCheck'>
    now: number
    audit?: DomainCheck['audit']
    keysAudit?: AuditEntry
    onChange?: (domain: Domain, change: DomainChange) => void
  },
): Promise<Domain> {
  const { domains, audit, keysAudit } = deps
  const { keys, ...check } = await checkDomain(domain, deps)
  const isSwitch = keys.some(({ to }) => to === 'active')
  if (keys.length > 0) await domains.setDkimStates(domain.id, keys, isSwitch ? keysAudit : undefined)
  const given = { ...check, since: domain.lastCheckedAt, ...(audit && { audit }) }
  const change = await domains.recordCheck(domain.id, given)
  if (change === null) return (await domains.get(domain.id)) ?? domain
  const changed = (await domains.get(domain.id)) ?? domain
  if (change.before !== change.after) deps.onChange?.(changed, change)
  return changed
}

/** Domain → its DNS state. Ownership depends only on its DKIM and ownership records (ownership.ts). Pending keys become
 *  active once all are seen. `verifiedAt` is when the active keys were first all seen. Never throws. */
export async function checkDomain(
  domain: Domain,
  { server, resolver, survey, now }: DnsCheckDeps & { now: number },
): Promise<Check> {
  const looks = await lookAtAll(domain, server, resolver)
  const findings = looks.map(({ record, seen }) => ({
    type: record.type,
    name: record.name,
    purpose: record.purpose,
    ...(seen ?? findingOf(domain, record) ?? { status: 'pending' as const, found: [] }),
  }))
  const statusOf = (key: DkimKeyRecord): RecordStatus | null => {
    const look = looks.find(({ record }) => record.name === dkimName(key, domain))
    return look?.seen?.status ?? null
  }

  const pending = domain.dkim.filter((key) => key.state === 'pending')
  const isSeen = pending.every((key) => statusOf(key) === 'valid')
  const asked = areOurs(domain, pending, server.providerZones) ? survey : undefined
  const changes = await changesOfPending(domain, { pending, isSeen, survey: asked, now })
  const activate = pending.filter((key) =>
    changes.some(({ selector, to }) => selector === key.selector && to === 'active'),
  )
  const active = [...domain.dkim.filter((key) => key.state === 'active'), ...activate]
  const newest = Math.max(...active.map((key) => key.createdAt))
  const signing = active.filter((key) => key.createdAt === newest).map(statusOf)
  const txt = looks.find(({ record }) => record.purpose === 'ownership')?.seen?.status ?? null
  const look = { dkim: sightOf(signing), txt: sightOf([txt]), isMismatch: signing.includes('mismatch') }
  const ownership = ownershipAfter(domain, look, now)
  const isNew = ownership.status === 'verified' && (domain.status !== 'verified' || activate.length > 0)
  const isUncertain = look.dkim === 'unknown' || look.txt === 'unknown'
  const retired = active.filter((key) => key.createdAt < newest)
  const waiting = domain.dkim.filter((key) => !activate.includes(key))
  return {
    ...ownership,
    verifiedAt: isNew ? now : domain.verifiedAt,
    checkedAt: now,
    findings,
    nextCheckAt: nextLookAt({ ...domain, dkim: waiting }, { ...ownership, isUncertain }, now),
    keys: [
      ...changes,
      ...retired.map(({ selector }) => ({ selector, from: 'active' as const, to: 'retiring' as const, since: now })),
    ],
  }
}

/** One missing or different record decides, whatever DNS says of the others. */
function sightOf(statuses: (RecordStatus | null)[]): Sight {
  if (statuses.length === 0 || statuses.includes('missing') || statuses.includes('mismatch')) return 'gone'
  return statuses.includes(null) ? 'unknown' : 'seen'
}

/** What a check of a domain compares with DNS, and how it asks. */
export interface DnsCheckDeps {
  server: OwnServer
  resolver: Resolver
  /** Asks all servers before pending keys sign that this server publishes. For others the usual check decides. */
  survey?: Survey | undefined
}

/** Null if DNS gave no answer. */
type Seen = { status: RecordStatus; found: string[] } | null

async function lookAtAll(
  domain: Domain,
  server: OwnServer,
  resolver: Resolver,
): Promise<{ record: DnsRecord; seen: Seen }[]> {
  const { hostname, sendingAddresses } = server
  const [a, aaaa] = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)])
  const isUncertain = a.kind === 'temporary' || aaaa.kind === 'temporary'
  const sender = { hostname, addresses: isUncertain ? null : [...recordsOf(a), ...recordsOf(aaaa)] }
  const us = { sender, sendingAddresses, resolver }
  const wanted = wantedRecords(domain, server)
  return Promise.all(
    wanted.map(async ({ record, contents }) => {
      const alias = record.type === 'CNAME' ? record.value : null
      return { record, seen: together(await Promise.all(contents.map((each) => look(each, domain, { ...us, alias })))) }
    }),
  )
}

/** Several contents of one name → what DNS has of them. */
function together(looks: readonly Seen[]): Seen {
  const known = looks.filter((each) => each !== null)
  if (known.length < looks.length) return null
  const isAll = (status: RecordStatus) => known.every((each) => each.status === status)
  return {
    status: isAll('valid') ? 'valid' : isAll('missing') ? 'missing' : 'mismatch',
    found: known.flatMap(({ found }) => found),
  }
}

interface Looking {
  sender: Sender
  sendingAddresses: readonly string[]
  resolver: Resolver
  /** Target of a CNAME that may be in place of the record. */
  alias: string | null
}

function look(
  record: DnsRecord,
  domain: Domain,
  { sender, sendingAddresses, resolver, alias }: Looking,
): Promise<Seen> {
  switch (record.purpose) {
    case 'dkim':
    case 'dkim_standby':
      return lookAtDkim(record, resolver)
    case 'ownership':
      return lookAtOwnership(record, resolver)
    case 'spf':
      return lookAtSpf(record, { sender, sendingAddresses, resolver })
    case 'dmarc':
      return lookAtDmarc(record, domain, resolver)
    case 'return_path':
    case 'mx':
      return lookAtMx(record, resolver)
    case 'mta_sts':
      return lookAtMtaSts(record, resolver)
    case 'tls_rpt':
      return lookAtTlsRpt(record, resolver)
    case 'mta_sts_host':
    case 'tracking':
      return lookAtCname(record, alias, sender, resolver)
  }
}

async function lookAtDkim(record: DnsRecord, resolver: Resolver): Promise<Seen> {
  const lookup = await resolver.txt(record.name)
  if (lookup.kind === 'temporary') return null
  const found = recordsOf(lookup)
  return seen(found, showsKey(found, record.value))
}

/** Our value must be among the records; other claims and services may have theirs. */
async function lookAtOwnership(record: DnsRecord, resolver: Resolver): Promise<Seen> {
  const lookup = await resolver.txt(record.name)
  if (lookup.kind === 'temporary') return null
  const found = recordsOf(lookup)
  return seen(
    found,
    found.some((text) => text.trim() === record.value),
  )
}

/** Our record, or another one that passes us and each configured address. Two SPF records are an error (RFC 7208 §4.5). */
async function lookAtSpf(
  record: DnsRecord,
  { sender, sendingAddresses, resolver }: { sender: Sender; sendingAddresses: readonly string[]; resolver: Resolver },
): Promise<Seen> {
  const lookup = await resolver.txt(record.name)
  if (lookup.kind === 'temporary') return null
  const found = recordsOf(lookup).filter(isSpf)
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return seen(found, false)
  // Our name alone passes, unless addresses are configured: then each must.
  const senders =
    sendingAddresses.length === 0
      ? [sender]
      : sendingAddresses.map((address) => ({ hostname: sender.hostname, addresses: [address], isOnly: true }))
  const verdicts = await Promise.all(senders.map((each) => spfAllows(only, record.name, each, resolver)))
  if (verdicts.includes('no')) return seen(found, false)
  return verdicts.includes('unknown') ? null : seen(found, true)
}

/** Any policy is sufficient, including that of the parent domain (RFC 7489 §6.6.3). */
async function lookAtDmarc(record: DnsRecord, domain: Domain, resolver: Resolver): Promise<Seen> {
  const names = new Set([record.name, `_dmarc.${registrableDomain(domain.name)}`])
  for (const name of names) {
    const lookup = await resolver.txt(name)
    if (lookup.kind === 'temporary') return null
    const found = recordsOf(lookup).filter((text) => /^v=DMARC1\s*(?:;|$)/i.test(text))
    const [first, ...others] = found
    if (first !== undefined)
      return seen(found, others.length === 0 && POLICIES.has((tagsOf(first).get('p') ?? '').toLowerCase()))
  }
  return seen([], false)
}

/** Any usable report address is sufficient. */
async function lookAtTlsRpt(record: DnsRecord, resolver: Resolver): Promise<Seen> {
  const lookup = await resolver.txt(record.name)
  if (lookup.kind === 'temporary') return null
  const found = recordsOf(lookup).filter((text) => text.startsWith('v=TLSRPTv1'))
  return seen(found, readTlsRpt(found).length > 0)
}

/** Another id announces a policy other than the one published now. */
async function lookAtMtaSts(record: DnsRecord, resolver: Resolver): Promise<Seen> {
  const lookup = await resolver.txt(record.name)
  if (lookup.kind === 'temporary') return null
  const found = recordsOf(lookup)
  return seen(found, readMtaStsId(found) === readMtaStsId([record.value]))
}

async function lookAtMx(record: DnsRecord, resolver: Resolver): Promise<Seen> {
  const lookup = await resolver.mx(record.name)
  if (lookup.kind === 'temporary') return null
  const records = recordsOf(lookup)
  const found = records.map(({ preference, exchange }) => `${preference} ${exchange}`)
  return seen(
    found,
    records.some(({ exchange }) => sameHost(exchange, record.value)),
  )
}

/** A CNAME to us, or our addresses: some DNS servers flatten a CNAME. */
async function lookAtCname(record: DnsRecord, alias: string | null, sender: Sender, resolver: Resolver): Promise<Seen> {
  const cname = await resolver.cname(record.name)
  if (cname.kind === 'temporary') return null
  if (cname.kind === 'records') {
    return seen(
      cname.records,
      cname.records.some((host) => sameHost(host, record.value) || sameHost(host, alias ?? record.value)),
    )
  }
  const addresses = await resolver.a(record.name)
  const verdict = sharesAddress(addresses, sender)
  return verdict === 'unknown' ? null : seen(recordsOf(addresses), verdict === 'yes')
}

const POLICIES = new Set(['none', 'quarantine', 'reject'])
const MAX_FOUND = 10
const LONGEST_FOUND = 1000

function seen(found: string[], isRight: boolean): Seen {
  const status = isRight ? 'valid' : found.length === 0 ? 'missing' : 'mismatch'
  return { status, found: found.slice(0, MAX_FOUND).map((text) => cutText(text, LONGEST_FOUND)) }
}

function recordsOf<T>(lookup: Lookup<T>): T[] {
  return lookup.kind === 'records' ? lookup.records : []
}

function dkimName(key: DkimKeyRecord, domain: Domain): string {
  return `${key.selector}._domainkey.${domain.name}`
}
