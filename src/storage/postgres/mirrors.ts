import type { ApiKey } from '../../model/api-key.ts'
import type { BlockedLink } from '../../model/blocked-link.ts'
import type { Domain } from '../../model/domain.ts'
import type { SigningRoute } from '../../model/inbound-route.ts'
import type { Organization } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'
import type { SigningWebhook } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { API_KEYS, type ApiKeyRow, toApiKey } from '../records/api-keys.ts'
import { BLOCKED_LINKS } from '../records/blocked-links.ts'
import { DOMAINS, type DomainRow, withKeys } from '../records/domains.ts'
import { ROUTE_COLUMNS, type SigningRouteRow, toSigningRoute } from '../records/inbound-routes.ts'
import { ORGANIZATIONS } from '../records/organizations.ts'
import { FIRING_ALERTS } from '../records/quality.ts'
import { SIGNING_COLUMNS, type SigningWebhookRow, toSigningWebhook } from '../records/webhooks.ts'
import { readWith } from './database.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'

const ERASED_ORGANIZATIONS = 'select distinct organization_id as id from erasures'

/** The settings of the installation in memory. */
export type Mirrors = ReturnType<typeof createMirrors>

export function createMirrors(encryption: Encryption) {
  return {
    organization: createMirror(readerOf<Organization>(ORGANIZATIONS.text)),
    apiKey: apiKeyMirror(),
    domain: domainMirror(encryption),
    blockedLink: createMirror(readerOf<BlockedLink>(BLOCKED_LINKS.text)),
    /** Organizations that have erased a recipient. */
    erasure: createMirror(readerOf<{ id: string }>(ERASED_ORGANIZATIONS)),
    webhook: webhookMirror(encryption),
    inboundRoute: inboundRouteMirror(encryption),
    qualityAlert: createMirror(readerOf<QualityAlert>(FIRING_ALERTS.text)),
  }
}

/** An API key, and its secret's hash in hex. */
export interface MirroredKey {
  id: string
  key: ApiKey
  secretHash: string
}

function apiKeyMirror(): Mirror<MirroredKey> {
  const read = readerOf<ApiKeyRow & { secretHash: Uint8Array }>(API_KEYS.text)
  return createMirror(async (queries, ids) =>
    (await read(queries, ids)).map(({ secretHash, ...row }) => ({
      id: row.id,
      key: toApiKey(row),
      secretHash: Buffer.from(secretHash).toString('hex'),
    })),
  )
}

function domainMirror(encryption: Encryption): Mirror<Domain> {
  const read = readerOf<DomainRow>(DOMAINS.text)
  return createMirror(async (queries, ids) => readWith(queries, withKeys(encryption, await read(queries, ids))))
}

function webhookMirror(encryption: Encryption): Mirror<SigningWebhook> {
  const read = readerOf<SigningWebhookRow>(`select ${SIGNING_COLUMNS} from webhooks where not removing`)
  return createMirror(async (queries, ids) =>
    (await read(queries, ids)).map((row) => toSigningWebhook(row, encryption)),
  )
}

function inboundRouteMirror(encryption: Encryption): Mirror<SigningRoute> {
  const read = readerOf<SigningRouteRow>(`select ${ROUTE_COLUMNS}, secret from inbound_routes where not removing`)
  return createMirror(async (queries, ids) => (await read(queries, ids)).map((row) => toSigningRoute(row, encryption)))
}

/** Reads all of them. */
export async function loadMirrors(mirrors: Mirrors, reads: Reads): Promise<void> {
  await Promise.all(Object.values(mirrors).map((mirror) => mirror.load(reads)))
}
