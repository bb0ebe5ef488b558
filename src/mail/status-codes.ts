import type { Reply } from './reply.ts'

/** Reply code → its meaning. RFC 5321 §4.2.3 unless a line names another. */
export const REPLY_CODES: ReadonlyMap<number, string> = new Map([
  [211, 'system status'],
  [214, 'help'],
  [220, 'service ready'],
  [221, 'service is closing the connection'],
  [235, 'authentication succeeded'], // RFC 4954
  [250, 'accepted'],
  [251, 'user is not local, mail will be forwarded'],
  [252, 'cannot verify the user, but will try to deliver'],
  [334, 'authentication continues'], // RFC 4954
  [354, 'ready for the message'],
  [421, 'service not available, closing the connection'],
  [422, 'mailbox is over its limit'], // not in any RFC, used by some servers
  [432, 'a password change is required'], // RFC 4954
  [450, 'mailbox is temporarily unavailable'],
  [451, 'the receiving server had an error'],
  [452, 'the receiving server is out of storage, or too many recipients'],
  [454, 'TLS or authentication is temporarily unavailable'], // RFC 3207, RFC 4954
  [455, 'parameters cannot be accommodated at the moment'],
  [500, 'command not recognised'],
  [501, 'parameters have a syntax error'],
  [502, 'command not implemented'],
  [503, 'commands in the wrong order'],
  [504, 'parameter not implemented'],
  [521, 'the host does not accept mail'], // RFC 7504
  [523, 'message exceeds the receiver’s size limit'], // not in any RFC, used by some servers
  [530, 'authentication or TLS is required'], // RFC 3207, RFC 4954
  [534, 'the authentication mechanism is too weak'], // RFC 4954
  [535, 'invalid credentials'], // RFC 4954
  [538, 'the authentication mechanism requires encryption'], // RFC 4954
  [550, 'mailbox unavailable, or message rejected'],
  [551, 'user is not local'],
  [552, 'mailbox is over its limit, or message too large'],
  [553, 'mailbox name is not allowed'],
  [554, 'transaction failed'],
  [555, 'parameters of MAIL or RCPT not recognised'],
  [556, 'the recipient’s domain does not accept mail'], // RFC 7504
])

/** Enhanced status code without its class (`1.1` for 5.1.1 and 4.1.1) → its meaning. RFC 3463
 *  unless a line names another; all are in the registry of RFC 5248. */
