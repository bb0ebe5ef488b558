import { arrivalOf, OWN_LISTENER } from '../../model/canary.ts'
import type { Verdicts } from '../../model/inbound-message.ts'
import type { Store } from '../../storage/store.ts'
import type { IncomingMail } from '../smtp-server/session.ts'
import type { Readers } from './readers.ts'
import type { RecipientTarget } from './recipient.ts'
import * as replies from './replies.ts'

/** The path of a mail that this server sent to itself: its arrival and its verdicts are stored, and the mail is not
 *  kept. Copies, and mail to the word of a canary that went to another mailbox, are accepted and ignored. Throws what the store
 *  throws. */
export async function receiveCanary(
  mail: IncomingMail<RecipientTarget>,
  canaryId: string,
  deps: {
    store: Pick<Store, 'canaries'>
    readers: Pick<Readers, 'read'>
    /** Absent: canaries are off. */
    canaryLateAfterMs?: number
  },
): Promise<string> {
  const { store, readers, canaryLateAfterMs } = deps
  const canary = await store.canaries.get(canaryId)
  if (canary === null || canary.mailbox !== OWN_LISTENER || canaryLateAfterMs === undefined) {
    return replies.FEEDBACK_ACCEPTED
  }
  const { helo, protocol, tls, remoteAddress } = mail.session
  const recipients = mail.recipients.map(({ spoken }) => spoken.address)
  const { verdicts } = await readers.read({
    envelope: { remoteAddress, helo, returnPath: mail.returnPath?.address ?? '', recipients, protocol, tls },
    receivedAt: mail.receivedAt,
    seals: [],
    forwardHeader: null,
    raw: await mail.open(),
  })
  const arrival = { at: mail.receivedAt, place: 'inbox' as const, fault: faultOf(verdicts) }
  await store.canaries.record(canaryId, arrivalOf(canary, arrival, canaryLateAfterMs))
  return replies.FEEDBACK_ACCEPTED
}

function faultOf({ spf, dkim, dmarc }: Verdicts): string | null {
  const failed = Object.entries({ spf, dkim, dmarc }).filter(([, verdict]) => verdict !== 'pass')
  return failed.length === 0 ? null : failed.map(([method, verdict]) => `${method}=${verdict}`).join(' ')
}
