import { messageOf, type NodemailerMail } from './nodemailer-message.ts'
import { Postrider, type PostriderOptions } from './postrider.ts'
import { VERSION } from './routes.ts'
import type { AcceptedMessage } from './types.ts'

/** Result of `sendMail`. */
export interface PostriderSent {
  envelope: { from: string | false; to: string[] }
  /** The message's ID in Postrider: `msg_…`. */
  messageId: string
  status: AcceptedMessage['status']
  /** Addresses of the recipients that get the message. */
  accepted: string[]
  /** Addresses of suppressed recipients, which do not get the message. */
  rejected: string[]
  response: string
}

/** A transport for nodemailer that sends mail through the API, with the client's retries:
 *  `createTransport(postriderTransport({ baseUrl, apiKey }))`. As with SMTP, `X-Service-…` headers set tags, metadata,
 *  an idempotency key, List-Unsubscribe, the stream and the route of replies. `sendMail` rejects with a
 *  `ValidationError`, and sends nothing, if the mail has an option that the API does not support. Throws a TypeError if
 *  URL or key is missing or invalid. */
export function postriderTransport(options: PostriderOptions = {}) {
  const client = new Postrider(options)
  return {
    name: 'Postrider',
    version: VERSION,
    supportsAbortSignal: true,

    send(mail: NodemailerMail, done: (error: Error | null, sent: PostriderSent) => void): void {
      submit(client, mail).then(
        (sent) => done(null, sent),
        (error) => done(error, undefined as never),
      )
    },

    /** Checks that the server accepts the key. A key without `read` gets 403, which also proves that the key is valid.
     *  Without a callback, rejects with the PostriderError. */
    async verify(done?: (error: Error | null, isRight?: true) => void): Promise<true> {
      const { error } = await client.usage.get().safe()
      const fault = error === null || error.code === 'forbidden' ? null : error
      if (done !== undefined) done(fault, fault === null ? true : undefined)
      else if (fault !== null) throw fault
      return true
    },
  }
}

async function submit(client: Postrider, mail: NodemailerMail): Promise<PostriderSent> {
  const envelope = mail.message.getEnvelope()
  const { message, idempotencyKey } = await messageOf(mail)
  const answer = await client.messages.send(message, {
    idempotencyKey: idempotencyKey ?? undefined,
    signal: 'signal' in mail.data && mail.data.signal instanceof AbortSignal ? mail.data.signal : undefined,
  })
  const of = (isRejected: boolean) =>
    answer.recipients.filter(({ status }) => (status === 'suppressed') === isRejected).map(({ email }) => email)
  return {
    envelope,
    messageId: answer.id,
    status: answer.status,
    accepted: of(false),
    rejected: of(true),
    response: `202 ${answer.status} as ${answer.id}`,
  }
}
