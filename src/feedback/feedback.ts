import type { Verp } from '../mail/verp.ts'
import type { Delivery } from '../model/delivery.ts'
import { messageEvent } from '../model/event.ts'
import { FIXED_LIMITS } from '../model/limits.ts'
import type { Message } from '../model/message.ts'
import { suppressionOf } from '../model/suppression.ts'
import { messageLeftOf } from '../model/unsubscribable.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { LateRecord, Store } from '../storage/store.ts'
import { type FeedbackAddress, recognizeAddress } from './address.ts'
import type { JudgeReply } from './bounce.ts'
import { deliveryTaggedIn } from './complaint.ts'
import type { ReportContent } from './content.ts'
import { isPlea, judgeReport, unsubscribedFields } from './judge.ts'
import type { Judgement } from './judgement.ts'

export type { FeedbackAddress } from './address.ts'

/** What the world says about mail that we sent: bounces, complaints, pleas to stop.
 *
 *  Lost   nothing: `take` resolves when all of it is durable, and the door answers 250 after that.
 *  Twice  the same report for the same delivery is one (by its digest), so a sender that saw no 250 may repeat it.
 *  Forged only whoever has seen the mail knows its keyed addresses; From and sender of a report prove nothing and are
 *         not looked at. Test mail never left the house, so nothing can come back of it, and nothing does.
 *  Flood  of one kind a delivery keeps a number of reports; more are taken and dropped. */
export interface Feedback {
  /** Local part at the host of a return path → what it is for; null when it is none of ours. */
  recognize(local: string): FeedbackAddress | null
  /** Mail to such addresses → what follows of it. Throws only what the store throws. */
  take(mail: ReportMail): Promise<void>
}

/** A mail to addresses of ours at a return path's host. */
export interface ReportMail {
  /** What a reader found in it (inbound/readers.ts): nothing here looks at the mail itself. */
  content: ReportContent
  /** SHA-256 of the raw mail. */
  digest: Uint8Array
  remoteAddress: string
  receivedAt: number
  recipients: FeedbackAddress[]
}

/** Store and the keyed tags of return paths → Feedback. `judge`: what a later server's reply means (outbound/outcome.ts). */
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

  /** Whom the mail speaks of. What came to no keyed address finds its delivery by the tag inside it: a complaint, or a report
   *  in no known form. */
  const concernsOf = (content: ReportContent, recipients: readonly FeedbackAddress[]): Concern[] => {
    const addressed = new Map<string, Concern>()
    for (const each of recipients) if (each.kind !== 'complaints') addressed.set(each.deliveryId, each)
    if (addressed.size > 0) return [...addressed.values()]
    const deliveryId = deliveryTaggedIn(content, verp)
    return deliveryId === null ? [] : [{ kind: 'complaints', deliveryId }]
  }

  const tell = async (mail: ReportMail, content: ReportContent, concern: Concern, digest: Uint8Array) => {
    const { kind, deliveryId } = concern
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const subject = await store.deliveries.get(deliveryId)
      if (subject === null) {
        if (isPlea(content, kind) && (await stop(deliveryId, mail.receivedAt))) return
        return log.info('report of a delivery that is no longer kept', { delivery_id: deliveryId })
      }
      if (subject.message.mode === 'test') return log.info('report of test mail', { delivery_id: deliveryId })
      const judgement = judgeReport(content, kind, mail.receivedAt, subject.delivery, judge)
      if (await isFull(subject, judgement)) return log.info('one report too many', { delivery_id: deliveryId })
      const written = await store.deliveries.recordLate(toRecord(mail, subject, judgement, digest))
      if (written === 'changed') continue // an attempt ended in between: judge what it is now
      if (written === 'recorded') tellOthers(subject, judgement)
      return
    }
    throw new Error(`delivery ${deliveryId} changes faster than its report can be written`)
  }

  /** A plea to stop that came after its delivery was removed: false when it is too late to know whose it is. */
  const stop = async (deliveryId: string, at: number): Promise<boolean> => {
    const kept = await store.deliveries.unsubscribable(deliveryId)
    if (kept === null) return false
    const message = messageLeftOf(kept)
    const fields = unsubscribedFields(at)
    const event = messageEvent(mintId('evt'), 'message.unsubscribed', message, kept.email, at, fields)
    const suppressed = suppressionOf(mintId('sup'), 'unsubscribe', message, kept.email, at)
    if ((await store.deliveries.recordUnsubscribable(deliveryId, event, suppressed)) === 'told') {
      deps.mailLog.reported({ message: kept.messageId, delivery: deliveryId, kind: 'unsubscribe', status: null })
      deps.wakeWebhooks()
    }
    return true
  }

  /** Enough of that kind are there, so whatever follows of it has followed. */
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
    const record: LateRecord = {
      deliveryId: delivery.id,
      report: { ...report, reporter: report.reporter ?? mail.remoteAddress, receivedAt: at, digest },
      expected: delivery.status,
      change,
      events:
        event === null ? [] : [messageEvent(mintId('evt'), event.type, message, delivery.email, at, event.fields)],
      suppression: suppress === null ? null : suppressionOf(mintId('sup'), suppress, message, delivery.email, at),
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
      const { content, digest } = mail
      if (content.kind === 'unread') log.warn('report could not be read', { address: mail.remoteAddress })
      const concerns = concernsOf(content, mail.recipients)
      if (concerns.length === 0) log.info('report without a tag of ours', { address: mail.remoteAddress })
      for (const concern of concerns) await tell(mail, content, concern, digest)
    },
  }
}

/** More turns than a delivery has states to go through. */
const MAX_TURNS = 5

/** A delivery that a mail speaks of, and which address of it the mail came to. */
type Concern = { kind: FeedbackAddress['kind']; deliveryId: string }
type Subject = { delivery: Delivery; message: Message }
