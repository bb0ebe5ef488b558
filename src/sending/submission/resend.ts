import { type Mailbox, parseMailbox } from '../../mail/address.ts'
import { unpackContent } from '../../mail/content.ts'
import { withoutFields } from '../../mail/field-ranges.ts'
import { isMime, unpackMime } from '../../mail/mime-content.ts'
import { type AsSent, type Message, senderFieldsOf } from '../../model/message.ts'
import type { Addresses, SubmissionRequest } from './request.ts'

/** A message and its stored content → a request for the same mail to the same recipients, at once. Date, Message-ID and
 *  time limit are new: with the old ones, receivers would treat it as a duplicate. Stored addresses were parsed before,
 *  so an address that cannot be parsed is a bug and throws, as damaged content does. */
export function requestAgain(message: Message, content: Uint8Array): SubmissionRequest {
  const startedAt = message.scheduledAt ?? message.createdAt
  return {
    ...senderFieldsOf(message),
    from: { asSent: message.from, mailbox: mailboxOf(message.from) },
    to: addresses(message.to) ?? { asSent: [], mailboxes: [] },
    cc: addresses(message.cc),
    bcc: addresses(message.bcc),
    replyTo: addresses(message.replyTo),
    replies: message.replies && { route: message.replies.routeId, name: message.replies.name },
    subject: message.subject,
    ...contentAgain(content),
    template: message.templateId === null ? null : { id: message.templateId },
    scheduledAt: null,
    expiresInSeconds:
      message.expiresAt === null ? null : Math.max(1, Math.ceil((message.expiresAt - startedAt) / 1000)),
    unsubscribe: message.unsubscribe,
    trackOpens: message.trackOpens,
    trackClicks: message.trackClicks,
  }
}

type Content = Pick<SubmissionRequest, 'html' | 'text' | 'headers' | 'attachments' | 'mime'>

function contentAgain(content: Uint8Array): Content {
  if (!isMime(content)) {
    const { html, text, headers, attachments } = unpackContent(content)
    return { html, text, headers, attachments, mime: null }
  }
  const bytes = withoutFields(unpackMime(content), ({ key }) => key === 'date' || key === 'message-id')
  return { html: null, text: null, headers: [], attachments: [], mime: { bytes, messageId: null, hasDate: false } }
}

function addresses(asSent: AsSent): Addresses | null {
  return asSent === null ? null : { asSent, mailboxes: [asSent].flat().map(mailboxOf) }
}

function mailboxOf(text: string): Mailbox {
  const mailbox = parseMailbox(text)
  if (mailbox === null) throw new Error('a stored address cannot be parsed')
  return mailbox
}
