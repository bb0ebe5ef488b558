import { type Mailbox, parseMailbox } from '../mail/address.ts'
import type { MailContent } from '../mail/content.ts'
import type { AsSent, Message } from '../model/message.ts'
import type { Addresses, SubmissionRequest } from './request.ts'

/** A message and its stored content → the request that submits the same mail to the same recipients once more, at
 *  once; Date, Message-ID and a time limit start anew. Stored addresses have been parsed before: one that cannot be is a
 *  bug and throws. */
export function requestAgain(message: Message, content: MailContent): SubmissionRequest {
  const startedAt = message.scheduledAt ?? message.createdAt
  return {
    from: { asSent: message.from, mailbox: content.from },
    to: addresses(message.to) ?? { asSent: [], mailboxes: [] },
    cc: addresses(message.cc),
    bcc: addresses(message.bcc),
    replyTo: addresses(message.replyTo),
    subject: content.subject,
    html: content.html,
    text: content.text,
    headers: content.headers,
    attachments: content.attachments,
    metadata: message.metadata,
    tags: message.tags,
    scheduledAt: null,
    expiresInSeconds:
      message.expiresAt === null ? null : Math.max(1, Math.ceil((message.expiresAt - startedAt) / 1000)),
    requireTls: message.requireTls,
  }
}

function addresses(asSent: AsSent): Addresses | null {
  return asSent === null ? null : { asSent, mailboxes: [asSent].flat().map(mailboxOf) }
}

function mailboxOf(text: string): Mailbox {
  const mailbox = parseMailbox(text)
  if (mailbox === null) throw new Error('a stored address cannot be parsed')
  return mailbox
}
