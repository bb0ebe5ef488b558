import type { DnsRecord } from '../../model/domain.ts'
import type { Lookup, Resolver } from '../../net/dns/resolver.ts'
import type { ProviderRecord } from './lexicon.ts'

/** What is to happen to one record. */
export interface Step {
  record: ProviderRecord
  purpose: DnsRecord['purpose'] | 'host'
  action: 'create' | 'change' | 'keep' | 'conflict'
  /** Values of the same purpose that go, only with `change`. */
  removed: string[]
  /** Why, for the table; '' if the action says it. */
  note: string
}

/** A record to publish, and what the last check found. */
export type Wanted = DnsRecord & { status: string }

export interface PlanOptions {
  /** Also direct the domain's mail to this server. */
  mx: boolean
  resolver: Pick<Resolver, 'txt' | 'mx' | 'cname' | 'a' | 'aaaa'>
}

/** The step of one record, whose action is decided. */
export type Make = (action: Step['action'], removed?: string[], note?: string) => Step

export const NO_ANSWER = 'DNS did not answer'

export const stepOf =
  (record: ProviderRecord, purpose: Step['purpose']): Make =>
  (action, removed = [], note = '') => ({ record, purpose, action, removed, note })

export const recordOf = ({ type, name, priority }: Wanted, value: string): ProviderRecord => ({
  type,
  name,
  value,
  priority,
})
export const foundIn = (lookup: Lookup<string>) => (lookup.kind === 'records' ? lookup.records : [])
