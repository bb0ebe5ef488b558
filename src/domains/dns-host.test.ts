import { expect, test } from 'bun:test'
import type { Lookup } from '../net/dns/resolver.ts'
import { hostOfZone } from './dns-host.ts'

const asked: string[] = []
const hostWith = async (lookup: Lookup<string>) => {
  const ns = async (name: string) => {
    asked.push(name)
    return lookup
  }
  return (await hostOfZone('news.acme.co.uk', { ns }))?.name ?? null
}
const servers = (...records: string[]): Lookup<string> => ({
  kind: 'records',
  records,
  ttlSeconds: 1,
  authentic: false,
})

test('finds the DNS provider of a zone by the name servers of the registrable domain', async () => {
  expect(await hostWith(servers('ada.ns.cloudflare.com', 'bob.ns.cloudflare.com.'))).toBe('Cloudflare')
  expect(await hostWith(servers('NS-1.awsdns-00.co.uk'))).toBe('Amazon Route 53')
  expect(await hostWith(servers('ns-cloud-b3.googledomains.com'))).toBe('Google Cloud DNS')
  expect(await hostWith(servers('ns1-04.azure-dns.com.', 'ns2-04.azure-dns.net.'))).toBe('Azure DNS')
  expect(await hostWith(servers('ns1.acme.co.uk'))).toBeNull()
  expect(await hostWith(servers('ns.cloudflare.com.attacker.example'))).toBeNull()
  expect(await hostWith({ kind: 'temporary', reason: 'timeout' })).toBeNull()
  expect(new Set(asked)).toEqual(new Set(['acme.co.uk']))
})
