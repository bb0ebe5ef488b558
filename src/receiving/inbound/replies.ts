import { replyText, SmtpReply } from '../smtp-server/reply.ts'

/** All replies of the inbound handler: code, enhanced status code (RFC 3463) and text. A 5yz returns the mail to its
 *  author, so each text gives the reason. The listener replies to bugs and store failures itself. */

/** The domain is not ours; we do not relay, in whatever form the address is written. */
export const relayDenied = (address: string) => new SmtpReply(550, '5.7.1', replyText(`<${address}>: relaying denied`))

/** The domain is ours, but the address does not exist or is a return path we never issued. */
export const noSuchRecipient = (address: string) =>
  new SmtpReply(550, '5.1.1', replyText(`<${address}>: no such recipient`))

/** The client sends this recipient in another transaction on its own. RFC 5321 §4.5.3.1.10 */
export const ownTransaction = () =>
  new SmtpReply(452, '4.5.3', 'recipient requires different handling, send in a separate transaction')

/** The client's network exceeded a rate limit (network-limits.ts). 4.7.1, refused by policy for now (RFC 3463 §3.8);
 *  the sending server retries. */
export const tooManyConnections = new SmtpReply(421, '4.7.0', 'too many connections from your network, try again later')
export const tooManyMails = new SmtpReply(451, '4.7.1', 'too many messages from your network, try again later')
export const tooManyUnknown = new SmtpReply(
  451,
  '4.7.1',
  'too many unknown recipients from your network, try again later',
)
/** The organization's storage is full until retention removes something. */
export const storageFull = () => new SmtpReply(452, '4.3.1', 'recipient storage limit reached, try again later')

/** The organization used up its daily forwards or monthly messages. */
export const forwardsUsedUp = () => new SmtpReply(452, '4.7.1', 'recipient forwarding limit reached, try again later')

/** A domain that is verified by another record may have no key for the ARC seal of its forwards. */
export const noSeal = (domain: string) =>
  new SmtpReply(451, '4.7.1', replyText(`${domain} has no published RSA key to forward with, try again later`))

/** An alert stops the organization's sending, which includes forwards. */
export const sendingStopped = () =>
  new SmtpReply(451, '4.7.1', 'recipient forwarding temporarily disabled, try again later')

/** A mail loop: seen before, or too many hops. RFC 5321 §6.3 */
export const loopDetected = (why: string) => new SmtpReply(554, '5.4.6', `mail loop detected: ${why}`)

/** The route requires authentication of the author's domain, which failed. `why` comes from authentication. */
export const notAuthenticated = (why: string) => new SmtpReply(550, '5.7.1', replyText(`message rejected: ${why}`))

/** The mail has a link of this server that signs somebody in or confirms a forward. */
export const secretLink = () =>
  new SmtpReply(550, '5.7.1', 'message rejected: it contains a secret link of this server, which nobody else may read')

/** Mail to a report address without a DMARC or TLS report in it. */
export const noReport = () =>
  new SmtpReply(550, '5.7.1', 'this address accepts only DMARC aggregate reports and TLS reports')

/** DNS gives no answer at present. */
export const cannotAuthenticate = () =>
  new SmtpReply(451, '4.7.0', 'author domain authentication temporarily failed, try again later')

/** The mail crashed two readers or exceeded their time. The next attempt stores it unparsed. */
export const cannotRead = () => new SmtpReply(451, '4.3.0', 'message could not be parsed, try again later')

/** The server stops. */
export const stopping = () => new SmtpReply(451, '4.3.2', 'server shutting down, try again later')

/** Text behind `250 2.0.0 ` for these inbound messages; at least one. */
export const accepted = (ids: readonly string[]): string =>
  ids.length === 1 ? `${ids[0]} accepted` : `${ids[0]} and ${ids.length - 1} more accepted`

/** The same for a report to a return path. */
export const FEEDBACK_ACCEPTED = 'report accepted'
