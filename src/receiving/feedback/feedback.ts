import type { Verp } from '../../mail/verp.ts'
import type { Delivery } from '../../model/delivery.ts'
import { messageEvent } from '../../model/event.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { Message } from '../../model/message.ts'
import { type ComplaintScope, suppressionOf } from '../../model/suppression.ts'
import { messageLeftOf } from '../../model/unsubscribable.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { LateRecord, Store } from '../../storage/store.ts'
import { type FeedbackAddress, recognizeAddress } from './address.ts'
import type { JudgeReply } from './bounce.ts'
import { deliveryTaggedIn, isComplaint } from './complaint.ts'
import type { ReportContent } from './content.ts'
import { isUnsubscribeRequest, judgeReport, unsubscribedFields } from './judge.ts'
import type { Judgement } from './judgement.ts'

export type { FeedbackAddress } from './address.ts'

/** Reports about mail that we sent: bounces, complaints, unsubscribe requests.
 *
 *  Lost: nothing. `take` resolves when everything is durable, and 250 follows after that.
 *  Twice: a repeated report for the same delivery is recognized by its digest, so a sender that missed the 250 may
 *  repeat it.
 *  Forged: only recipients of the mail know its keyed addresses; the report's From and sender are not trusted. Test
 *  mail is never sent, so reports about it are ignored.
 *  Flood: a delivery keeps a limited number of reports of each kind; further ones are accepted and dropped. */
export interface Feedback {
  /** Local part at a return path host → its purpose; null if it is not ours. */
  recognize(local: string): FeedbackAddress | null
  /** Applies a mail to such addresses. Throws only what the store throws. */
  take(mail: ReportMail): Promise<void>
}

/** A mail to our addresses at a return path host. */
export interface ReportMail {
  /** The reader's result (receiving/inbound/readers.ts): the mail itself is not parsed here. */
  content: ReportContent
  /** SHA-256 of the raw mail. */
  digest: Uint8Array
  remoteAddress: string
  receivedAt: number
  recipients: FeedbackAddress[]
  /** The registrable domain of its author, if SPF or DKIM of that domain passes; else null. Looks it up when called; call it
   *  before `take` has ended. */
  reporter: () => Promise<string | null>
}

/** Creates the Feedback from the store and the keyed tags of return paths. `judge` classifies a later server's reply
 *  (sending/outbound/outcome.ts). */
