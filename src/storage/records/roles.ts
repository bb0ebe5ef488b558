import type { Domain } from '../../model/domain.ts'
import type { Organization } from '../../model/organization.ts'
import type { Encryption } from '../encryption.ts'
import { createErasureKey, findingErased } from '../erased-address.ts'
import type { ErasureWork } from '../erasure-work.ts'
import type { MailInside } from '../mail/inside.ts'
import type { AskedAddresses, SuppressedAddresses, Suppressions } from '../roles/suppressions.ts'
import type { Database } from '../sql.ts'
import { addressRestRecords } from './address-rests.ts'
import { addressUseRecords } from './address-uses.ts'
import { alertRecords } from './alerts.ts'
import { apiKeyRecords } from './api-keys.ts'
import { type AuditedAction, auditRecords } from './audit-log.ts'
import { blockedLinkRecords } from './blocked-links.ts'
import { canaryRecords } from './canaries.ts'
import { dedicatedAddressRecords } from './dedicated-addresses.ts'
import { domainRecords } from './domains.ts'
import { erasureRecords } from './erasures.ts'
import { factorRecords } from './factors.ts'
import { forwardTargetRecords } from './forward-targets.ts'
import { idempotencyRecords } from './idempotency.ts'
import { inboundRouteRecords } from './inbound-routes.ts'
import { invitationRecords } from './invitations.ts'
import { mtaStsRecords } from './mta-sts.ts'
import { organizationRecords } from './organizations.ts'
import { policyReportRecords } from './policy-reports.ts'
import { qualityRecords } from './quality.ts'
import { relayRecords } from './relays.ts'
import { retentionRecords } from './retention.ts'
import { secretRecords } from './secrets.ts'
import { sessionRecords } from './sessions.ts'
import { singleSignOnRecords } from './single-sign-on.ts'
import { suppressionRecords } from './suppressions.ts'
import { templateRecords } from './templates.ts'
import { tlsSessionRecords } from './tls-sessions.ts'
import { type Recount, usageRecords } from './usage-counts.ts'
import { userRecords } from './users.ts'
import { warmupRecords } from './warmups.ts'
import { webhookRecords } from './webhooks.ts'

/** What each database gives the roles of records. */
interface RecordParts extends Pick<MailInside, 'planOf'> {
  encryption: Encryption
  action: AuditedAction
  /** Settings in memory. */
  organization: (id: string) => Organization | null
  domain: (id: string) => Domain | null
  /** Whether the organization has erased a recipient. */
  hasErased: (organizationId: string) => boolean
  /** What lists and mails read of suppressions. */
  suppressions: { list: Suppressions['list']; among: (asked: AskedAddresses) => Promise<SuppressedAddresses> }
  recount: Recount
  /** What returns the disk space of removed records; PostgreSQL does so by itself. */
  space?: {
    /** Erases words of removed messages, as the last work of an erasure. */
    eraseWords: ErasureWork
    afterRemoval: (isLast: boolean) => Promise<void>
    afterErasure: (isLast: boolean) => Promise<void>
  }
}

/** The roles of records: the same on both databases. */
export function recordRoles(database: Database, parts: RecordParts) {
  const { encryption, action, hasErased, space } = parts
  const secret = secretRecords(database, encryption)
  const key = createErasureKey(secret)
  return {
    organizations: organizationRecords(database, parts.organization),
    usage: usageRecords(database, parts, parts.recount),
    domains: domainRecords(database, { encryption, get: parts.domain }),
    suppressions: findingErased(
      {
        ...suppressionRecords(database),
        list: parts.suppressions.list,
        among: async ({ organizationId, domainId, stream, mode }, emails) =>
          emails.length === 0
            ? new Map()
            : parts.suppressions.among({ organizationId, domainId, stream, mode, emails }),
      },
      { hasErased, key },
    ),
    retention: retentionRecords(database, space?.afterRemoval),
    erasures: erasureRecords(database, { encryption, key, space: space?.eraseWords, afterStep: space?.afterErasure }),
    addressRests: addressRestRecords(database),
    addressUses: addressUseRecords(database),
    dedicatedAddresses: dedicatedAddressRecords(database),
    warmups: warmupRecords(database),
    alerts: alertRecords(database),
    canaries: canaryRecords(database),
    relays: relayRecords(database),
    blockedLinks: blockedLinkRecords(database),
    apiKeys: apiKeyRecords(database),
    users: userRecords(database),
    factors: factorRecords(database, encryption),
    invitations: invitationRecords(database),
    singleSignOn: singleSignOnRecords(database),
    sessions: sessionRecords(database),
    templates: templateRecords(database),
    webhooks: webhookRecords(database, encryption),
    inboundRoutes: inboundRouteRecords(database, encryption),
    forwardTargets: forwardTargetRecords(database),
    quality: qualityRecords(database),
    mtaSts: mtaStsRecords(database),
    tlsSessions: tlsSessionRecords(database),
    policyReports: policyReportRecords(database),
    idempotency: idempotencyRecords(database),
    auditLog: auditRecords(database, action),
    secret,
  }
}
