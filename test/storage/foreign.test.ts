import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import { accept, claim, createRecords, found, ORGANIZATION, type Records, START, WORKER } from './records.ts'

let dataDir: string
let store: Store
let records: Records
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-foreign-'))
  store = await openStore({ dataDir, now: START })
  records = createRecords()
  await found(store, records)
})
afterEach(async () => {
  await store.close()
  rmSync(dataDir, { recursive: true })
})

test('a message that another process accepted is claimed here', async () => {
  expect(await store.deliveries.nextDueAt(ANY)).toBeNull()
  const accepted = records.accepted({ deliveries: [{ email: 'bob@elsewhere.example' }] })
  await elsewhere(`
    const accepted = ${JSON.stringify(accepted)}
    accepted.content = new Uint8Array([1])
    await store.messages.accept([accepted], { organizationId: ${JSON.stringify(ORGANIZATION)}, month: '2026-11', count: 1, limit: -1 })`)
  expect(await store.deliveries.nextDueAt(ANY)).toBe(START)
  expect((await claim(store)).map(({ delivery }) => delivery.email)).toEqual(['bob@elsewhere.example'])
})

test('a claim notices by itself, without being asked when something is due', async () => {
  const accepted = records.accepted()
  await elsewhere(`
    const accepted = ${JSON.stringify(accepted)}
    accepted.content = new Uint8Array([1])
    await store.messages.accept([accepted], { organizationId: ${JSON.stringify(ORGANIZATION)}, month: '2026-11', count: 0, limit: -1 })`)
  expect(await claim(store)).toHaveLength(1)
})

test('a message that another process accepts is counted with those accepted here', async () => {
  await accept(store, records.accepted())
  const accepted = records.accepted()
  await elsewhere(`
    const accepted = ${JSON.stringify(accepted)}
    accepted.content = new Uint8Array([1])
    await store.messages.accept([accepted], { organizationId: ${JSON.stringify(ORGANIZATION)}, month: '2026-11', count: 0, limit: -1 })`)
  await accept(store, records.accepted())
  const filter = { organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' as const }
  expect((await store.stats.hours(filter, [START]))[0]!.accepted).toBe(3)
})

test('a plan set by another process applies here', async () => {
  expect(store.snapshot.organization(ORGANIZATION)!.plan).not.toBe('pro')
  await elsewhere(`await store.organizations.setPlan(${JSON.stringify(ORGANIZATION)}, 'pro')`)
  expect(store.snapshot.organization(ORGANIZATION)!.plan).toBe('pro')
  await store.organizations.setPlan(ORGANIZATION, 'free')
  expect(store.snapshot.organization(ORGANIZATION)!.plan).toBe('free')
})

// threat: revoked-keys
test('a key revoked by another process is refused', async () => {
  const [key, secret] = [records.apiKey(), records.hash()]
  await store.apiKeys.create(key, secret)
  expect(store.snapshot.apiKeyBySecret(secret)!.revokedAt).toBeNull()
  await elsewhere(`await store.apiKeys.revoke(${JSON.stringify(key.id)}, 77)`)
  expect(store.snapshot.apiKeyBySecret(secret)!.revokedAt).toBe(77)
})

test('a webhook paused by another process gets nothing, and loses nothing', async () => {
  const hook = records.webhook()
  await store.webhooks.create(hook, 'whsec_a')
  await store.events.append([records.event()])
  await elsewhere(`await store.webhooks.update(${JSON.stringify(hook.id)}, { status: 'paused' }, 1)`)
  const request = { now: START, limit: 9, worker: WORKER, freeFor: () => 9 }
  expect(await claimDue(store.webhookDeliveries, request)).toEqual([])
  expect(await store.webhookDeliveries.nextDueAt(ANY)).toBeNull()
  await elsewhere(`await store.webhooks.update(${JSON.stringify(hook.id)}, { status: 'active' }, 1)`)
  expect(await claimDue(store.webhookDeliveries, request)).toHaveLength(1)
})

test('an event goes to the webhooks that remain after changes by another process, at the moment it is written', async () => {
  const [stays, goes, paused] = [records.webhook(), records.webhook(), records.webhook()]
  for (const hook of [stays, goes, paused]) await store.webhooks.create(hook, 'whsec_a')
  await store.events.append([records.event()])
  await elsewhere(`
    await store.webhooks.remove(${JSON.stringify(goes.id)})
    await store.webhooks.update(${JSON.stringify(paused.id)}, { status: 'paused' }, 1)`)
  const event = records.event()
  await store.events.append([event])
  const counts = await Promise.all([stays, goes, paused].map(({ id }) => deliveriesOf(id)))
  expect(counts).toEqual([2, 0, 1])
})

test('a route disabled by another process accepts no more mail here, and its deliveries wait', async () => {
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'secret')
  await store.inbound.accept(records.acceptedInbound([route]))
  expect(store.snapshot.enabledRoutes(ORGANIZATION)).toHaveLength(1)
  await elsewhere(`await store.inboundRoutes.update(${JSON.stringify(route.id)}, { enabled: false })`)
  expect(store.snapshot.enabledRoutes(ORGANIZATION)).toEqual([])
  const request = { now: START, limit: 9, worker: WORKER, freeFor: () => 9 }
  expect(await claimDue(store.inboundDeliveries, request)).toEqual([])
  expect(await store.inboundDeliveries.nextDueAt(ANY)).toBeNull()
  await elsewhere(`await store.inboundRoutes.update(${JSON.stringify(route.id)}, { enabled: true })`)
  expect(await claimDue(store.inboundDeliveries, request)).toHaveLength(1)
})

