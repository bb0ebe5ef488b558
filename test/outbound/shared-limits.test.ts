import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Relay } from '../../src/sending/outbound/relays/relay.ts'
import { createSharedLimits, type SharedLimits } from '../../src/sending/outbound/relays/shared-limits.ts'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'

/** Limits of a relay over two nodes. The nodes and their database are real, only time is not. */

const START = Date.UTC(2026, 10, 25)
const AT = 'relay:one'

interface Node {
  store: Store
  limits: SharedLimits
  /** Mails under way, and those started so far. */
  underWay: number
  sent: number
}

describeWithPostgres('the limits of a relay, over two nodes,', () => {
  let postgres: TestPostgres
  let databases = 0
  let clock: FakeClock
  let nodes: Node[]
  let folders: string[]
  let closed: number
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(() => {
    clock = createFakeClock(START)
    nodes = []
    folders = []
    closed = 0
  })
  afterEach(async () => {
    for (const { store } of nodes) await store.close()
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  async function open(change: Partial<Relay>) {
    const url = await postgres.createDatabase(`limits${++databases}`)
    const relay = { destination: AT, maxConnections: 0, maxMailsPerMinute: 0, ...change } as Relay
    for (const name of ['one', 'two']) {
      const folder = mkdtempSync(join(tmpdir(), 'postrider-limits-'))
      if (folders[0] !== undefined) copyFileSync(join(folders[0], 'seal.key'), join(folder, 'seal.key'))
      folders.push(folder)
      const store = await openPostgresStore({ url, dataDir: folder, now: START, clock: clock.now, node: { name } })
      const { rates, leases } = store
      const limits = createSharedLimits([relay], {
        store: { rates: rates!, leases, nodes: store.nodes },
        clock,
        closeIdle: () => closed++,
        onError: (error) => {
          throw error
        },
      })
      nodes.push({ store, limits, underWay: 0, sent: 0 })
    }
  }
  /** Each node starts what it may, and ends it a step later → the connections of each. */
  async function step(ms: number, wants: readonly Node[] = nodes): Promise<number[]> {
    for (const node of nodes) {
      node.underWay = 0
      const left = wants.includes(node) ? node.limits.leftAt(AT) : null
      if (left !== null && !('name' in left)) {
        node.underWay = Math.min(left.connections, left.mails, 1_000)
        node.sent += node.underWay
        node.limits.started(AT, node.underWay)
      }
    }
    const used = nodes.map(({ limits }) => limits.connectionsAt(AT))
    for (const { limits, underWay } of nodes) await limits.turn(() => underWay)
    await clock.advance(ms)
    return used
  }

  test('per minute hold together, and both nodes get a part', async () => {
    await open({ maxMailsPerMinute: 120 })
    for (let at = 0; at < 30_000; at += 250) await step(250)
    const [one, two] = nodes.map(({ sent }) => sent)
    expect(one! + two!).toBeLessThanOrEqual(62)
    expect(one! + two!).toBeGreaterThan(55)
    expect(Math.min(one!, two!)).toBeGreaterThan(10)
  })

  test('per minute are not saved up by a node without mail', async () => {
    await open({ maxMailsPerMinute: 60 })
    await step(0)
    await step(60_000, [])
    for (let at = 0; at < 10_000; at += 250) await step(250)
    expect(nodes[0]!.sent + nodes[1]!.sent).toBeLessThanOrEqual(13)
  })

  test('of connections are divided, and stay where they are if each gets the same', async () => {
    await open({ maxConnections: 4 })
    for (let at = 0; at < 5_000; at += 500) await step(500)
    for (let at = 0; at < 120_000; at += 1_000) expect(await step(1_000)).toEqual([2, 2])
    expect(closed).toBe(0)
  })

  test('of one connection give it to one node after the other, and never to two', async () => {
    await open({ maxConnections: 1 })
    const turns: number[] = []
    for (let at = 0; at < 300_000; at += 500) {
      const used = await step(500)
      expect(used[0]! + used[1]!).toBeLessThanOrEqual(1)
      if (used.includes(1) && used.indexOf(1) !== turns.at(-1)) turns.push(used.indexOf(1))
    }
    expect(turns.length).toBeGreaterThanOrEqual(4)
    expect(nodes.every(({ sent }) => sent > 150)).toBe(true)
    expect(closed).toBeGreaterThanOrEqual(3)
  })

  test('of connections go to the other node when one has no mail, and when one has ended', async () => {
    await open({ maxConnections: 1 })
    const [one, two] = nodes as [Node, Node]
    for (let at = 0; at < 3_000; at += 500) await step(500, [one])
    expect(one.limits.connectionsAt(AT)).toBe(1)
    for (let at = 0; at < 40_000; at += 500) await step(500, [two])
    expect([one.limits.connectionsAt(AT), two.limits.connectionsAt(AT)]).toEqual([0, 1])
    await two.store.close()
    nodes = [one]
    for (let at = 0; at < 10_000; at += 500) await step(500)
    expect(one.limits.connectionsAt(AT)).toBe(1)
  })

  test('of connections end for a node that cannot extend its leases', async () => {
    await open({ maxConnections: 2 })
    const [one] = nodes as [Node]
    for (let at = 0; at < 3_000; at += 500) await step(500)
    expect(one.limits.connectionsAt(AT)).toBe(1)
    await clock.advance(55_000)
    expect(one.limits.connectionsAt(AT)).toBe(0)
    for (let at = 0; at < 1_000; at += 500) await step(500)
    expect(one.limits.connectionsAt(AT)).toBe(1)
  })
})
