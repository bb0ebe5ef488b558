import { createApi } from '../../src/api/server.ts'
import { createStreams } from '../../src/api/streams.ts'
import { resend } from '../../src/compat/resend/resend.ts'
import { makeConfig } from '../../src/config/load.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { createEventStream } from '../../src/event-stream/event-stream.ts'
import { createHealthWatch } from '../../src/health/watch.ts'
import { createForwardLinks } from '../../src/mail/forward-link.ts'
import { createRecipientParts, NO_RECIPIENT_PARTS } from '../../src/mail/recipient-parts.ts'
import { createVerp } from '../../src/mail/verp.ts'
import type { Permission } from '../../src/model/api-key.ts'
import type { Mode } from '../../src/model/message.ts'
import { createMintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { createNotifier } from '../../src/os/notifier.ts'
import { createPreparer } from '../../src/outbound/prepare.ts'
import { parsingHere } from '../../src/parsing/parsing.ts'
import { createCompatApi } from '../../src/server/external-api.ts'
import { createOperations, openSubmission } from '../../src/server/operations.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Compose } from '../../src/submission/signing.ts'
import { createTestRandom, START, signIn, silentResolver } from '../support/api.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { inboundMessage, storedMail } from '../support/inbound.ts'
import { addKey } from '../support/keys.ts'

const HEALTH = [
  { name: 'queue', status: 'pass' as const, message: 'nothing is due, 0 scheduled for later', advice: null },
]

export const BODY_BYTES = 300_000

/** Every operation as the server composes them, behind a real listener. Organization `rich` has the verified
 *  `example.com`, `poor` one request a minute and room for one domain. No engine runs: what is queued stays so. */
export async function openContractWorld() {
  const clock = createFakeClock(START)
  const random = createTestRandom()
  const mintId = createMintId(clock, random)
  const store = await openStore({ dataDir: ':memory:', now: START })
  let isBroken = false
  const snapshot: Store['snapshot'] = {
    ...store.snapshot,
    organization: (id) => {
      if (isBroken) throw new Error('the disk is on fire')
      return store.snapshot.organization(id)
    },
  }
  const sessions: Store['sessions'] = {
    ...store.sessions,
    findByToken: async (tokenHash) => {
      if (isBroken) throw new Error('the disk is on fire')
      return store.sessions.findByToken(tokenHash)
    },
  }
  const streams = createStreams({ clock })
  const config = makeConfig({
    hostname: 'mail.postrider.test',
    plans: { starter: { requests_per_minute: -1 }, free: { requests_per_minute: 1, domains: 1 } },
    billing: { self_service_plans: ['starter'] },
  })
  const preparer = createPreparer()
  const verp = createVerp(random.bytes(32))
  const recipientParts = createRecipientParts({
    verp,
    secret: random.bytes(32),
    publicUrl: () => 'https://mail.example.com',
  })
  const compose: Compose = async (content, signingKeys, signedAt, recipientParts = NO_RECIPIENT_PARTS) =>
    Buffer.concat(preparer.prepareNow({ content, signingKeys, signedAt, recipientParts }))
  const deps = {
    config,
    store: { ...store, snapshot, sessions },
    clock,
    random,
    mintId,
    freshResolver: silentResolver,
    compose,
    parsing: parsingHere(),
    recipientParts: () => recipientParts,
    publicUrl: () => 'https://mail.example.com',
    forwardLinks: () => createForwardLinks(new Uint8Array(32)),
    eventStream: createEventStream({ events: store.events, clock, lookMs: 1_000 }),
    streams,
    health: createHealthWatch({ run: async () => HEALTH, now: clock.now, log: silentLog }),
    watchMessage: createNotifier(clock.sleep).wait,
    wakeOutbound: () => {},
    wakeWebhooks: () => {},
    wakeInbound: () => {},
    mtaStsOf: () => null,
    destinationState: () => null,
  }
  const operations = createOperations(deps, openSubmission(deps))
  const api = createApi({
    ...deps,
    operations,
    compatApis: [createCompatApi(resend, operations)],
    plans: (name) => config.plans[name],
    limits: { bodyBytes: BODY_BYTES },
    clientAddress: (peer) => peer ?? '',
    log: silentLog,
    isReady: () => null,
  })
  const { host, port } = await api.listen({ host: '127.0.0.1', port: 0 })
  const origin = `http://${host}:${port}`

  const dkim = await mintDkimKeys('active', START, random)
  const addDomain = async (organizationId: string, name: string, isVerified: boolean) => {
    const domain = newDomain({ id: mintId('dom'), organizationId, name }, START, dkim)
    await store.domains.create(domain, -1)
    const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
    if (isVerified) await store.domains.recordCheck(domain.id, check)
    return domain
  }
  const mintKey = async (organizationId: string, domainId: string, permission: Permission, mode: Mode = 'live') => {
    const key = { id: mintId('key'), organizationId, domainId, mode, createdAt: START }
    return (await addKey(store, { ...key, permissions: [permission] }, random)).value
  }

  const rich = mintId('org')
  const poor = mintId('org')
  await store.organizations.create({ id: rich, name: 'rich', plan: 'enterprise', createdAt: START })
  await store.organizations.create({ id: poor, name: 'poor', plan: 'free', createdAt: START })
  const domain = await addDomain(rich, 'example.com', true)
  const unverified = await addDomain(rich, 'new.example', false)
  const poorDomain = await addDomain(poor, 'poor.example', true)
  const keys = {
    live: await mintKey(rich, domain.id, 'admin'),
    test: await mintKey(rich, domain.id, 'admin', 'test'),
    unverified: await mintKey(rich, unverified.id, 'admin'),
    send: await mintKey(rich, domain.id, 'send'),
    read: await mintKey(rich, domain.id, 'read'),
    poor: await mintKey(poor, poorDomain.id, 'admin'),
  }

  /** A mail that came in for a route, with nothing owed to anybody yet. */
  const addInbound = async (routeId: string) => {
    const ids = { id: mintId('inb'), organizationId: rich, domainId: domain.id, routeId, receivedAt: clock.now() }
    const taken = { message: inboundMessage(ids), deliveryId: null, forward: null }
    await store.inbound.accept({ ...storedMail(), taken: [taken] })
    return ids.id
  }

  const addBlockedLink = async () => {
    const id = mintId('blk')
    const value = `${id.slice(4)}.example`
    await store.blockedLinks.add({ id, kind: 'host', value, reason: 'abuse', createdAt: clock.now() })
    return id
  }

  return {
    api,
    clock,
    addBlockedLink,
    operations,
    origin,
    keys,
    domain,
    addInbound,
    organizationId: rich,
    store,
    random,
    mintId,
    addDomain,
    /** Headers of a session of the operator's. */
    signIn: async () => ({ ...(await signIn(store, clock.now(), random, mintId)), 'x-operator': '1' }),
    /** A session of its own. */
    addSession: async () => {
      await signIn(store, clock.now(), random, mintId)
      return (await store.sessions.list(clock.now(), { limit: 1, after: null })).records[0]!.id
    },
    /** What was done, as told of the whole installation and of organizations that were made here. */
    toldOfTheServer: async () => {
      const anyone = { organizationId: null, actorId: 'operator', action: null, resourceId: null }
      const range = { createdAfter: null, createdBefore: null }
      const { records } = await store.auditLog.list({ ...anyone, ...range }, { limit: 100, after: null })
      return new Set(records.filter(({ outcome }) => outcome === 'done').map(({ action }) => action))
    },
    /** From now on, or no longer, every request fails at the store. */
    breakStore: (broken: boolean) => {
      isBroken = broken
    },
    async close() {
      await api.stop(0)
      await store.close()
    },
  }
}

export type ContractWorld = Awaited<ReturnType<typeof openContractWorld>>
