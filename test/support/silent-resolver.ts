import type { Resolver } from '../../src/net/dns/resolver.ts'

const temporary = async () => ({ kind: 'temporary' as const, reason: 'no DNS in this test' })

/** A resolver for tests without DNS: no query is ever answered. */
export const silentResolver: Resolver = {
  mx: temporary,
  a: temporary,
  aaaa: temporary,
  txt: temporary,
  txtStrings: temporary,
  cname: temporary,
  ns: temporary,
  ptr: temporary,
  tlsa: temporary,
  close: () => {},
}
