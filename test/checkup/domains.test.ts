import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Domain } from '../../src/model/domain.ts'
import { domainsToLookAt } from '../../src/operating/checkup/domains.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { createRecords, ORGANIZATION, START } from '../storage/records.ts'

const DAY_MS = 86_400_000
/** Of one organization that are checked as its newest. */
const NEWEST = 50

let dataDir: string
let store: Store
const records = createRecords()
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-checkup-'))
  store = await openStore({ dataDir, now: START })
  await store.organizations.create(records.organization({ id: ORGANIZATION }))
})
afterEach(async () => {
  await store.close()
  rmSync(dataDir, { recursive: true })
})

/** Creates a domain, and as many newer ones as are checked in any case. */
async function createOld(change: Partial<Domain>): Promise<Domain> {
  const old = records.domain(change)
  for (const domain of [old, ...Array.from({ length: NEWEST }, () => records.domain())]) {
    await store.domains.create(domain, -1)
  }
  return old
}

const isLookedAt = async ({ id }: Domain, now: number) =>
  (await domainsToLookAt(store, now)).filter((domain) => domain.id === id).length

test('an old domain that lost its proof is looked at for 37 days', async () => {
  const failed = await createOld({ status: 'failed', missingSince: START })
  expect(await isLookedAt(failed, START)).toBe(1)
  expect(await isLookedAt(failed, START + 37 * DAY_MS - 1)).toBe(1)
  expect(await isLookedAt(failed, START + 37 * DAY_MS)).toBe(0)
})

test('an old verified domain that has lost its proof is looked at however long ago', async () => {
  const verified = await createOld({ status: 'verified', provedBy: 'dkim', missingSince: START })
  expect(await isLookedAt(verified, START + 1000 * DAY_MS)).toBe(1)
})

test('an old domain with its proof is not looked at, and a new one is once, also without it', async () => {
  const proved = await createOld({ status: 'verified', provedBy: 'dkim' })
  const fresh = records.domain({ status: 'failed', missingSince: START })
  await store.domains.create(fresh, -1)
  expect(await isLookedAt(proved, START)).toBe(0)
  expect(await isLookedAt(fresh, START)).toBe(1)
})