export function createFeedback(deps: {
  store: Pick<Store, 'deliveries'>
  verp: Verp
  mintId: MintId
  judge: JudgeReply
  complaintScope: ComplaintScope
  /** Called after the first complaint about a delivery is stored. */
  onComplaint?: (complaint: {
    messageId: string
    delivery: Delivery
    at: number
    reporter: ReportMail['reporter']
  }) => Promise<void>
  log: Log
  mailLog: Pick<MailLog, 'reported'>
  notify: Notify
}): Feedback {
  const { store, verp, mintId, judge, log } = deps

  /** Deliveries that the mail is about. A mail to no keyed address finds its delivery by a tag inside: a complaint, or
   *  a report of unknown form. */
  const concernsOf = (content: ReportContent, recipients: readonly FeedbackAddress[]): Concern[] => {
    const addressed = new Map<string, Concern>()
    for (const each of recipients) if (each.kind !== 'complaints') addressed.set(each.deliveryId, each)
    if (addressed.size > 0) return [...addressed.values()]
    const deliveryId = deliveryTaggedIn(content, verp)
    return deliveryId === null ? [] : [{ kind: 'complaints', deliveryId }]
  }

  const record = async (mail: ReportMail, content: ReportContent, concern: Concern, digest: Uint8Array) => {
    const { kind, deliveryId } = concern
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const subject = await store.deliveries.get(deliveryId)
      if (subject === null) {
        if (isUnsubscribeRequest(content, kind) && (await stop(deliveryId, mail.receivedAt))) return
        return log.info('report ignored: delivery no longer stored', { delivery_id: deliveryId })
      }
      if (subject.message.mode === 'test') return log.info('report ignored: test message', { delivery_id: deliveryId })
      const judgement = judgeReport(content, kind, mail.receivedAt, subject.delivery, judge)
      if (await isFull(subject, judgement))
        return log.info('report ignored: limit per delivery reached', { delivery_id: deliveryId })
      const written = await store.deliveries.recordLate(toRecord(mail, subject, judgement, digest))
      if (written === 'changed') continue // an attempt ended in between: apply the report to the new state
      if (written === 'recorded') {
        notify(subject, judgement)
        if (judgement.suppress === 'complaint') await complained(subject, mail)
      }
      return
    }
    throw new Error(`cannot record a report of delivery ${deliveryId}: the delivery keeps changing`)
  }

  /** The complaint itself is stored; its sender must not repeat it because of what follows. */
  const complained = async ({ delivery, message }: Subject, { receivedAt: at, reporter }: ReportMail) => {
    if (deps.onComplaint === undefined) return
    try {
      const stored = await store.deliveries.reports(message.id)
      const ours = stored.filter(({ email, report }) => email === delivery.email && isComplaint(report))
      if (ours.length === 1) await deps.onComplaint({ messageId: message.id, delivery, at, reporter })
    } catch (error) {
      log.warn('complaint not counted for the sending address', { delivery_id: delivery.id, error })
    }
  }

  /** An unsubscribe request that came after its delivery was removed; false when its recipient is no longer known. */
  const stop = async (deliveryId: string, at: number): Promise<boolean> => {
    const kept = await store.deliveries.unsubscribable(deliveryId)
    if (kept === null) return false
    const message = messageLeftOf(kept)
    const fields = unsubscribedFields(at)
    const event = messageEvent(mintId('evt'), 'message.unsubscribed', message, kept.email, at, fields)
    const suppressed = suppressionOf(mintId('sup'), 'unsubscribe', message, kept.email, at)
    if ((await store.deliveries.recordUnsubscribable(deliveryId, event, suppressed)) === 'recorded') {
      deps.mailLog.reported({ message: kept.messageId, delivery: deliveryId, kind: 'unsubscribe', status: null })
      deps.notify('webhook deliveries')
    }
    return true
  }

  /** Whether enough reports of that kind are stored; their effects have already happened. */
  const isFull = async ({ delivery, message }: Subject, { report }: Judgement): Promise<boolean> => {
    const known = await store.deliveries.reports(message.id)
    return (
      known.filter((each) => each.email === delivery.email && each.report.kind === report.kind).length >=
      FIXED_LIMITS.reportsOfKind
    )
  }

  const toRecord = (mail: ReportMail, { delivery, message }: Subject, judgement: Judgement, digest: Uint8Array) => {
    const { change, event, suppress, report } = judgement
    const at = mail.receivedAt
    const isForAll = suppress === 'complaint' && deps.complaintScope === 'all'
    const stopped = isForAll ? { ...message, stream: null } : message
    const record: LateRecord = {
      deliveryId: delivery.id,
      report: { ...report, reporter: report.reporter ?? mail.remoteAddress, receivedAt: at, digest },
      expected: delivery.status,
      change,
      events:
        event === null ? [] : [messageEvent(mintId('evt'), event.type, message, delivery.email, at, event.fields)],
      suppression: suppress === null ? null : suppressionOf(mintId('sup'), suppress, stopped, delivery.email, at),
      now: at,
    }
    return record
  }

  const notify = ({ delivery, message }: Subject, { report, event }: Judgement) => {
    deps.mailLog.reported({ message: message.id, delivery: delivery.id, kind: report.kind, status: report.status })
    if (event === null) return
    deps.notify('webhook deliveries')
    deps.notify(`message ${message.id}`)
  }

  return {
    recognize: (local) => recognizeAddress(local, verp),
    take: async (mail) => {
      const { content, digest } = mail
      if (content.kind === 'unreadable') log.warn('report unreadable', { address: mail.remoteAddress })
      const concerns = concernsOf(content, mail.recipients)
      if (concerns.length === 0) log.info('report ignored: no known return path', { address: mail.remoteAddress })
      for (const concern of concerns) await record(mail, content, concern, digest)
    },
  }
}

/** More rounds than a delivery has states. */
const MAX_TURNS = 5

/** A delivery that a mail is about, and the kind of address used. */
type Concern = { kind: FeedbackAddress['kind']; deliveryId: string }
type Subject = { delivery: Delivery; message: Message }
