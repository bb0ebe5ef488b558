import { describe, expect, test } from 'bun:test'
import type { Resolver } from '../../src/net/dns/resolver.ts'
import { checkDelegation } from '../../src/operating/health/delegation.ts'
import type { CheckDeps } from '../../src/operating/health/deps.ts'

const ZONE = 'pm.example.net'
const [NS1, NS2] = ['ns1.example.net', 'ns2.example.net']
const ADDRESSES: Record<string, string> = { [NS1]: '192.0.2.1', [NS2]: '192.0.2.2' }

const found = (records: string[]) =>
  records.length === 0
    ? { kind: 'nxdomain' as const }
    : { kind: 'records' as const, records, ttlSeconds: 1, authentic: false }
const resolver = {
  a: async (name: string) => found(ADDRESSES[name] === undefined ? [] : [ADDRESSES[name]]),
  aaaa: async () => found([]),
} as unknown as Resolver

const check = (atParent: string[] | null, primaryAt: CheckDeps['delegation']['primaryAt'] = async () => NS1) =>
  checkDelegation(
    { delegated: { zone: ZONE, nameServers: [NS1, NS2] } },
    { resolver, delegation: { namesAtParent: async () => atParent, primaryAt } },
  )

describe('the delegation', () => {
  test('passes if the parent names the configured servers in any order, and all answer', async () => {
    expect(await check([NS2, NS1])).toMatchObject({ status: 'pass', message: expect.stringContaining(NS2) })
  })

  test('is skipped without a zone and without an answer of the parent', async () => {
    const deps = { resolver, delegation: { namesAtParent: async () => [], primaryAt: async () => null } }
    expect(await checkDelegation({ delegated: null }, deps)).toMatchObject({ status: 'skip' })
    expect(await check(null)).toMatchObject({ status: 'skip' })
  })

  test('fails if the parent has none, and shows what to add', async () => {
    const { status, advice } = await check([])
    expect([status, advice]).toEqual(['fail', `Add to the parent zone:\n  ${ZONE}. NS ${NS1}.\n  ${ZONE}. NS ${NS2}.`])
  })

  test('fails if a name has no address', async () => {
    expect(await check([NS1, 'gone.example.net'])).toMatchObject({
      status: 'fail',
      message: 'name server gone.example.net has no address',
    })
  })

  test.each(['udp', 'tcp'] as const)('fails if an address does not answer over %s', async (silent) => {
    const verdict = await check([NS1, NS2], async (address, _, transport) =>
      address === '192.0.2.2' && transport === silent ? null : NS1,
    )
    expect([verdict.status, verdict.message]).toEqual([
      'fail',
      `192.0.2.2 does not answer for ${ZONE} over ${silent.toUpperCase()} port 53`,
    ])
  })

  test('fails if another server answers', async () => {
    const verdict = await check([NS1, NS2], async (address) => (address === '192.0.2.2' ? 'ns.other.example' : NS1))
    expect(verdict).toMatchObject({ status: 'fail', message: expect.stringContaining('ns.other.example') })
  })

  test('is a warning if the parent has other names than the config', async () => {
    expect(await check([NS1])).toMatchObject({ status: 'warn', advice: expect.stringContaining(NS2) })
  })
})
