import { messageOf, type NodemailerMail } from './nodemailer-message.ts'
import { Postrider, type PostriderOptions } from './postrider.ts'
import { VERSION } from './routes.ts'
import type { AcceptedMessage } from './types.ts'

/** Result of `sendMail`. `messageId` is Postrider's: `msg_…`. */
export interface PostriderSent {
  envelope: { from: string | false; to: string[] }
  messageId: string
  status: AcceptedMessage['status']
  accepted: string[]
  /** Suppressed recipients, who receive nothing. */
  rejected: string[]
  response: string
}

/** For nodemailer's `createTransport(postriderTransport({ baseUrl, apiKey }))`: sends mail through the API, with the
 *  client's retries. Headers set tags, metadata, an idempotency key and List-Unsubscribe, as with SMTP
 *  (`X-Service-Tags`, …). Options that the API does not support are rejected with a PostriderError and nothing is
 *  sent. Throws a TypeError as `new Postrider` does. */
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

    /** Checks that the server accepts the key. A send-only key cannot read, which is also proof that it is valid. */
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
