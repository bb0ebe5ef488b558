import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { destinationOf } from '../../src/model/delivery.ts'
import { claimDue } from '../../test/support/claim.ts'
import { type Figure, median } from './figures.ts'
import type { Part } from './part.ts'
import { acceptAll, dueMessage, seeding } from './seed.ts'

/** The claim that finds fifty healthy destinations behind 200,000 due deliveries of one without capacity, in this
 *  process, its commit included. */
export const claim: Part = {
  name: 'claim',
  beside: async ({ scratch, note }) => {
    const dataDir = mkdtempSync(join(scratch, 'claim-'))
    await seeding(dataDir, NOW, async (store) => {
      const organizationId = 'org_1'
      await store.organizations.create({ id: organizationId, name: 'Bench', plan: 'enterprise', createdAt: NOW })
      const fifty = (destination: string) => Array.from({ length: 50 }, (_, at) => `r${at}@${destination}`)
      const queued = (number: number, addresses: string[]) =>
        dueMessage({ organizationId, domainId: 'dom_1' }, number, addresses, NOW)
      const dead = Array.from({ length: DEAD / 50 }, (_, at) => queued(at, fifty('dead.example')))
      await acceptAll(store, organizationId, dead)
      const timesMs: number[] = []
      for (let round = 0; round < 21; round++) {
        const healthy = Array.from({ length: 50 }, (_, at) => queued(DEAD + round * 50 + at, [`r@h${at}.example`]))
        await acceptAll(store, organizationId, healthy)
        const startedAt = performance.now()
        const claims = await claimDue(store.deliveries, {
          now: NOW,
          limit: 1,
          worker: 'bench',
          freeFor: (queue) => (destinationOf(queue) === 'dead.example' ? 0 : 20),
        })
        timesMs.push(performance.now() - startedAt)
        if (claims.length !== 1) throw new Error(`claimed ${claims.length}`)
      }
      note(null, CLAIM, median(timesMs))
    })
  },
}

const DEAD = 200_000
const NOW = Date.UTC(2026, 10, 21)
const CLAIM: Figure = { what: 'claim behind 200,000 due deliveries of a dead domain', unit: 'ms', goal: { atMost: 1 } }