export const ENHANCED_STATUS_CODES: ReadonlyMap<string, string> = new Map([
  ['0.0', 'no further detail'],
  ['1.0', 'a problem with an address'],
  ['1.1', 'no such mailbox'],
  ['1.2', 'no such mail domain'],
  ['1.3', 'the recipient address has a syntax error'],
  ['1.4', 'the recipient address is ambiguous'],
  ['1.5', 'the recipient address is valid'],
  ['1.6', 'the mailbox has moved, no forwarding address'],
  ['1.7', 'the sender address has a syntax error'],
  ['1.8', 'the sender’s domain does not exist or does not accept mail'],
  ['1.9', 'relayed to a system that does not send reports'], // RFC 3886
  ['1.10', 'the recipient’s domain does not accept mail (null MX)'], // RFC 7505
  ['2.0', 'a problem with the mailbox'],
  ['2.1', 'the mailbox is disabled'],
  ['2.2', 'the mailbox is full'],
  ['2.3', 'the message is too large for the mailbox'],
  ['2.4', 'a mailing list could not be expanded'],
  ['3.0', 'a problem with the receiving system'],
  ['3.1', 'the receiving system is out of storage'],
  ['3.2', 'the receiving system is not accepting mail'],
  ['3.3', 'the receiving system lacks a feature the message needs'],
  ['3.4', 'the message is too large for the receiving system'],
  ['3.5', 'the receiving system is misconfigured'],
  ['3.6', 'the requested priority was changed'], // RFC 6710
  ['4.0', 'a problem with the network or routing'],
  ['4.1', 'the host does not respond'],
  ['4.2', 'the connection was lost'],
  ['4.3', 'a directory or name server failed'],
  ['4.4', 'no route to the recipient’s domain'],
  ['4.5', 'the receiving system is congested'],
  ['4.6', 'mail loop detected'],
  ['4.7', 'delivery time expired'],
  ['5.0', 'a problem with the SMTP conversation'],
  ['5.1', 'command not valid here'],
  ['5.2', 'command has a syntax error'],
  ['5.3', 'too many recipients'],
  ['5.4', 'command parameters not valid'],
  ['5.5', 'wrong protocol version'],
  ['5.6', 'authentication exchange line is too long'], // RFC 4954
  ['6.0', 'a problem with the content'],
  ['6.1', 'the media type is not supported'],
  ['6.2', 'a conversion is required but not allowed'],
  ['6.3', 'a conversion is required but not supported'],
  ['6.4', 'the content was converted with data loss'],
  ['6.5', 'the conversion failed'],
  ['6.6', 'the message content is not available'], // RFC 4468
  ['6.7', 'non-ASCII addresses are not supported'], // RFC 6531
  ['6.8', 'a reply in UTF-8 is required but not allowed'], // RFC 6531
  ['6.9', 'UTF-8 headers cannot be transferred'], // RFC 6531
  ['6.10', 'a UTF-8 problem in a mail list or store'], // RFC 6855
  ['7.0', 'rejected for security or policy reasons'],
  ['7.1', 'rejected by policy'],
  ['7.2', 'sending to this mailing list is not allowed'],
  ['7.3', 'a secure conversion is required but not possible'],
  ['7.4', 'a security feature is not supported'],
  ['7.5', 'a cryptographic operation failed'],
  ['7.6', 'the cryptographic algorithm is not supported'],
  ['7.7', 'the message was modified in transit'],
  ['7.8', 'invalid credentials'], // RFC 4954
  ['7.9', 'the authentication mechanism is too weak'], // RFC 4954
  ['7.10', 'encryption is required'], // RFC 5248
  ['7.11', 'encryption is required for this authentication'], // RFC 4954
  ['7.12', 'a password change is required'], // RFC 4954
  ['7.13', 'the user account is disabled'], // RFC 5248
  ['7.14', 'a trust relationship is required'], // RFC 5248
  ['7.15', 'the priority is too low'], // RFC 6710
  ['7.16', 'the message is too large for its priority'], // RFC 6710
  ['7.17', 'the mailbox has a new owner'], // RFC 7293
  ['7.18', 'the domain has a new owner'], // RFC 7293
  ['7.19', 'the ownership check failed'], // RFC 7293
  ['7.20', 'no valid DKIM signature'], // RFC 7372
  ['7.21', 'no acceptable DKIM signature'], // RFC 7372
  ['7.22', 'no valid DKIM signature of the author’s domain'], // RFC 7372
  ['7.23', 'SPF validation failed'], // RFC 7372
  ['7.24', 'SPF validation returned an error'], // RFC 7372
  ['7.25', 'reverse DNS of the sending address failed'], // RFC 7372
  ['7.26', 'several authentication checks failed'], // RFC 7372
  ['7.27', 'the sender’s domain does not accept mail (null MX)'], // RFC 7505
  ['7.28', 'the message looks like part of a mail flood'], // RFC 5248 registry
  ['7.29', 'ARC validation failed'], // RFC 8617
  ['7.30', 'REQUIRETLS is not supported'], // RFC 8689
])

/** Reply → its meaning: its enhanced status code first, then its reply code, then the class of the
 *  code. Never throws. RFC 3463 §2, RFC 5321 §4.2.1. */
export function meaningOf(reply: Reply): string {
  const detail = reply.enhanced?.slice(2)
  if (detail !== undefined && detail !== '0.0') {
    const subject = detail.split('.')[0]
    const meaning = ENHANCED_STATUS_CODES.get(detail) ?? ENHANCED_STATUS_CODES.get(`${subject}.0`)
    if (meaning !== undefined) return meaning
  }
  return REPLY_CODES.get(reply.code) ?? CLASSES[Math.floor(reply.code / 100)] ?? 'unknown reply'
}

const CLASSES: Record<number, string> = {
  2: 'accepted',
  3: 'waiting for more input',
  4: 'rejected temporarily',
  5: 'rejected permanently',
}
