import type { Delivery } from '../../model/delivery.ts'
import { iso } from '../../model/event.ts'
import type { FeedbackAddress } from './address.ts'
import { type JudgeReply, judgeDsn } from './bounce.ts'
import { judgeComplaint } from './complaint.ts'
import type { ReportContent } from './content.ts'
import { type Judgement, onlyKept } from './judgement.ts'

/** Mail content, the delivery's address it came to and when, and the delivery → its effect. Never throws. */
export function judgeReport(
  content: ReportContent,
  addressKind: FeedbackAddress['kind'],
  receivedAt: number,
  delivery: Delivery,
  judgeReply: JudgeReply,
): Judgement {
  switch (content.kind) {
    case 'complaint':
      return judgeComplaint(content.complaint, receivedAt)
    case 'dsn':
      // The other addresses are never used as return paths, so delivery reports do not belong there.
      if (addressKind !== 'bounce') return onlyKept({ kind: 'other' })
      return judgeDsn(content.dsn, delivery, receivedAt, judgeReply)
    case 'auto_reply':
      return onlyKept({ kind: 'auto_reply' })
    case 'unreadable':
      return onlyKept({ kind: 'other' })
    case 'notice':
      return onlyKept({ kind: 'other', diagnostic: content.unclassified.excerpt })
    case 'other':
      if (isUnsubscribeRequest(content, addressKind)) return unsubscribed(receivedAt)
      return onlyKept({ kind: 'other', diagnostic: content.unclassified.excerpt })
  }
}

/** RFC 2369 §3.2: the mail itself is the request, whatever its text, unless a mail system wrote it. */
export function isUnsubscribeRequest(content: ReportContent, addressKind: FeedbackAddress['kind']): boolean {
  return content.kind === 'other' && addressKind === 'unsubscribe'
}

/** Time (ms UTC) of an unsubscribe request by mail → the fields of its event, without browser data. */
export function unsubscribedFields(at: number) {
  return { unsubscribed_at: iso(at), method: 'mailto', user_agent: null, ip_address: null }
}

function unsubscribed(at: number): Judgement {
  const event = { type: 'message.unsubscribed' as const, fields: unsubscribedFields(at) }
  return { ...onlyKept({ kind: 'unsubscribe' }), event, suppress: 'unsubscribe' }
}
