import { makeConfig } from '../../src/config/load.ts'
import type { ApiKey, Permission } from '../../src/model/api-key.ts'
import type { Mode } from '../../src/model/message.ts'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { Download } from '../../src/net/https/download.ts'
import { systemClock } from '../../src/os/clock.ts'
import type { MintId } from '../../src/os/ids.ts'
import { createLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { Store } from '../../src/storage/store.ts'
import { newTestDomain } from '../support/api.ts'
import { type Answered, assembleTestApi, START } from '../support/api-assembly.ts'
import { addKey } from '../support/keys.ts'

export { PUBLIC_URL, START } from '../support/api-assembly.ts'
export type Asked = Answered

const DOMAINS = [
  { name: 'example.com', owner: 'ours', isVerified: true },
  { name: 'new.example', owner: 'ours', isVerified: false },
  { name: 'other.example', owner: 'other', isVerified: true },
]

/** Starts the API for tests of messages, with a store in memory or in `dataDir`, and creates keys. Organization `ours`
 *  has the verified domain `example.com` and the unverified `new.example`; `other` has `other.example`. A second call
 *  with the same `dataDir` uses the same organizations. */
export async function openMessageApi(
  options: {
    dataDir?: string
    plan?: Partial<Plan>
    messageBytes?: number
    requireVerifiedDomain?: boolean
    download?: Download
    wrapStore?: (store: Store) => Store
  } = {},
) {
  const config = makeConfig({
    hostname: 'mail.example.com',
    smtp: { inbound: { listen: 'off' } },
    sending: { require_verified_domain: options.requireVerifiedDomain ?? true },
    limits: { message_bytes: options.messageBytes ?? 25 * 1024 * 1024 },
  })
  const plan = { ...UNLIMITED_PLAN, retentionDays: 90, ...options.plan }
  const assembled = await assembleTestApi({
    config: { ...config, plans: { enterprise: plan } },
    bodyBytes: 40 * 1024 * 1024,
    dataDir: options.dataDir,
    random: systemRandom,
    limits: plan,
    download: options.download,
    wrapStore: options.wrapStore,
    log: createLog({ clock: systemClock, level: 'error', format: 'json' }),
  })
  const { store, mintId } = assembled
  const { organizationIds, domainIds } = await findOrCreateTenants(store, mintId)

  /** Creates a key and returns its value. */
  const mintKey = async (domain: string, mode: Mode, permissions: Permission[], change: Partial<ApiKey> = {}) => {
    const organizationId = organizationIds.get(domain === 'other.example' ? 'other' : 'ours')!
    const owner = { organizationId, domainId: domainIds.get(domain)! }
    return (await addKey(store, { id: mintId('key'), ...owner, mode, permissions, createdAt: START, ...change })).value
  }
  const keys = {
    live: await mintKey('example.com', 'live', ['send', 'read']),
    test: await mintKey('example.com', 'test', ['send', 'read']),
    unverified: await mintKey('new.example', 'live', ['send', 'read']),
    other: await mintKey('other.example', 'live', ['send', 'read']),
  }
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    more: { key?: string; headers?: Record<string, string>; raw?: string } = {},
  ): Promise<Asked> => {
    const headers = new Headers({ authorization: `Bearer ${more.key ?? keys.live}`, ...more.headers })
    const text = more.raw ?? (body === undefined ? undefined : JSON.stringify(body))
    if (text !== undefined) headers.set('content-type', 'application/json')
    return assembled.fetch(method, path, { headers, body: text })
  }

  return {
    ...assembled,
    ask,
    send: (body: unknown, more: Parameters<typeof ask>[3] = {}) => ask('POST', '/v1/messages/send', body, more),
    keys,
    mintKey,
    organizationId: organizationIds.get('ours')!,
    domainId: domainIds.get('example.com')!,
  }
}

/** Resolves with the tenants' IDs by name. Creates the tenants if the store is empty. */
async function findOrCreateTenants(store: Store, mintId: MintId) {
  const organizationIds = new Map<string, string>()
  for (const name of ['ours', 'other']) {
    const known = await store.organizations.find(name)
    const id = known?.id ?? mintId('org')
    organizationIds.set(name, id)
    if (!known) await store.organizations.create({ id, name, plan: 'enterprise', createdAt: START })
  }
  const domainIds = new Map<string, string>()
  for (const { name, owner, isVerified } of DOMAINS) {
    const known = await store.domains.findByName(name)
    const id = known?.id ?? mintId('dom')
    domainIds.set(name, id)
    if (known) continue
    await store.domains.create(await newTestDomain({ id, organizationId: organizationIds.get(owner)!, name }), -1)
    if (isVerified) await store.domains.recordCheck(id, VERIFIED)
  }
  return { organizationIds, domainIds }
}

const VERIFIED = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }

export const MAIL = {
  from: 'Shop <shop@example.com>',
  to: 'ann@remote.example',
  subject: 'Hello',
  html: '<p>Hi Ann</p>',
}
