import { createHash } from 'node:crypto'
import { readFeedbackReport } from '../mail/arf.ts'
import { isAutoReply } from '../mail/auto-reply.ts'
import { readDsn } from '../mail/dsn.ts'
import { readHeaderFields } from '../mail/header-fields.ts'
import type { Verp } from '../mail/verp.ts'
import type { Delivery } from '../model/delivery.ts'
import { iso, messageEvent } from '../model/event.ts'
import type { Message } from '../model/message.ts'
import { type Suppression, type SuppressionReason, suppressionKey } from '../model/suppression.ts'
import type { MintId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { MailLog } from '../platform/maillog.ts'
import type { LateRecord, Store } from '../storage/store.ts'
import { type FeedbackAddress, recognizeAddress } from './address.ts'
import { type JudgeReply, judgeDsn } from './bounce.ts'
import { deliveryComplainedOf, judgeComplaint } from './complaint.ts'
import { type Judgement, onlyKept } from './judgement.ts'

export type { FeedbackAddress } from './address.ts'

/** What the world says about mail that we sent: bounces, complaints, pleas to stop.
 *
 *  Lost   nothing: `take` resolves when all of it is durable, and the door answers 250 after that.
 *  Twice  the same report for the same delivery is one (by its digest), so a sender that saw no 250 may repeat it.
 *  Forged only whoever has seen the mail knows its keyed addresses; From, subject and sender of a report prove
 *         nothing and are not looked at. */
export interface Feedback {
  /** Local part at the host of a return path → what it is for; null when it is none of ours. */
  recognize(local: string): FeedbackAddress | null
  /** Mail to such addresses → what follows of it. Throws only what the store throws. */
  take(mail: ReportMail): Promise<void>
}

export interface ReportMail {
  raw: Uint8Array
  /** Empty = the null return path. */
  returnPath: string
  remoteAddress: string
  receivedAt: number
  recipients: FeedbackAddress[]
}

export function createFeedback(deps: {
  store: Pick<Store, 'deliveries'>
  verp: Verp
  mintId: MintId
  judge: JudgeReply
  log: Log
  mailLog: Pick<MailLog, 'reported'>
  wakeWebhooks: () => void
  /** Something happened to the message. */
  onChange: (messageId: string) => void
}): Feedback {
  const { store, verp, mintId, judge, log } = deps

  /** Whom the mail speaks of. A complaint finds its delivery by the tag inside it, wherever it was sent to. */
  const subjectsOf = (mail: ReportMail): string[] => {
    const ids = mail.recipients.flatMap((each) => (each.kind === 'complaints' ? [] : [each.deliveryId]))
    if (ids.length > 0) return [...new Set(ids)]
    const complaint = readFeedbackReport(mail.raw)
    const id = complaint === null ? null : deliveryComplainedOf(complaint, verp)
    return id === null ? [] : [id]
  }

  const kindFor = (mail: ReportMail, deliveryId: string) =>
    mail.recipients.find((each) => each.kind !== 'complaints' && each.deliveryId === deliveryId)?.kind ?? 'complaints'

  const tell = async (mail: ReportMail, deliveryId: string, digest: Uint8Array): Promise<void> => {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const subject = await store.deliveries.get(deliveryId)
      if (subject === null) return log.info('report of a delivery that is no longer kept', { delivery_id: deliveryId })
      const judgement = judgeMail(mail, kindFor(mail, deliveryId), subject.delivery, judge)
      const written = await store.deliveries.recordLate(toRecord(mail, subject, judgement, digest))
      if (written === 'changed') continue // an attempt ended in between: judge what it is now
      if (written === 'recorded') tellOthers(subject, judgement)
      return
    }
    throw new Error(`delivery ${deliveryId} changes faster than its report can be written`)
  }

  const toRecord = (mail: ReportMail, { delivery, message }: Subject, judgement: Judgement, digest: Uint8Array) => {
    const { change, event, suppress, report } = judgement
    const at = mail.receivedAt
    const record: LateRecord = {
      deliveryId: delivery.id,
      report: { ...report, receivedAt: at, digest },
      expected: delivery.status,
      change,
      events:
        event === null ? [] : [messageEvent(mintId('evt'), event.type, message, delivery.email, at, event.fields)],
      suppression: suppress === null ? null : suppression(mintId('sup'), suppress, message, delivery.email, at),
      now: at,
    }
    return record
  }

  const tellOthers = ({ delivery, message }: Subject, { report, event }: Judgement) => {
    deps.mailLog.reported({ message: message.id, delivery: delivery.id, kind: report.kind, status: report.status })
    if (event === null) return
    deps.wakeWebhooks()
    deps.onChange(message.id)
  }

  return {
    recognize: (local) => recognizeAddress(local, verp),
    take: async (mail) => {
      const digest = createHash('sha256').update(mail.raw).digest()
      const subjects = subjectsOf(mail)
      if (subjects.length === 0) log.info('report without a tag of ours', { address: mail.remoteAddress })
      for (const deliveryId of subjects) await tell(mail, deliveryId, digest)
    },
  }
}

/** More turns than a delivery has states to go through. */
const MAX_TURNS = 5

type Subject = { delivery: Delivery; message: Message }

/** What the mail is, in the order of what is most certain. */
function judgeMail(mail: ReportMail, kind: FeedbackAddress['kind'], delivery: Delivery, judge: JudgeReply): Judgement {
  const { raw, receivedAt } = mail
  const complaint = readFeedbackReport(raw)
  if (complaint !== null) return judgeComplaint(complaint, receivedAt)
  const dsn = readDsn(raw)
  const isAutomatic = mail.returnPath === '' || isAutoReply(readHeaderFields(raw).fields)
  if (kind === 'unsubscribe') {
    if (dsn !== null || isAutomatic) return onlyKept({ kind: 'auto_reply', reporter: mail.remoteAddress })
    return unsubscribed(mail)
  }
  if (dsn !== null) return judgeDsn(dsn, delivery, receivedAt, judge)
  return onlyKept({ kind: isAutomatic ? 'auto_reply' : 'other', reporter: mail.remoteAddress })
}

/** RFC 2369 §3.2: the mail itself is the request, whatever it says. */
function unsubscribed({ remoteAddress, receivedAt }: ReportMail): Judgement {
  const fields = { unsubscribed_at: iso(receivedAt), method: 'mailto', user_agent: null, ip_address: null }
  const kept = onlyKept({ kind: 'unsubscribe', reporter: remoteAddress })
  return { ...kept, event: { type: 'message.unsubscribed', fields }, suppress: 'unsubscribe' }
}

/** Who complains or stops says so to the sender's domain; an address that does not exist exists for nobody. */
function suppression(id: string, reason: SuppressionReason, message: Message, email: string, at: number): Suppression {
  return {
    id,
    organizationId: message.organizationId,
    domainId: reason === 'hard_bounce' ? null : message.domainId,
    email: suppressionKey(email),
    reason,
    messageId: message.id,
    createdAt: at,
  }
}
