import { isOneOf } from '../../os/records.ts'
import type { Lookup, Resolver } from './lookup.ts'

/** Record types that checks of inbound mail may request. */
const LOOKUP_TYPES = ['A', 'AAAA', 'TXT', 'MX', 'CNAME', 'NS', 'PTR'] as const
export type LookupType = (typeof LOOKUP_TYPES)[number]

/** True for one of these types; false for any other value. */
export const isLookupType = (type: unknown): type is LookupType => isOneOf(LOOKUP_TYPES, type)

/** Type and name → the result of the resolver's method for that type. Never rejects. */
export function lookUp(resolver: Resolver, type: LookupType, name: string): Promise<Lookup<unknown>> {
  switch (type) {
    case 'A':
      return resolver.a(name)
    case 'AAAA':
      return resolver.aaaa(name)
    case 'TXT':
      return resolver.txtStrings(name)
    case 'MX':
      return resolver.mx(name)
    case 'CNAME':
      return resolver.cname(name)
    case 'NS':
      return resolver.ns(name)
    case 'PTR':
      return resolver.ptr(name)
  }
}