test('mail is redelivered here when another process asks for it', async () => {
  const route = records.inboundRoute({ enabled: false })
  await store.inboundRoutes.create(route, 'secret')
  const mail = records.acceptedInbound([route])
  mail.taken[0]!.deliveryId = null
  await store.inbound.accept(mail)
  const id = JSON.stringify(mail.taken[0]!.message.id)
  await elsewhere(`
    await store.inboundRoutes.update(${JSON.stringify(route.id)}, { enabled: true })
    await store.inboundDeliveries.redeliver(${id}, 'whd_again', ${START + 3})`)
  expect(await store.inboundDeliveries.nextDueAt(ANY)).toBe(START + 3)
})

test('a domain that another process added or removed is added or removed here', async () => {
  const { domainByName, domainByReturnPathHost } = store.snapshot
  expect(domainByName('new.example')).toBeNull()
  expect(domainByReturnPathHost('back.new.example')).toBeNull()
  const domain = records.domain({ name: 'new.example', returnPathHost: 'back.new.example' })
  await elsewhere(`await store.domains.create(${JSON.stringify(domain)}, -1)`)
  expect(domainByName('new.example')).toEqual(domain)
  expect(domainByReturnPathHost('back.new.example')).toEqual(domain)
  await elsewhere(`await store.domains.remove(${JSON.stringify(domain.id)}, 1)`)
  expect(domainByName('new.example')).toBeNull()
  expect(domainByReturnPathHost('back.new.example')).toBeNull()
})

test('a claim signs with the keys that another process activated', async () => {
  await accept(store, records.accepted({ deliveries: [{}, {}] }))
  expect((await claim(store, { limit: 1 }))[0]!.signingKeys).toHaveLength(1)
  await elsewhere(
    "await store.domains.setDkimStates('dom_a', [{ selector: 'two', from: 'pending', to: 'active', since: 1 }])",
  )
  expect((await claim(store, { limit: 1 }))[0]!.signingKeys).toHaveLength(2)
})

test('while another process holds the write lock, a change waits for it', async () => {
  const script = `
    const { connect } = await import(${modulePath('driver.ts')})
    const db = connect(${JSON.stringify(join(dataDir, 'postrider.db'))}, { busyTimeoutMs: 1000 })
    db.exec('begin immediate')
    console.log('held')
    await Bun.stdin.text()
    db.exec('commit')`
  const holder = Bun.spawn([process.execPath, '-e', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  for await (const _ of holder.stdout) break
  // The writer blocks its thread, so the holder must be notified before, and releases meanwhile or has done so.
  holder.stdin.end()
  await accept(store, records.accepted())
  expect(await holder.exited).toBe(0)
  expect(await claim(store)).toHaveLength(1)
})

/** Runs `body` on the same data directory in a separate process, like the command line beside the server. */
async function elsewhere(body: string): Promise<void> {
  const script = `
    const { openStore } = await import(${modulePath('open.ts')})
    const store = await openStore({ dataDir: ${JSON.stringify(dataDir)}, now: ${START} })
    ${body}
    await store.close()`
  const other = Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' })
  expect(await other.exited).toBe(0)
}

function modulePath(name: string): string {
  return JSON.stringify(join(import.meta.dir, '../../src/storage/sqlite', name))
}

async function deliveriesOf(webhookId: string): Promise<number> {
  const filter = { webhookId, status: null, type: null, createdAfter: null, createdBefore: null }
  return (await store.webhookDeliveries.list(filter, { limit: 9, after: null })).records.length
}
