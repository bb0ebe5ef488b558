import type { Lookup, Resolver } from './lookup.ts'

/** What checks of inbound mail ask the DNS for. */
export const LOOKUP_TYPES = ['A', 'AAAA', 'TXT', 'MX', 'CNAME', 'NS', 'PTR'] as const
export type LookupType = (typeof LOOKUP_TYPES)[number]

/** False for every value that is none of them. */
export const isLookupType = (type: unknown): type is LookupType => LOOKUP_TYPES.includes(type as LookupType)

/** A type and a name → what the method of the resolver for that type answers. Never rejects. */
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
