import type { Report } from '../../model/report.ts'
import type { Connection } from './driver.ts'

const ADD = `insert into reports (delivery_number, digest, kind, received_at, reporter, status, diagnostic, cause,
    feedback_type)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`
const IS_KNOWN = 'select 1 from reports where delivery_number = ? and digest = ?'
const OF_MESSAGE = `select d.email, r.kind, r.received_at as receivedAt, r.digest, r.reporter, r.status, r.diagnostic,
    r.cause, r.feedback_type as feedbackType
  from messages m join deliveries d on d.message_number = m.number join reports r on r.delivery_number = d.number
  where m.id = ? order by r.received_at, r.number`

/** Late reports about deliveries. */
export interface Reports {
  /** Call it inside the change that acts on the report. */
  add(deliveryNumber: number, report: Report): void
  isKnown(deliveryNumber: number, digest: Uint8Array): boolean
  /** Reports of all recipients, oldest first. */
  ofMessage(messageId: string): { email: string; report: Report }[]
}

export function sqliteReports(db: Connection): Reports {
  const add = db.prepare(ADD)
  const isKnown = db.prepare(IS_KNOWN)
  const ofMessage = db.prepare<unknown[], Row>(OF_MESSAGE)
  return {
    add: (deliveryNumber, { digest, kind, receivedAt, reporter, status, diagnostic, cause, feedbackType }) => {
      const packedCause = cause === null ? null : JSON.stringify(cause)
      add.run(deliveryNumber, digest, kind, receivedAt, reporter, status, diagnostic, packedCause, feedbackType)
    },
    isKnown: (deliveryNumber, digest) => isKnown.get(deliveryNumber, digest) !== undefined,
    ofMessage: (messageId) =>
      ofMessage.all(messageId).map(({ email, digest, cause, ...rest }) => ({
        email,
        report: { ...rest, digest: new Uint8Array(digest), cause: cause === null ? null : JSON.parse(cause) },
      })),
  }
}

type Row = Omit<Report, 'cause'> & { email: string; cause: string | null }
