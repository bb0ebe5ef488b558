import { parseMailbox } from '../../src/mail/address.ts'
import { PLAIN, type SubmissionRequest } from '../../src/sending/submission/request.ts'

/** Text → an address of a request. */
export const address = (text: string) => ({ asSent: text, mailbox: parseMailbox(text)! })

/** Texts → the recipients of a request. */
export const addresses = (...texts: string[]) => ({
  asSent: texts,
  mailboxes: texts.map((text) => parseMailbox(text)!),
})

/** A request with a text for one recipient, and with the neutral value of every other field. */
export function requestOf(change: Partial<SubmissionRequest> = {}): SubmissionRequest {
  return {
    ...PLAIN,
    from: address('shop@example.com'),
    to: addresses('ann@remote.example'),
    subject: 'Hello',
    text: 'Hi',
    unsubscribe: null,
    trackOpens: null,
    trackClicks: null,
    ...change,
  }
}
