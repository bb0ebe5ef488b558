import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UNTRIED } from '../../src/model/delivery.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { AcceptedMessage, Store } from '../../src/storage/store.ts'

const DEAD = 200_000
const HEALTHY = 50
const NOW = Date.UTC(2026, 10, 21)

/** The claim that finds fifty healthy destinations behind 200,000 due deliveries of one that has no room
 *  → its median time in ms, commit included. */
export async function measureClaim(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-claim-'))
  const store = await openStore({ dataDir: folder, now: NOW })
  try {
    await store.organizations.create({ id: 'org_1', name: 'Bench', plan: 'enterprise', createdAt: NOW })
    const dead = Array.from({ length: DEAD / 50 }, (_, at) => message(at, `dead.example`, 50))
    for (let at = 0; at < dead.length; at += 40) await accept(store, dead.slice(at, at + 40))
    const timesMs: number[] = []
    for (let round = 0; round < 21; round++) {
      const healthy = Array.from({ length: HEALTHY }, (_, at) =>
        message(DEAD + round * HEALTHY + at, `h${at}.example`, 1),
      )
      await accept(store, healthy)
      const startedAt = performance.now()
      const claims = await store.deliveries.claimDue({
        now: NOW,
        limit: 1,
        lease: { worker: 'bench', until: NOW + 3_600_000 },
        freeFor: (destination) => (destination === 'dead.example' ? 0 : 20),
      })
      timesMs.push(performance.now() - startedAt)
      if (claims.length !== 1) throw new Error(`claimed ${claims.length}`)
    }
    return timesMs.sort((a, b) => a - b)[10]!
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function accept(store: Store, accepted: AcceptedMessage[]) {
  return store.messages.accept(accepted, { organizationId: 'org_1', month: '2026-11', count: 0, limit: -1 })
}

function message(number: number, destination: string, recipients: number): AcceptedMessage {
  const id = `msg_${String(number).padStart(26, '0')}`
  const to = Array.from({ length: recipients }, (_, at) => `r${at}@${destination}`)
  return {
    message: {
      id,
      organizationId: 'org_1',
      domainId: 'dom_1',
      keyId: null,
      mode: 'live',
      source: 'api',
      status: 'queued',
      from: 'us@bench.example',
      to,
      cc: null,
      bcc: null,
      replyTo: null,
      subject: 'A receipt',
      tags: [],
      metadata: {},
      templateId: null,
      sizeBytes: 1_000,
      messageIdHeader: `<${id}@bench.example>`,
      createdAt: NOW,
      scheduledAt: null,
      expiresAt: null,
      requireTls: false,
      unsubscribe: false,
      trackOpens: false,
      trackClicks: false,
    },
    content: new Uint8Array(1_000),
    deliveries: to.map((email, position) => ({
      id: `dlv_${String(number * 50 + position).padStart(26, '0')}`,
      position,
      email,
      type: 'to',
      destination,
      status: 'queued',
      nextAttemptAt: NOW,
      ...UNTRIED,
    })),
    attempts: [],
    events: [],
    suppressions: [],
  }
}
