import type { ComponentChildren } from 'preact'
import { get, type Json, type Paged } from '../../kit/api.ts'
import { ago } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'
import { mode } from '../../kit/state.ts'
import { Chip } from '../../kit/status.tsx'

/** Destinations that defer mail, and domains whose DNS records are missing or wrong. */
export interface Troubles {
  destinations: Destination[]
  /** Whether more messages are deferred than those that were read. */
  hasMore: boolean
  domains: Json[]
}

interface Destination {
  /** Domain of the recipients. */
  name: string
  recipients: number
  /** The last reply of the destination; null without one. */
  reply: string | null
  /** ISO 8601 of the earliest next attempt. */
  nextAt: string | null
}

/** Messages that are read; each has up to fifty recipients. */
const MOST_MESSAGES = 100
/** Rows of each kind. */
const MOST_ROWS = 5

/** Loads what is wrong now: deferred messages by destination, and domains with problems. */
export const useTroubles = () =>
  useLoad(
    async (signal): Promise<Troubles> => {
      const [deferred, domains] = await Promise.all([
        get<Paged>('/v1/messages', { status: 'deferred', mode: mode.value, limit: MOST_MESSAGES }, signal),
        may('domains_list') ? get<Paged>('/v1/domains', { limit: 100 }, signal) : { data: [] },
      ])
      return {
        destinations: destinationsOf(deferred.data),
        hasMore: deferred.has_more,
        domains: domains.data.filter((domain) => missingOf(domain) > 0 || domain.proof_missing_since !== null),
      }
    },
    [],
    { everyMs: 20_000 },
  )

/** Messages → the destinations of their deferred recipients, those with most recipients first. */
function destinationsOf(messages: Json[]): Destination[] {
  const found = new Map<string, Destination>()
  for (const { email, status, smtp_response, next_attempt_at } of messages.flatMap(({ recipients }) => recipients)) {
    if (status !== 'deferred') continue
    const name = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
    const before = found.get(name)
    const nextAt = [before?.nextAt, next_attempt_at].filter(Boolean).toSorted()[0] ?? null
    const reply = before?.reply ?? smtp_response
    found.set(name, { name, recipients: (before?.recipients ?? 0) + 1, reply, nextAt })
  }
  return [...found.values()].toSorted((a, b) => b.recipients - a.recipients)
}

/** Number of required records of a domain that are missing or wrong. */
const missingOf = ({ dns_records }: Json): number =>
  dns_records.filter(({ required, status }: Json) => required && status !== 'valid').length

/** A row for each destination and domain with problems; nothing without any. */
export function Troubles({ of: troubles }: { of: Troubles | undefined }) {
  if (troubles === undefined) return null
  const { destinations, domains, hasMore } = troubles
  if (destinations.length === 0 && domains.length === 0) return null
  return (
    <div class="stack tight">
      <h3>Needs attention</h3>
      <ul class="findings">
        {domains.slice(0, MOST_ROWS).map((domain) => (
          <Row key={domain.id} word={domain.status} link={href(`/domains/${domain.id}`)} name={domain.name}>
            {missingOf(domain) === 0
              ? 'Proof of ownership is missing'
              : `${missingOf(domain)} required DNS ${missingOf(domain) === 1 ? 'record is' : 'records are'} missing or wrong`}
          </Row>
        ))}
        {destinations.slice(0, MOST_ROWS).map(({ name, recipients, reply, nextAt }) => (
          <Row key={name} word="deferred" link={href('/messages', { status: 'deferred', q: name })} name={name}>
            {recipients === 1 ? '1 recipient' : `${recipients} recipients`}
            {nextAt !== null && `, next attempt ${ago(nextAt)}`}
            {reply !== null && `: ${reply}`}
          </Row>
        ))}
      </ul>
      {(hasMore || Math.max(destinations.length, domains.length) > MOST_ROWS) && (
        <a href={href('/messages', { status: 'deferred' })}>All deferred messages</a>
      )}
    </div>
  )
}

function Row({ word, link, name, children }: RowProps) {
  return (
    <li>
      <Chip word={word} />
      <span class="break">
        <a href={link}>{name}</a> <span class="muted">{children}</span>
      </span>
    </li>
  )
}

interface RowProps {
  word: string
  link: string
  name: string
  children: ComponentChildren
}
