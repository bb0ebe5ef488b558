import type { Operation } from '../../src/api/operation.ts'
import { messageOperations } from '../../src/api/routes/messages.ts'
import { type Api, createApi } from '../../src/api/server.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { createRecipientParts, NO_RECIPIENT_PARTS } from '../../src/mail/recipient-parts.ts'
import { createVerp } from '../../src/mail/verp.ts'
import type { ApiKey, Permission } from '../../src/model/api-key.ts'
import type { DkimKeyRecord } from '../../src/model/domain.ts'
import type { Mode } from '../../src/model/message.ts'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { createMintId, type MintId } from '../../src/os/ids.ts'
import { createLog } from '../../src/os/log.ts'
import { createNotifier } from '../../src/os/notifier.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createPreparer } from '../../src/outbound/prepare.ts'
import { simulate } from '../../src/outbound/sandbox.ts'
import { parsingHere } from '../../src/parsing/parsing.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import { createSubmission } from '../../src/submission/accept.ts'
import type { Compose } from '../../src/submission/signing.ts'
import { undocumented } from '../support/documented.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { addKey } from '../support/keys.ts'

export const PUBLIC_URL = 'https://mail.example.com'
export const START = Date.UTC(2026, 10, 21, 12)

/** Minting RSA keys takes longer than all tests of a file, so they are shared. */
let dkim: Promise<DkimKeyRecord[]> | null = null

export interface Asked {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
  body: any
}

/** The rooms behind the message routes, real but for time: a store in memory or in `dataDir`, composing and signing, and
 *  the HTTP flow without a socket. Organization `ours` has the verified `example.com` and the new `new.example`;
 *  `other` has `other.example`. */
export async function openMessageApi(
  options: { dataDir?: string; plan?: Partial<Plan>; messageBytes?: number; requireVerifiedDomain?: boolean } = {},
) {
  const clock = createFakeClock(START)
  const mintId = createMintId(clock, systemRandom)
  const plan = {
    ...UNLIMITED_PLAN,
    requestsPerMinute: -1,
    messagesPerMonth: -1,
    domains: -1,
    retentionDays: 90,
    ...options.plan,
  }
  const store = await openStore({ dataDir: options.dataDir ?? ':memory:', now: START, plans: () => plan })
  const preparer = createPreparer()
  const messageWaiters = createNotifier(clock.sleep)
  const verp = createVerp(systemRandom.bytes(32))
  const trackingSecret = systemRandom.bytes(32)
  const recipientParts = createRecipientParts({ verp, secret: trackingSecret, publicUrl: () => PUBLIC_URL })
  const woken = { outbound: 0, webhooks: 0 }
  const compose: Compose = async (content, signingKeys, signedAt, recipientParts = NO_RECIPIENT_PARTS) =>
    Buffer.concat(preparer.prepareNow({ content, signingKeys, signedAt, recipientParts }))
  const wakes = { wakeOutbound: () => void woken.outbound++, wakeWebhooks: () => void woken.webhooks++ }

  const parsing = parsingHere()
  const submission = createSubmission({
    ...parsing,
    store,
    clock,
    mintId,
    settings: {
      requireVerifiedDomain: options.requireVerifiedDomain ?? true,
      messageBytes: options.messageBytes ?? 25 * 1024 * 1024,
    },
    planOf: () => plan,
    compose,
    simulate,
    stoppedBy: () => null,
    ...wakes,
  })
  const operations = messageOperations({
    ...parsing,
    store,
    clock,
    submission,
    compose,
    recipientParts: () => recipientParts,
    watch: messageWaiters.wait,
    ...wakes,
  })
  const api = createApi({
    operations,
    store,
    clock,
    random: systemRandom,
    mintId,
    plans: () => plan,
    limits: { bodyBytes: 40 * 1024 * 1024 },
    clientAddress: (peer) => peer ?? '',
    log: createLog({ clock, level: 'error', format: 'json' }),
    isReady: () => null,
  })

  const { ids, domains } = await addTenants(store, mintId)

  /** Makes a key and answers its value. */
  const mintKey = async (domain: string, mode: Mode, permissions: Permission[], change: Partial<ApiKey> = {}) => {
    const organizationId = ids.get(domain === 'other.example' ? 'other' : 'ours')!
    const owner = { organizationId, domainId: domains.get(domain)! }
    return (await addKey(store, { id: mintId('key'), ...owner, mode, permissions, createdAt: START, ...change })).value
  }
  const keys = {
    live: await mintKey('example.com', 'live', ['send', 'read']),
    test: await mintKey('example.com', 'test', ['send', 'read']),
    unverified: await mintKey('new.example', 'live', ['send', 'read']),
    other: await mintKey('other.example', 'live', ['send', 'read']),
  }

  const ask = asker(api, operations, keys.live)
  const send = (body: unknown, more: Parameters<typeof ask>[3] = {}) => ask('POST', '/v1/messages/send', body, more)

  return {
    api,
    ask,
    send,
    store,
    clock,
    keys,
    mintKey,
    mintId,
    messageWaiters,
    verp,
    trackingSecret,
    woken,
    submission,
    organizationId: ids.get('ours')!,
    domainId: domains.get('example.com')!,
    close: () => store.close(),
  }
}

/** → What sends a request with `key`, unless it names another one. Throws on an undocumented answer. */
function asker(api: Api, operations: Operation[], key: string) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    more: { key?: string; headers?: Record<string, string>; raw?: string } = {},
  ): Promise<Asked> => {
    const headers = new Headers({ authorization: `Bearer ${more.key ?? key}`, ...more.headers })
    const text = more.raw ?? (body === undefined ? undefined : JSON.stringify(body))
    if (text !== undefined) headers.set('content-type', 'application/json')
    const response = await api.fetch(new Request(`http://server${path}`, { method, headers, body: text }))
    const answer = await response.text()
    const fault = await undocumented(operations, method, path, {
      status: response.status,
      headers: response.headers,
      text: answer,
    })
    if (fault !== null) throw new Error(`${method} ${path}: ${fault}`)
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: isJson ? JSON.parse(answer) : null,
    }
  }
}

/** Organizations and domains by name; those that the store has already stay. */
async function addTenants(store: Store, mintId: MintId) {
  const found = await Promise.all(['ours', 'other'].map((name) => store.organizations.find(name)))
  const ids = new Map<string, string>()
  for (const [i, name] of ['ours', 'other'].entries()) {
    const id = found[i]?.id ?? mintId('org')
    if (!found[i]) await store.organizations.create({ id, name, plan: 'enterprise', createdAt: START })
    ids.set(name, id)
  }
  const domains = new Map<string, string>()
  for (const [name, owner] of [
    ['example.com', 'ours'],
    ['new.example', 'ours'],
    ['other.example', 'other'],
  ] as const) {
    const known = await store.domains.findByName(name)
    domains.set(name, known?.id ?? mintId('dom'))
    if (known) continue
    const facts = { id: domains.get(name)!, organizationId: ids.get(owner)!, name }
    dkim ??= mintDkimKeys('active', START, systemRandom)
    await store.domains.create(newDomain(facts, START, await dkim), -1)
    if (name === 'new.example') continue
    const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
    await store.domains.recordCheck(facts.id, check)
  }
  return { ids, domains }
}

export const MAIL = {
  from: 'Shop <shop@example.com>',
  to: 'ann@remote.example',
  subject: 'Hello',
  html: '<p>Hi Ann</p>',
}
