import type { Answers, Lists as ClientLists } from '../client/answers.ts'
import type { Page } from '../client/pages.ts'
import type { Deletion, User } from '../client/types.ts'
import type { MailObstacle } from '../sending/submission/user-mail.ts'
import type { alertRecord, channelRecord, testRecord } from '../web/api/routes/alerts.ts'
import type { blockedLinkRecord } from '../web/api/routes/blocked-links.ts'
import type { canaryRecord } from '../web/api/routes/canary.ts'
import type { organizationRecord } from '../web/api/routes/organizations.ts'
import type { relayRecord } from '../web/api/routes/relays.ts'
import type { sendingAddressRecord } from '../web/api/routes/sending-addresses.ts'

/** Response body of each API operation. The types are generated from the OpenAPI document, except for the operations that
 *  are only for the operator: the client does not have them. */
export interface Results extends Answers, ListResults {
  alerts_list: { data: ReturnType<typeof alertRecord>[]; channels: ReturnType<typeof channelRecord>[] }
  alerts_silence: ReturnType<typeof alertRecord>
  alerts_test: { data: ReturnType<typeof testRecord>[] }
  canary_list: {
    every_minutes: number
    data: { mailbox: string; canaries: ReturnType<typeof canaryRecord>[] }[]
  }
  canary_run: { data: ReturnType<typeof canaryRecord>[] }
  blocked_links_create: BlockedLinkRecord
  blocked_links_delete: Deletion
  organizations_create: OrganizationRecord
  organizations_update: OrganizationRecord
  relays_list: { data: ReturnType<typeof relayRecord>[] }
  sending_addresses_list: { data: ReturnType<typeof sendingAddressRecord>[] }
  users_create: User
  users_reset: PasswordLink
}

/** Operations of commands that no API key can call. */
export const FOR_OPERATOR: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(['alerts_list', 'alerts_silence', 'alerts_test', 'canary_list', 'canary_run'] as const),
  ...(['relays_list', 'sending_addresses_list'] as const),
  ...(['blocked_links_create', 'blocked_links_delete', 'blocked_links_list'] as const),
  ...(['organizations_create', 'organizations_list', 'organizations_update', 'users_create', 'users_reset'] as const),
])

/** Record type of each list. */
export interface Lists extends ClientLists {
  blocked_links_list: BlockedLinkRecord
  organizations_list: OrganizationRecord
}

type ListResults = { [Id in keyof Lists]: Page<Lists[Id]> }

export type OperationName = keyof Results
export type ListName = keyof Lists

/** A link that sets a password. */
export interface PasswordLink {
  id: string
  url: string
  expires_at: string
  mail_queued: boolean
  /** Null: a mail is queued. */
  mail_reason: MailObstacle | null
}

export type BlockedLinkRecord = ReturnType<typeof blockedLinkRecord>
export type OrganizationRecord = ReturnType<typeof organizationRecord>
