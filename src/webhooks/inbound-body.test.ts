import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { CONTENTS, inboundMessage, storedMail } from '../../test/support/inbound.ts'
import { silentLog } from '../os/log.ts'
import { ampleMemory } from '../os/memory.ts'
import { type ClaimedInboundDelivery, StoreUnavailable } from '../storage/store.ts'
import { createInboundBodies } from './inbound-body.ts'

const never = new AbortController().signal

function claimOf(sizeBytes: number): ClaimedInboundDelivery {
  return {
    id: 'whd_1',
    message: inboundMessage({
      id: 'inb_1',
      organizationId: 'org_1',
      domainId: 'dom_1',
      routeId: 'rte_1',
      receivedAt: 0,
      sizeBytes,
    }),
    route: { id: 'rte_1', url: 'https://hooks.example.com/', includeAttachments: true, secret: 'whsec_' },
    attempt: 1,
    lease: { worker: 'w', until: 1 },
  }
}

/** Bodies over one stored mail; counts how many mails are taken apart at once. */
function bodies(parsed: () => Promise<Uint8Array | null> = async () => storedMail().parsed) {
  let busy = 0
  const seen = { most: 0 }
  const inbound = { parsed, raw: async () => storedMail().raw }
  const made = createInboundBodies({
    store: { inbound: inbound as unknown as Parameters<typeof createInboundBodies>[0]['store']['inbound'] },
    attachments: async () => {
      seen.most = Math.max(seen.most, ++busy)
      await new Promise((resolve) => setImmediate(resolve))
      busy--
      return [...CONTENTS]
    },
    clock: createFakeClock(0),
    log: silentLog,
    memory: ampleMemory,
    roomBytes: 64 * 1024 * 1024,
  })
  return { seen, of: (sizeBytes: number) => made.of(claimOf(sizeBytes), never) }
}

test('large bodies are made one after the other, small ones side by side', async () => {
  const large = bodies()
  expect((await Promise.all([1, 2, 3].map(() => large.of(300_000)))).map(({ kind }) => kind)).toEqual(
    Array(3).fill('body'),
  )
  expect(large.seen.most).toBe(1)
  const small = bodies()
  await Promise.all([1, 2, 3].map(() => small.of(10_000)))
  expect(small.seen.most).toBe(3)
})

test('one that cannot be made gives its room back and holds up nobody', async () => {
  const answers: (() => Promise<Uint8Array | null>)[] = [
    async () => new Uint8Array(9),
    () => Promise.reject(new StoreUnavailable('disk gone')),
    async () => null,
    async () => storedMail().parsed,
  ]
  const { of } = bodies(() => answers.shift()!())
  const size = 60_000_000 // none of them fits beside another
  expect((await of(size)).kind).toBe('damaged')
  await expect(of(size)).rejects.toBeInstanceOf(StoreUnavailable)
  expect((await of(size)).kind).toBe('gone')
  expect((await of(size)).kind).toBe('body')
})
