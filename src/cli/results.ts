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
