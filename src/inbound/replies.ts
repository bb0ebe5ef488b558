import { replyText, SmtpReply } from '../smtp-server/reply.ts'

/** Every answer of the inbound door: code, enhanced status code (RFC 3463) and text together. A 5yz ends the mail for
 *  good, so each says enough for its author to know why. A store that cannot write and a bug are answered by the
 *  listener, for every door alike. */

/** The domain is none of ours: we carry mail for nobody else, in whatever form the address is written. */
export const relayDenied = (address: string) =>
  new SmtpReply(550, '5.7.1', replyText(`<${address}>: we do not relay mail for this domain`))

/** The domain is ours and nobody reads mail there, or a return path that we never gave out. */
export const noSuchRecipient = (address: string) =>
  new SmtpReply(550, '5.1.1', replyText(`<${address}>: no such recipient`))

/** RFC 5321 §4.5.3.1.10: the client brings this recipient in a transaction of its own, and does so without being told. */
export const ownTransaction = () =>
  new SmtpReply(452, '4.5.3', 'this recipient has other rules than those before it, send its mail by itself')

/** The client's network has used up what it may do in a while (network-limits.ts). RFC 3463 §3.8: 4.7.1, refused for now by
 *  policy; the sender's server tries again. */
export const tooManyConnections = new SmtpReply(421, '4.7.0', 'too many connections from your network, try again later')
export const tooManyMails = new SmtpReply(451, '4.7.1', 'too much mail from your network, try again later')
export const tooManyUnknown = new SmtpReply(
  451,
  '4.7.1',
  'too many unknown recipients from your network, try again later',
)
/** The organization may store nothing more until retention has removed something. Contract §7: full is 452 4.3.1. */
export const storageFull = () => new SmtpReply(452, '4.3.1', 'the recipient may not store more mail, try again later')

/** The day's forwards or the month's messages of the organization are used up. */
export const forwardsUsedUp = () =>
  new SmtpReply(452, '4.7.1', 'the recipient has forwarded as much as it may, try again later')

/** An alert stops what the organization sends, and so what it would send on. */
export const sendingStopped = () =>
  new SmtpReply(451, '4.7.1', 'the recipient may not forward mail at present, try again later')

/** The mail has been here before, or has been round too often (RFC 5321 §6.3). */
export const loopDetected = (why: string) => new SmtpReply(554, '5.4.6', `mail loop detected: ${why}`)

/** The route asks for proof of the author's domain and there is none. `why` as authentication words it. */
export const notAuthenticated = (why: string) => new SmtpReply(550, '5.7.1', replyText(`not accepted: ${why}`))

/** The DNS does not tell at present whether there is proof. */
export const cannotAuthenticate = () =>
  new SmtpReply(451, '4.7.0', 'the author domain cannot be authenticated at present, try again later')

/** Reading it ended two readers, or took them too long. The next time it is taken as it is. */
export const cannotRead = () => new SmtpReply(451, '4.3.0', 'this mail could not be read, try again later')

/** What was under way while the server stops. */
export const stopping = () => new SmtpReply(451, '4.3.2', 'this server is stopping, try again later')

/** Text behind `250 2.0.0 ` for what became these inbound messages; at least one. */
export const accepted = (ids: readonly string[]): string =>
  ids.length === 1 ? `${ids[0]} accepted` : `${ids[0]} and ${ids.length - 1} more accepted`

/** The same for what came back to a return path. */
export const FEEDBACK_ACCEPTED = 'report accepted'
