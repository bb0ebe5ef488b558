/** The mailbox providers of the month: their MX hosts, what they reply, and who their customers are. */
import { hash } from 'node:crypto'

interface Provider {
  /** Mail domains with their share of the customers. */
  domains: Record<string, number>
  mx: string
  /** Replies to RCPT or to the content, by what becomes of the mail. Null: the provider does not do that. */
  accepted: string
  unknown: string
  full: string
  later: string
  blocked: string | null
}

const PROVIDERS: Provider[] = [
  {
    domains: { 'gmail.com': 46, 'googlemail.com': 2 },
    mx: 'gmail-smtp-in.l.google.com',
    accepted: '250 2.0.0 OK  1795262400 5b1f17b1804b1-43a9fd8e1c3si112233445e9.184 - gsmtp',
    unknown:
      "550-5.1.1 The email account that you tried to reach does not exist. Please try\r\n550-5.1.1 double-checking the recipient's email address for typos or\r\n550 5.1.1 unnecessary spaces. For more information, go to https://support.google.com/mail/?p=NoSuchUser 5b1f17b1804b1 - gsmtp",
    full: "452 4.2.2 The recipient's inbox is out of storage space. For more information, go to https://support.google.com/mail/?p=OverQuotaTemp 5b1f17b1804b1 - gsmtp",
    later:
      '421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address.\r\n421 4.7.28 To protect our users, mail has been temporarily rate limited. 5b1f17b1804b1 - gsmtp',
    blocked:
      '550-5.7.1 Gmail has detected that this message is likely unsolicited mail.\r\n550 5.7.1 To reduce the amount of spam sent to Gmail, this message has been blocked. 5b1f17b1804b1 - gsmtp',
  },
  {
    domains: { 'outlook.com': 13, 'hotmail.com': 8, 'live.de': 1 },
    mx: 'outlook-com.olc.protection.outlook.com',
    accepted:
      '250 2.6.0 <accepted> [InternalId=85435321458345, Hostname=DB9PR02MB7123.eurprd02.prod.outlook.com] Queued mail for delivery',
    unknown: '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).',
    full: '452 4.2.2 Mailbox full [DB5EUR03FT012.eop-EUR03.prod.protection.outlook.com]',
    later:
      '451 4.7.650 The mail server [127.0.0.2] has been temporarily rate limited due to IP reputation. For e-mail delivery information, see https://aka.ms/postmaster (S843)',
    blocked:
      "550 5.7.1 Unfortunately, messages from [127.0.0.2] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140). You can also refer your provider to http://mail.live.com/mail/troubleshooting.aspx#errors.",
  },
  {
    domains: { 'yahoo.com': 7, 'aol.com': 1 },
    mx: 'mta5.am0.yahoodns.net',
    accepted: '250 ok dirdel',
    unknown: '554 30 Sorry, your message to this address cannot be delivered. This mailbox is disabled (554.30).',
    full: '452 4.2.2 Mailbox over quota',
    later:
      '421 4.7.0 [TSS04] Messages from 127.0.0.2 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
    blocked: '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
  },
  {
    domains: { 'icloud.com': 7, 'me.com': 1 },
    mx: 'mx01.mail.icloud.com',
    accepted: '250 2.0.0 Ok: queued as 4XyZ1234abcd',
    unknown: '550 5.1.1 <recipient>: user does not exist',
    full: '552 5.2.2 <recipient>: user is over quota',
    later: '450 4.2.0 Mailbox temporarily unavailable - try again later',
    blocked:
      '554 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
  },
  {
    domains: { 'gmx.de': 6, 'gmx.net': 2, 'web.de': 2 },
    mx: 'mx00.emig.gmx.net',
    accepted: '250 Requested mail action okay, completed: id=1MxHbL-1tKq8V0abc-00qWmX',
    unknown:
      '550 Requested action not taken: mailbox unavailable For explanation visit https://postmaster.gmx.net/en/case?c=r0601',
    full: '452 Requested action aborted mailbox full',
    later:
      '450 Requested mail action not taken: mailbox temporarily unavailable For explanation visit https://postmaster.gmx.net/en/case?c=r0501',
    blocked: null,
  },
  {
    domains: { 'kontor-lindqvist.example': 2, 'maria-luisa-fernandez-y-hijos.example': 1, 'yamada-shoten.example': 1 },
    mx: 'mx.hosting.example',
    accepted: '250 2.0.0 Ok: queued as 4Xz9Qk2Lw7z1Vn',
    unknown: '550 5.1.1 <recipient>: Recipient address rejected: User unknown in virtual mailbox table',
    full: '452 4.2.2 <recipient>: Mailbox is full',
    later: '451 4.7.1 <recipient>: Recipient address rejected: Greylisted, see https://postgrey.example/help',
    blocked: '554 5.7.1 Service unavailable; Client host [127.0.0.2] blocked using zen.spamhaus.org',
  },
]

/** Mail domain → its MX host. */
export const MX_OF = new Map(PROVIDERS.flatMap(({ domains, mx }) => Object.keys(domains).map((name) => [name, mx])))
const OF_DOMAIN = new Map(PROVIDERS.flatMap((each) => Object.keys(each.domains).map((name) => [name, each])))
/** Each domain as often as its share. */
export const MAIL_DOMAINS = PROVIDERS.flatMap(({ domains }) =>
  Object.entries(domains).flatMap(([name, share]) => Array.from({ length: share }, () => name)),
)

/** Recipient and its attempts so far → the reply to RCPT; null: accepted. The same address always fares the same: of
 *  a thousand, 24 do not exist, 4 are full for good, 16 are asked to come again, and 5 are blocked. */
export function replyTo(address: string, attempts: number): string | null {
  const provider = OF_DOMAIN.get(address.slice(address.indexOf('@') + 1))
  if (provider === undefined) return null
  const lot = hash('sha256', address, 'buffer').readUInt32BE() % 1000
  const text =
    lot < 24 ? provider.unknown : lot < 28 ? provider.full : lot < 44 && attempts === 0 ? provider.later : null
  if (text === null) return lot >= 44 && lot < 49 ? provider.blocked : null
  return text.replace('<recipient>', `<${address}>`)
}

/** Reply to the content of a mail for a recipient. */
export function acceptance(address: string): string {
  return OF_DOMAIN.get(address.slice(address.indexOf('@') + 1))?.accepted ?? '250 2.0.0 Ok: queued'
}
