import type { Lookup, Resolver } from './lookup.ts'
import { isLookupType, lookUp } from './lookup-types.ts'

/** Resolver → the `resolver` function of mailauth: TXT as lists of strings, MX with `priority` and an empty exchange
 *  for the null MX, everything else as text. Missing records reject with `code` ENOTFOUND or ENODATA, failures with
 *  ESERVFAIL or ETIMEOUT, an unsupported type with ENOTIMP. */
export function mailauthResolver(resolver: Resolver): (name: string, type?: string) => Promise<unknown> {
  return async (name, type = 'A') => {
    const found = await lookup(resolver, name, type)
    switch (found.kind) {
      case 'records':
        return found.records
      case 'nxdomain':
        throw dnsError('ENOTFOUND', name, type)
      case 'no_data':
        throw dnsError('ENODATA', name, type)
      case 'temporary':
        throw dnsError(found.reason === 'timeout' ? 'ETIMEOUT' : 'ESERVFAIL', name, type)
    }
  }
}

async function lookup(resolver: Resolver, name: string, type: string): Promise<Lookup<unknown>> {
  if (type === 'MX') return nodeMx(await resolver.mx(name))
  if (!isLookupType(type)) throw dnsError('ENOTIMP', name, type)
  return await lookUp(resolver, type, name)
}

function nodeMx(found: Awaited<ReturnType<Resolver['mx']>>): Lookup<{ priority: number; exchange: string }> {
  if (found.kind !== 'records') return found
  const records = found.records.map(({ preference, exchange }) => ({
    priority: preference,
    exchange: exchange === '.' ? '' : exchange,
  }))
  return { ...found, records }
}

function dnsError(code: string, name: string, type: string): Error {
  return Object.assign(new Error(`DNS lookup of ${type} ${name} failed: ${code}`), { code })
}
