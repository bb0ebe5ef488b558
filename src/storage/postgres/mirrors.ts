import type { BlockedLink } from '../../model/blocked-link.ts'
import type { Domain } from '../../model/domain.ts'
import type { Organization } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'
import type { Encryption } from '../encryption.ts'
import { apiKeyMirror, type MirroredKey } from './api-keys.ts'
import { blockedLinkMirror } from './blocked-links.ts'
import { domainMirror } from './domains.ts'
import { erasureMirror } from './erasures.ts'
import { inboundRouteMirror, type MirroredRoute } from './inbound-routes.ts'
import type { Mirror } from './mirror.ts'
import { organizationMirror } from './organizations.ts'
import { qualityAlertMirror } from './quality.ts'
import type { Reads } from './reads.ts'
import { type MirroredWebhook, webhookMirror } from './webhooks.ts'

/** The settings of the installation in memory. */
export interface Mirrors {
  organization: Mirror<Organization>
  apiKey: Mirror<MirroredKey>
  domain: Mirror<Domain>
  blockedLink: Mirror<BlockedLink>
  /** Organizations that have erased a recipient. */
  erasure: Mirror<{ id: string }>
  webhook: Mirror<MirroredWebhook>
  inboundRoute: Mirror<MirroredRoute>
  qualityAlert: Mirror<QualityAlert>
}

export function createMirrors(encryption: Encryption): Mirrors {
  return {
    organization: organizationMirror(),
    apiKey: apiKeyMirror(),
    domain: domainMirror(encryption),
    blockedLink: blockedLinkMirror(),
    erasure: erasureMirror(),
    webhook: webhookMirror(encryption),
    inboundRoute: inboundRouteMirror(encryption),
    qualityAlert: qualityAlertMirror(),
  }
}

/** Reads all of them. */
export async function loadMirrors(mirrors: Mirrors, reads: Reads): Promise<void> {
  await Promise.all([
    mirrors.organization.load(reads),
    mirrors.apiKey.load(reads),
    mirrors.domain.load(reads),
    mirrors.blockedLink.load(reads),
    mirrors.erasure.load(reads),
    mirrors.webhook.load(reads),
    mirrors.inboundRoute.load(reads),
    mirrors.qualityAlert.load(reads),
  ])
}
