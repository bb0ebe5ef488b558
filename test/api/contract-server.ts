import { makeConfig } from '../../src/config/load.ts'
import type { Permission } from '../../src/model/api-key.ts'
import { OWN_LISTENER } from '../../src/model/canary.ts'
import type { Mode } from '../../src/model/message.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import { createHealthWatch } from '../../src/operating/health/watch.ts'
import { silentLog } from '../../src/os/log.ts'
import { createCompatApi } from '../../src/server/external-api.ts'
import type { Store } from '../../src/storage/store.ts'
import { hashToken } from '../../src/web/api/sessions.ts'
import { resend } from '../../src/web/compat/resend/resend.ts'
import { newTestDomain, START, signIn } from '../support/api.ts'
import { assembleTestApi } from '../support/api-assembly.ts'
import { inboundMessage, PARSED, RAW_WITH_ATTACHMENTS, storedMail } from '../support/inbound.ts'
import { addKey } from '../support/keys.ts'
import { VERIFIED } from '../support/verified.ts'

const HEALTH = [
  { name: 'queue', status: 'pass' as const, message: 'nothing is due, 0 scheduled for later', advice: null },
]

export const BODY_BYTES = 300_000

/** Starts the API on a real socket. Organization `rich` has the verified domain `example.com`; the plan of `poor`
 *  allows one request per minute and one domain. No engine runs, so a queued message stays queued. */
export async function startContractServer() {
  let isBroken = false
  const config = makeConfig({
    hostname: 'mail.postrider.test',
    plans: { starter: { requests_per_minute: -1 }, free: { requests_per_minute: 1, domains: 1 } },
    billing: { self_service_plans: ['starter'] },
  })
  const assembled = await assembleTestApi({
    config,
    bodyBytes: BODY_BYTES,
    wrapStore: (store) => breakable(store, () => isBroken),
    compatApis: (operations) => [
      createCompatApi(resend, operations, {
        downloadUrl: () => 'https://mail.example.com/downloads/x',
        signingSecret: async () => null,
      }),
    ],
    clientAddress: (peer) => peer ?? '',
    // No engine runs, so nothing is sent.
    canaries: {
      run: async (now) => [
        {
          id: 'cnr_01m7yzmhg0g753y2zpdsmybdn5',
          mailbox: OWN_LISTENER,
          dueAt: now,
          sentAt: now,
          result: 'pending',
          arrivedAt: null,
          detail: null,
        },
      ],
    },
    health: createHealthWatch({ run: async () => HEALTH, now: () => START, log: silentLog }),
  })
  const { api, clock, operations, random, store, mintId } = assembled
  const { host, port } = await api.listen({ host: '127.0.0.1', port: 0 })
  const origin = `http://${host}:${port}`

  const addDomain = async (organizationId: string, name: string, isVerified: boolean) => {
    const domain = await newTestDomain({ id: mintId('dom'), organizationId, name })
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

  /** Stores an inbound message of a route, without a delivery, and resolves with its ID. */
  const addInbound = async (routeId: string) => {
    const ids = { id: mintId('inb'), organizationId: rich, domainId: domain.id, routeId, receivedAt: clock.now() }
    const taken = { message: inboundMessage(ids), deliveryId: null, forward: null }
    await store.inbound.accept({ ...storedMail(PARSED, RAW_WITH_ATTACHMENTS), taken: [taken] })
    return ids.id
  }

  const addBlockedLink = async () => {
    const id = mintId('blk')
    const value = `${id.slice(4)}.example`
    await store.blockedLinks.add({ id, kind: 'host', value, reason: 'abuse', createdAt: clock.now() })
    return id
  }

  const addAlert = async () => {
    const id = mintId('alr')
    const [firstSeenAt, lastSeenAt, raisedAt] = [clock.now(), clock.now(), clock.now()]
    const problem = { kind: 'disk', subject: id, severity: 'critical', message: '3 MB free', advice: null } as const
    const times = { firstSeenAt, lastSeenAt, missingSince: null, raisedAt, resolvedAt: null }
    await store.alerts.save({ id, node: '', state: 'firing', ...problem, ...times }, null)
    return id
  }

  /** Stores a developer of the rich organization and resolves with the ID. */
  const addUser = async () => {
    const id = mintId('usr')
    const user = { id, email: `${id}@customer.example`, name: 'Ann', isOperator: false, createdAt: clock.now() }
    await store.users.create(
      { ...user, roles: { [rich]: 'developer' }, disabledAt: null, lastSeenAt: null, ...VERIFIED },
      null,
    )
    return id
  }

  return {
    api,
    clock,
    addAlert,
    addBlockedLink,
    addUser,
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
    /** Opens an operator session and resolves with the headers of its requests. */
    signIn: async () => ({ ...(await signIn(store, clock.now(), random, mintId)), 'x-operator': '1' }),
    /** Opens another operator session and resolves with its ID. */
    addSession: async () => {
      const { cookie } = await signIn(store, clock.now(), random, mintId)
      return (await store.sessions.findByToken(hashToken(cookie.split('=')[1]!)))!.id
    },
    /** Resolves with the operator's successful actions in the audit log. */
    auditedActions: async () => {
      const anyone = { organizationId: null, actorId: FIRST_USER, action: null, resourceId: null }
      const range = { createdAfter: null, createdBefore: null }
      const { records } = await store.auditLog.list({ ...anyone, ...range }, { limit: 100, after: null })
      return new Set(records.filter(({ outcome }) => outcome === 'done').map(({ action }) => action))
    },
    /** Makes the store fail for every request, or work again. */
    breakStore: (broken: boolean) => {
      isBroken = broken
    },
    close: assembled.close,
  }
}

/** Wraps a store so that the first reads of every request fail while `isBroken` returns true. */
function breakable(store: Store, isBroken: () => boolean): Store {
  const failWhenBroken = () => {
    if (isBroken()) throw new Error('the disk is on fire')
  }
  return {
    ...store,
    snapshot: {
      ...store.snapshot,
      organization: (id) => {
        failWhenBroken()
        return store.snapshot.organization(id)
      },
    },
    sessions: {
      ...store.sessions,
      findByToken: async (tokenHash) => {
        failWhenBroken()
        return store.sessions.findByToken(tokenHash)
      },
    },
  }
}

export type ContractServer = Awaited<ReturnType<typeof startContractServer>>
