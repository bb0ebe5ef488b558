import { messageOf, type NodemailerMail } from './nodemailer-message.ts'
import { Postrider, type PostriderOptions } from './postrider.ts'
import { VERSION } from './routes.ts'
import type { AcceptedMessage } from './types.ts'

/** What `sendMail` gives. `messageId` is Postrider's: `msg_…`. */
export interface PostriderSent {
  envelope: { from: string | false; to: string[] }
  messageId: string
  status: AcceptedMessage['status']
  accepted: string[]
  /** On the list of suppressed addresses: these get nothing. */
  rejected: string[]
  response: string
}

/** For `createTransport(postriderTransport({ baseUrl, apiKey }))` of nodemailer: mail goes by the API, with all that the
 *  client does about broken connections. Tags, metadata, an idempotency key and a List-Unsubscribe are asked for by the
 *  headers that SMTP has for them (`X-Service-Tags`, …). What the API cannot carry is refused with a PostriderError, and
 *  nothing is sent. Throws a TypeError as `new Postrider` does. */
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

    /** Whether the server knows the key. One that may only send may not read, which is an answer too. */
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
    signal: mail.data.signal,
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
