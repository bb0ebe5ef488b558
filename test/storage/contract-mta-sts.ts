import { expect } from 'bun:test'
import type { KeptMtaSts } from '../../src/model/mta-sts.ts'
import type { TlsCount } from '../../src/model/tls-session.ts'
import type { Holds } from './contract.ts'
import { START } from './records.ts'

const kept = (change: Partial<KeptMtaSts> = {}): KeptMtaSts => ({
  domain: 'remote.example',
  policyId: '1',
  policy: { mode: 'enforce', mx: ['mx.remote.example', '*.remote.example'], maxAgeSeconds: 86_400 },
  expiresAt: START + 86_400_000,
  refreshAt: START + 3_600_000,
  usedAt: START,
  ...change,
})

export function mtaStsPromises(holds: Holds): void {
  holds(
    'a policy is kept for its domain, over a restart, until another replaces it',
    async (store, _records, means) => {
      expect(await store.mtaSts.get('remote.example')).toBeNull()
      await store.mtaSts.keep(kept())
      const reopened = await means.reopen()
      expect(await reopened.mtaSts.get('remote.example')).toEqual(kept())
      await reopened.mtaSts.keep(kept({ policyId: '2', usedAt: START + 1 }))
      expect(await reopened.mtaSts.get('remote.example')).toEqual(kept({ policyId: '2', usedAt: START + 1 }))
      await reopened.mtaSts.remove('remote.example')
      expect(await reopened.mtaSts.get('remote.example')).toBeNull()
    },
  )

  holds(
    'TLS sessions are counted by day and domain, read day by day, and removed when they are reported',
    async (store) => {
      const day = START - (START % 86_400_000)
      const count = (change: Partial<TlsCount> = {}): TlsCount => ({
        domain: 'b.example',
        day,
        policy: 'mta_sts',
        host: null,
        address: null,
        source: null,
        failure: null,
        sessions: 1,
        ...change,
      })
      const failed = count({ host: 'mx.b.example', address: '192.0.2.1', failure: 'certificate-expired' })
      await store.tlsSessions.add([count(), failed, count({ domain: 'a.example' })])
      await store.tlsSessions.add([count({ sessions: 2 }), count({ domain: 'a.example', day: day + 86_400_000 })])
      expect(await store.tlsSessions.of('b.example', day)).toEqual([count({ sessions: 3 }), failed])

      const walk = async (before: number) => {
        const seen: string[] = []
        for (let at = { domain: '', day: 0 }; ; ) {
          const next = await store.tlsSessions.next(at, before)
          if (next === null) return seen
          seen.push(`${next.domain} ${(next.day - day) / 86_400_000}`)
          at = next
        }
      }
      expect(await walk(day + 1)).toEqual(['a.example 0', 'b.example 0'])
      expect(await walk(day + 2 * 86_400_000)).toEqual(['a.example 0', 'b.example 0', 'a.example 1'])
      await store.tlsSessions.remove('a.example', day)
      expect(await walk(day + 2 * 86_400_000)).toEqual(['b.example 0', 'a.example 1'])
    },
  )

  holds('policies whose refresh is due come in due order', async (store) => {
    for (const [domain, refreshAt] of [
      ['late.example', START + 3],
      ['first.example', START + 1],
      ['second.example', START + 2],
    ] as const) {
      await store.mtaSts.keep(kept({ domain, refreshAt }))
    }
    const due = async (now: number, limit: number) => (await store.mtaSts.due(now, limit)).map(({ domain }) => domain)
    expect(await due(START + 2, 9)).toEqual(['first.example', 'second.example'])
    expect(await due(START + 9, 1)).toEqual(['first.example'])
    expect(await due(START, 9)).toEqual([])
  })
}
