import { describe, expect, test } from 'bun:test'
import { type BounceClass, classifyReply } from './bounce-class.ts'
import { createReplyReader } from './reply.ts'

const CASES: [line: string, expected: BounceClass, rule?: string][] = [
  // Recipient unknown.
  ['550-5.1.1 The email account that you tried to reach does not exist. gsmtp', 'no_mailbox'],
  ['550 5.1.1 <x@other.example>: Recipient address rejected: User unknown in local recipient table', 'no_mailbox'],
  ['550 5.7.1 Recipient rejected: user unknown', 'no_mailbox', 'user-unknown'],
  ['550 User bob (bob@x.example) not listed in Domino Directory', 'no_mailbox', 'domino-not-listed'],
  ['550 No such user here', 'no_mailbox', 'unknown-user'],
  ['550 Unrouteable address', 'no_mailbox'],
  [
    "554 delivery error: dd This user doesn't have a yahoo.com account (x@yahoo.com) [0]",
    'no_mailbox',
    'yahoo-no-account',
  ],
  [
    '550 5.4.1 Recipient address rejected: Access denied. [XYZ.prod.protection.outlook.com]',
    'no_mailbox',
    'outlook-no-recipient',
  ],
  ['511 sorry, no mailbox here by that name (#5.1.1 - chkuser)', 'no_mailbox'],
  ['550 #5.1.0 Address rejected.', 'no_mailbox', 'address-rejected'],
  [
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    'no_mailbox',
    'exchange-not-found',
  ],
  [
    '550 5.5.0 Requested action not taken: mailbox unavailable (-2147467259:308:0)',
    'no_mailbox',
    'outlook-mailbox-unavailable',
  ],
  ['542 ann@dest.example Rejected', 'no_mailbox', 'messagelabs-rejected'],
  ['553 Invalid recipient ann@dest.example (Mode: normal)', 'no_mailbox', 'bigfoot-invalid-recipient'],
  ['550 The recipient name is not recognized', 'no_mailbox', 'user-unknown'],
  ['550 Invalid final delivery userid: ann@dest.example', 'no_mailbox', 'unknown-user'],
  ['550 ユーザー Ann は Domino ディレクトリには見つかりません', 'no_mailbox', 'unknown-user-abroad'],
  // The mailbox exists, or nothing says that it does not.
  ['550 5.1.1 RCP-P2 Refused due to recipient preferences', 'policy', 'facebook-preferences'],
  ['550 5.1.1 RCP-P1 Recipient address does not exist', 'no_mailbox'],
  ['550 : User unknown', 'policy', 'au-filtered'],
  ['553 sorry, your envelope recipient is in my badrcptto list (#5.7.1)', 'policy', 'qmail-refused-recipient'],
  ['550 5.1.1 Too many messages from your host', 'rate', 'rate'],
  ['550 5.1.1 Your IP 192.0.2.1 is listed at zen.spamhaus.org', 'reputation', 'block-list'],
  ['550 5.1.0 Unknown address error 550-5.2.2 Mailbox full', 'mailbox_full', 'mailbox-full'],
  ['550 Not enough disk space', 'mailbox_full', 'mailbox-full'],
  ['504 5.5.2 HELO command rejected: need fully-qualified hostname', 'authentication', 'helo-refused'],
  ['550 5.7.1 Invalid HELO', 'authentication', 'helo-refused'],
  ['550 5.1.2 Host not found, try again', 'network', 'dns-trouble'],
  ['450 4.1.2 Domain lookup failed', 'network', 'dns-trouble'],
  ['550 Envelope expired', 'network', 'expired'],
  // Domain.
  [
    '554 5.5.0 The mail could not be delivered to the recipient because the domain is not reachable. Please check the domain and try again',
    'no_domain',
    'outlook-domain-not-reachable',
  ],
  ['550 No MX record found for domain=dest.example', 'no_domain', 'takes-no-mail'],
  ['550 5.7.27 Host does not accept mail', 'no_domain', 'takes-no-mail'],
  ['550 Illegal host/domain name found', 'no_domain', 'domain-unknown'],
  ['556 5.1.10 Recipient address has null MX', 'no_domain', 'takes-no-mail'],
  ['521 host does not accept mail', 'policy', 'code-521'],
  ['550 5.1.2 Bad destination host', 'no_domain'],
  ['550 5.1.2 <x@other.example>: Recipient address rejected: Domain not found', 'no_domain', 'domain-not-found'],
  ['550 5.7.1 IP address 192.0.2.1: reverse DNS not found', 'authentication'],
  ['550 5.7.1 Client host rejected: your IP address is not valid here', 'reputation'],
  // Mailbox.
  ["552 5.2.2 The recipient's inbox is out of storage space. gsmtp", 'mailbox_full', 'enhanced-2.2'],
  ['452 4.2.2 Mailbox full', 'mailbox_full'],
  ['552 Requested action aborted: mailbox is over quota', 'mailbox_full', 'mailbox-full'],
  ['554 5.2.0 STOREDRV.Deliver; mailbox full; QuotaExceededException', 'mailbox_full'],
  ['550 5.2.1 The email account that you tried to reach is inactive. gsmtp', 'mailbox_disabled'],
  ['550 This account has been suspended', 'mailbox_disabled', 'mailbox-disabled'],
  [
    '450-4.2.1 The user you are trying to contact is receiving mail at a rate that\r\n450 4.2.1 prevents delivery. gsmtp',
    'rate',
    'gmail-rate-of-mailbox',
  ],
  // Our identity.
  ['421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP. gsmtp', 'reputation'],
  ['550-5.7.26 This mail has been blocked because the sender is unauthenticated. gsmtp', 'authentication'],
  ['421-4.7.29 This mail has been rate limited because this message was not sent over a TLS connection. gsmtp', 'tls'],
  ['550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus. S3150', 'reputation'],
  ['554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org', 'reputation', 'block-list'],
  ['550 5.7.606 Access denied, banned sending IP [192.0.2.1]', 'reputation', 'outlook-banned-address'],
  [
    '550 5.7.515 Access denied, sending domain own.example does not meet the required authentication level',
    'authentication',
  ],
  [
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume',
    'reputation',
    'yahoo-deferred',
  ],
  ['550 5.7.1 Rejected: DMARC policy of own.example', 'authentication'],
  ['550 5.7.23 SPF validation failed', 'authentication', 'enhanced-7.23'],
  ['554 5.7.1 Sender address rejected: unknown sender', 'authentication', 'sender-unknown'],
  ['450 4.1.8 <a@own.example>: Sender address rejected: Domain not found', 'authentication', 'sender-unknown'],
  ['554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1', 'reputation', 'proofpoint-reputation'],
  ['550 192.0.2.1 is blocked, http://www.barracudacentral.org/rbl', 'reputation', 'barracuda-reputation'],
  // Volume and rate.
  ['451 4.7.1 Greylisting in action, please come back later', 'greylist', 'greylisted'],
  ['450 4.2.0 <x@other.example>: Recipient address rejected: Greylisted', 'greylist'],
  [
    '451 Internal resources are temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451',
    'greylist',
    'mimecast-greylist',
  ],
  ['452 4.5.3 Too many recipients', 'rate'],
  ['421 Too many connections from your host', 'rate', 'rate'],
  ['552 5.3.4 Message size exceeds fixed limit', 'size'],
  ['552 message too large', 'size', 'too-large'],
  // Our commands.
  ['554 5.7.1 Message rejected as spam', 'content', 'content'],
  ['552 5.7.0 Message content is not allowed: virus found', 'content'],
  ['554 5.7.1 Relay access denied', 'policy', 'relay-denied'],
  ['554 5.7.9 Message not accepted for policy reasons', 'policy'],
  ['550 5.7.1 Not today', 'policy', 'enhanced-7.1'],
  ['530 5.7.0 Must issue a STARTTLS command first', 'tls'],
  ['501 5.5.4 Syntax error in parameters', 'protocol'],
  ['500 Unrecognized command', 'protocol'],
  ['451 4.4.3 Temporary server error', 'network'],
  ['431 4.3.2 Not accepting messages now', 'system'],
  // Nothing to classify by.
  ['550 Requested action not taken', 'unknown', 'none'],
  ['554 Transaction failed', 'unknown', 'none'],
  ['550', 'unknown', 'none'],
  ['450 Requested mail action not taken: mailbox unavailable', 'unknown', 'none'],
  ['550 5.0.0 Denied', 'unknown', 'none'],
  ['450 4.1.1 User unknown', 'system', 'unknown-for-now'],
]

describe('a refusal', () => {
  test.each(CASES.map(([line, expected, rule = null]) => [line, expected, rule] as const))(
    '%s is %s',
    (line, expected, rule) => {
      const text = /^\d{3}-(?!.*\r\n)/.test(line) ? `${line}\r\n${line.replace(/^(\d{3})-/, '$1 ')}` : line
      const found = classifyReply(createReplyReader().push(`${text}\r\n`)[0]!)
      expect(found.class).toBe(expected)
      if (rule !== null) expect(found.rule).toBe(rule)
    },
  )

  test('with a very long text is read to its end', () => {
    for (const word of ['user ', 'mailbox ', 'recipient unknow ', 'listed in ', 'exceeded ', 'IP ', ' ', 'a']) {
      expect(classifyReply({ code: 550, enhanced: null, text: word.repeat(65_000) }).class).toBeString()
    }
  })
})
