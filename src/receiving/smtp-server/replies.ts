import type { Log } from '../../os/log.ts'
import { StoreUnavailable } from '../../storage/store.ts'
import { SmtpReply } from './reply.ts'

/** Replies common to all listeners; handlers have their own. RFC 5321 §4.2, RFC 3463, RFC 4954 §6. */
export const REPLIES = {
  senderOk: new SmtpReply(250, '2.1.0', 'sender ok'),
  recipientOk: new SmtpReply(250, '2.1.5', 'recipient ok'),
  tooManyConnections: new SmtpReply(421, '4.7.0', 'too many connections, try again later'),
  tooManyOfNetwork: new SmtpReply(421, '4.7.0', 'too many connections from your network, try again later'),
  closingIdle: new SmtpReply(421, '4.3.2', 'too many connections, closing idle ones'),
  tooEarly: new SmtpReply(421, '4.7.0', 'command sent before the greeting'),
  http: new SmtpReply(421, '4.7.0', 'this is not an HTTP server'),
  tooManyErrors: new SmtpReply(421, '4.7.0', 'too many errors'),
  tooMuchJunk: new SmtpReply(421, '4.7.0', 'too many commands without a message'),
  tooManyLogins: new SmtpReply(421, '4.7.0', 'too many failed logins'),
  shutdown: new SmtpReply(421, '4.3.2', 'server shutting down, try again later'),
  overloaded: new SmtpReply(421, '4.3.2', 'server busy, try again later'),
  noMemory: new SmtpReply(452, '4.3.1', 'insufficient memory for a message of this size, try again later'),
  idle: new SmtpReply(421, '4.4.2', 'idle timeout'),
  tooSlow: new SmtpReply(421, '4.4.2', 'message transfer timed out'),
  unknownCommand: new SmtpReply(500, '5.5.2', 'unknown command'),
  notImplemented: new SmtpReply(502, '5.5.1', 'command not implemented'),
  bareLineEnd: new SmtpReply(500, '5.5.2', 'bare CR or LF not allowed, end commands with CRLF'),
  noArgument: new SmtpReply(501, '5.5.4', 'command takes no parameters'),
  syntax: new SmtpReply(501, '5.5.4', 'syntax error in parameters'),
  notUtf8: new SmtpReply(501, '5.5.2', 'invalid UTF-8'),
  helloFirst: new SmtpReply(503, '5.5.1', 'send EHLO first'),
  nestedMail: new SmtpReply(503, '5.5.1', 'transaction in progress, send RSET to start over'),
  mailFirst: new SmtpReply(503, '5.5.1', 'send MAIL first'),
  recipientFirst: new SmtpReply(503, '5.5.1', 'send RCPT first'),
  notNow: new SmtpReply(503, '5.5.1', 'not allowed during a transaction'),
  tlsAlready: new SmtpReply(503, '5.5.1', 'TLS already active'),
  loginFirst: new SmtpReply(530, '5.7.0', 'authentication required'),
  tlsFirst: new SmtpReply(538, '5.7.11', 'encryption required, send STARTTLS first'),
  tooManyRecipients: new SmtpReply(452, '4.5.3', 'too many recipients, send the rest in another transaction'),
  storeBusy: new SmtpReply(451, '4.3.1', 'storage temporarily unavailable, try again later'),
  diskFull: new SmtpReply(452, '4.3.1', 'storage temporarily unavailable, try again later'),
  fault: new SmtpReply(451, '4.3.0', 'internal error, try again later'),
} as const

/** An error thrown while answering → the reply. A store that cannot write and a full spool disk have replies of their
 *  own. Everything else except SmtpReply is a bug or a hardware fault: 451, logged with its stack. */
export function replyTo(thrown: unknown, log: Log): SmtpReply {
  if (thrown instanceof SmtpReply) return thrown
  const isStore = thrown instanceof StoreUnavailable
  if (isStore || isDiskFull(thrown)) {
    log.warn('mail rejected, storage unavailable', { error: thrown })
    return isStore && !thrown.isFull ? REPLIES.storeBusy : REPLIES.diskFull
  }
  log.error('SMTP command failed', { error: thrown })
  return REPLIES.fault
}

const isDiskFull = (thrown: unknown) =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT')

/** Reply → its line without CR LF. Characters outside printable ASCII become a space or `?`, so that no text can start
 *  another line. */
export function lineOf({ code, enhanced, text }: SmtpReply): string {
  const printable = text.replace(/[\x00-\x1f\x7f]+/g, ' ').replace(/[^ -~]/gu, '?')
  return `${code} ${enhanced} ${printable}`.slice(0, 510) // RFC 5321 §4.5.3.1.5: 512 octets with CR LF
}

/** Enhanced codes for replies that smtp-server sends itself (STARTTLS and AUTH). Its own codes depend on the reply code
 *  alone, so that every 550 would be 5.1.1; they are disabled. */
export const LIBRARY_CODES: Readonly<Record<number, string>> = {
  220: '2.0.0',
  235: '2.7.0',
  421: '4.7.0', // a command line over 16 KiB
  501: '5.5.2', // invalid base64, or the login was cancelled
  503: '5.5.1',
  504: '5.5.4',
  535: '5.7.8',
}
